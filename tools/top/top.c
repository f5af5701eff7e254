/* SPDX-License-Identifier: MIT */
/* `dftmerge top`: what a running job does now, from its live files and what it has written. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/now.h"
#include "base/write_wrapped.h"
#include "base/plot.h"
#include "base/write_text.h"
#include "command/command.h"
#include "stacks/ps_stacks.h"
#include "stacks/ps_stacks_find.h"
#include "top/known.h"
#include "top/once_json.h"
#include "top/screen.h"
#include "top/stuck.h"

#define MEMORY_KEPT     (16 << 20)
#define INTERVAL_MIN_NS INT64_C(50000000)

struct top {
    struct dft_options options;
    int once;
    const char *interval, *by;
    struct dft_top_watch watch;
    struct dft_top_groups groups[DFT_TOP_BYS];
    struct dft_top_view view;
    char *stacks, *title;
    enum dft_top_by shown;
};

/* --- looks ------------------------------------------------------------------------------------ */

/* Does a call hang on a file whose name is in a block that was passed over? */
static int lacks_name(const struct top *top)
{
    const struct dft_top_watch *watch = &top->watch;

    for (size_t i = 0; i < watch->nflights; i++)
        if (watch->flights[i].file && !dft_names_text(watch->names, watch->flights[i].file).bytes &&
            dft_top_age_ns(watch, &watch->flights[i]) >= DFT_TOP_STUCK_NS)
            return 1;
    return 0;
}

static int look(struct top *top)
{
    struct dft_top_watch *watch = &top->watch;
    int rc;

    watch->wants_files |= top->shown == DFT_TOP_FILE || (top->once && !watch->is_begun);
    rc = dft_top_watch_look(watch, top->once);
    if (!rc && !watch->wants_files && lacks_name(top)) {
        watch->wants_files = 1;
        rc = dft_top_watch_look(watch, 0);
    }
    for (int by = 0; !rc && by < DFT_TOP_BYS; by++)
        if (by != DFT_TOP_FILE || watch->wants_files)
            rc = dft_top_groups_update(&top->groups[by], watch, dft_now_ns());
    top->view.groups = &top->groups[top->shown];
    return rc;
}

static int print_frame(struct top *top, char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);
    int rc = out ? dft_top_frame(out, &top->view) : -ENOMEM;

    if (out && fclose(out))
        rc = -ENOMEM;
    return rc;
}

/* --- keys ------------------------------------------------------------------------------------- */

static void type(struct dft_top_view *view, int key)
{
    size_t length = strlen(view->filter);

    if (key == '\r' || key == '\n') {
        view->is_typing = 0;
    } else if (key == DFT_TOP_KEY_ESCAPE) {
        view->is_typing = 0;
        *view->filter = 0;
    } else if (key == 127 || key == '\b') {
        if (length)
            view->filter[length - 1] = 0;
    } else if (key >= ' ' && key < 256 && length + 1 < sizeof view->filter) {
        view->filter[length] = (char)key;
        view->filter[length + 1] = 0;
    }
}

static void show(struct top *top, int by)
{
    top->shown = (enum dft_top_by)((by + DFT_TOP_BYS) % DFT_TOP_BYS);
    top->view.groups = &top->groups[top->shown];
    top->view.selected = 0;
}

static void sort(struct top *top, int by)
{
    top->view.sort = (enum dft_top_sort)((by + DFT_TOP_SORTS) % DFT_TOP_SORTS);
}

static void ask_for_stacks(struct top *top)
{
    int was_shown = top->stacks != NULL;

    free(top->stacks);
    top->stacks = was_shown ? NULL : dft_top_stacks(&top->watch);
    top->view.stacks = top->stacks;
}

/* Returns nonzero for the end. */
static int press(struct top *top, int key)
{
    struct dft_top_view *view = &top->view;

    if (key == DFT_TOP_KEY_GONE)
        return 1;
    if (view->is_typing)
        return type(view, key), 0;
    if (view->has_help)
        return view->has_help = 0;
    switch (key) {
    case 'q':
    case 'Q':
        return 1;
    case 's':
    case DFT_TOP_KEY_RIGHT:
        sort(top, (int)view->sort + 1);
        break;
    case DFT_TOP_KEY_LEFT:
        sort(top, (int)view->sort - 1);
        break;
    case 'f':
        show(top, (int)top->shown + 1);
        break;
    case 'k':
        show(top, (int)top->shown - 1);
        break;
    case DFT_TOP_KEY_UP:
        view->selected -= view->selected != 0;
        break;
    case DFT_TOP_KEY_DOWN:
        view->selected++;
        break;
    case '/':
        view->is_typing = 1;
        break;
    case DFT_TOP_KEY_ESCAPE:
        *view->filter = 0;
        break;
    case 'p':
        view->is_paused ^= 1;
        break;
    case 't':
        ask_for_stacks(top);
        break;
    case '?':
    case 'h':
        view->has_help = 1;
        break;
    }
    return 0;
}

/* --- the three ways to run -------------------------------------------------------------------- */

static int draw(struct top *top)
{
    char *text = NULL;
    size_t length;
    int rc;

    dft_top_screen_size(&top->view.width, &top->view.height);
    rc = print_frame(top, &text, &length);
    if (!rc)
        dft_top_screen_show(text, length, top->view.height);
    free(text);
    return rc;
}

static int run_screen(struct top *top)
{
    uint64_t next_ns = dft_now_ns();
    int rc = dft_top_screen_begin(), is_over = 0;

    top->view.strong = 1;
    top->view.colour = (uint8_t)dft_terminal_colour();
    while (!rc && !is_over) {
        uint64_t now_ns = dft_now_ns();
        enum dft_top_by before = top->shown;
        int key;

        if (now_ns >= next_ns) {
            if (!top->view.is_paused)
                rc = look(top);
            now_ns = dft_now_ns();
            next_ns = now_ns + top->view.interval_ns;
        }
        rc = rc ? rc : draw(top);
        if (rc)
            break;
        key = dft_top_screen_key((int)((next_ns - now_ns) / 1000000) + 1);
        is_over = key != DFT_TOP_KEY_NONE && press(top, key);
        if (top->shown != before && top->shown == DFT_TOP_FILE && !top->watch.wants_files)
            rc = look(top);
    }
    dft_top_screen_end();
    return rc;
}

static int run_once(struct top *top)
{
    int rc = look(top);

    top->view.is_once = 1;
    top->view.width = dft_terminal_width();
    top->view.colour = top->view.strong = (uint8_t)dft_terminal_colour();
    if (!rc)
        rc = top->options.json ? dft_top_once_json(stdout, &top->view) : dft_top_frame(stdout, &top->view);
    return rc;
}

/* Into a pipe or a file: a frame an interval, as long as a process runs. */
static int run_frames(struct top *top)
{
    const struct timespec pause = {(time_t)(top->view.interval_ns / 1000000000u),
                                   (long)(top->view.interval_ns % 1000000000u)};
    int rc;

    top->view.width = dft_terminal_width();
    do {
        rc = look(top);
        if (!rc)
            rc = dft_top_frame(stdout, &top->view);
        putchar('\n');
        if (!rc && (fflush(stdout) || ferror(stdout)))
            rc = -EIO;
        if (rc || !dft_top_watch_running(&top->watch))
            return rc;
    } while (!nanosleep(&pause, NULL));
    return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static const char *by_word(size_t i)
{
    return i < DFT_TOP_BYS ? dft_top_by_words[i] : NULL;
}

static const char *sort_word(size_t i)
{
    return i < DFT_TOP_SORTS ? dft_top_sort_words[i] : NULL;
}

static int find_word(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], word))
            return i;
    return -1;
}

static int wrong_word(const char *option, const char *word, const char *const *words, int count)
{
    fprintf(stderr, "dftmerge top: --%s %s: there is no such %s.", option, word,
            strcmp(option, "by") ? "column" : "grouping");
    dft_say_words(word, "There are", words, (size_t)count);
    return -1;
}

/* Nonzero: the reason is on stderr. */
static int set_view(struct top *top)
{
    struct dft_top_view *view = &top->view;
    int64_t interval_ns = 1000000000;
    int by = top->by ? find_word(dft_top_by_words, DFT_TOP_BYS, top->by) : 0;
    int column = top->options.sort ? find_word(dft_top_sort_words, DFT_TOP_SORTS, top->options.sort) : DFT_TOP_BY_TIME;

    if (!top->options.source.npaths) {
        fputs("dftmerge top: of what? Name the directory of a job's traces, or a process id\n", stderr);
        return -1;
    }
    if (by < 0)
        return wrong_word("by", top->by, dft_top_by_words, DFT_TOP_BYS);
    if (column < 0)
        return wrong_word("sort", top->options.sort, dft_top_sort_words, DFT_TOP_SORTS);
    if (top->interval && (dft_filter_seconds(&interval_ns, top->interval) || interval_ns < INTERVAL_MIN_NS ||
                          interval_ns > INT64_C(86400000000000))) {
        fprintf(stderr, "dftmerge top: --interval %s: give seconds, from 0.05 to 86400\n", top->interval);
        return -1;
    }
    if (top->options.json && !top->once) {
        fputs("dftmerge top: --json goes with --once: it is one answer\n", stderr);
        return -1;
    }
    top->shown = (enum dft_top_by)by;
    top->title = dft_text_escaped(top->options.source.paths[0], strlen(top->options.source.paths[0]));
    *view = (struct dft_top_view){.watch = &top->watch,
                                  .groups = &top->groups[by],
                                  .all = &top->groups[DFT_TOP_CALL],
                                  .sort = (enum dft_top_sort)column,
                                  .title = top->title ? top->title : "",
                                  .interval_ns = (uint64_t)interval_ns,
                                  .top = top->options.top,
                                  .utf8 = (uint8_t)dft_plot_is_unicode()};
    for (int i = 0; i < DFT_TOP_BYS; i++)
        top->groups[i].by = (enum dft_top_by)i;
    return 0;
}

/* A live file needs two descriptors, and a trace one. Memory for the rings is allocated and freed at each look: it is
 * not to go to the kernel and come back each time. */
static void allow_resources(void)
{
    struct rlimit limit;

    mallopt(M_MMAP_THRESHOLD, MEMORY_KEPT);
    mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int finish(struct top *top, int rc)
{
    const struct dft_top_watch *watch = &top->watch;

    if (rc)
        fprintf(stderr, "dftmerge top: %s\n", strerror(-rc));
    for (size_t i = 0; i < watch->nnotes && !top->options.source.quiet && !top->options.json; i++)
        fprintf(stderr, "dftmerge: %s\n", watch->notes[i]);
    if (!rc && !watch->nprocesses && !watch->bad)
        fprintf(
            stderr,
            "dftmerge: %s: no traced process. Start one with 'dftrun -o %s -- COMMAND', or name the directory of its "
            "traces or its process id\n",
            top->view.title, top->view.title);
    return rc || watch->bad || !watch->nprocesses ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static int run(int argc, char **argv)
{
    static struct top top;
    const struct dft_option own[] = {
        {.name = "once", .flag = &top.once, .help = "Totals since the start and the calls in flight, once"},
        {.name = "interval", .argument = "SECONDS", .text = &top.interval, .help = "Time between looks (default: 1)"},
        {.name = "by",
         .argument = "KEY",
         .text = &top.by,
         .help = "Group by call, file, rank, process or class",
         .word = by_word},
        {0}};
    int code, rc, is_screen;

    if (dft_options_parse(&top.options, &dft_command_top, own, argc, argv, &code))
        return code;
    code = DFT_EXIT_USAGE;
    if (set_view(&top))
        goto out;
    code = DFT_EXIT_BAD;
    if (dft_ps_stacks_paths((char **)(uintptr_t)top.options.source.paths, top.options.source.npaths))
        goto out;
    allow_resources();
    is_screen = !top.once && dft_top_screen_is();
    top.once |= !is_screen && !top.interval;
    rc = dft_top_watch_init(&top.watch, top.options.source.paths, top.options.source.npaths);
    if (!rc)
        rc = is_screen ? run_screen(&top) : top.once ? run_once(&top) : run_frames(&top);
    code = finish(&top, rc);
    for (int i = 0; i < DFT_TOP_BYS; i++)
        dft_top_groups_fini(&top.groups[i]);
    free(top.stacks);
    dft_top_watch_fini(&top.watch);
out:
    free(top.title);
    dft_options_fini(&top.options);
    return fflush(stdout) ? DFT_EXIT_BAD : code;
}

const struct dft_command dft_command_top = {
    .name = "top",
    .arguments = "PATH|PID...",
    .brief = "What a running process or job does now",
    .details =
        "Reads live files and what has been written since the last look; the program does not notice. PATH is the "
        "directory of a job's traces, a trace, or a process id. Keys: q quits, ? lists the others. Without a "
        "terminal: as --once, or with --interval a frame an interval until no process runs.",
    .example = "dftmerge top traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_TOP | DFT_TAKES_SORT | DFT_TAKES_NONE,
    .sort_word = sort_word,
    .run = run,
};
