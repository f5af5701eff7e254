/* SPDX-License-Identifier: MIT */
/* `dftmerge control`: asks running processes for something, through their live files.
 *
 * The request is stored first, and then the tails of all rings are marked. So the next record of any
 * thread drains, and a drain looks for a request. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/open_regular.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "command/command.h"
#include "format/live_table.h"
#include "format/live_read.h"
#include "stacks/ps_stacks.h"
#include "live/source_life.h"
#include "live/file.h"
#include "stacks/ps_stacks_find.h"

#define LOOK_FIRST_NS UINT64_C(2000000)
#define LOOK_LAST_NS  UINT64_C(64000000)

static const char *const words[] = {[DFT_CONTROL_EVENTS] = "events",
                                    [DFT_CONTROL_AGGREGATES] = "aggregates",
                                    [DFT_CONTROL_PAUSE] = "pause",
                                    [DFT_CONTROL_RESUME] = "resume",
                                    [DFT_CONTROL_FLUSH] = "flush"};
#define WORDS (sizeof words / sizeof *words)

enum answer { NOT_ASKED, DONE, ALREADY, NOT_PAUSED, LIMITED, UNKNOWN, NO_CALL_YET, ANSWERS };
static const char *const answers[ANSWERS] = {"not asked", "done",    "already",    "not paused",
                                             "limited",   "unknown", "no call yet"};

struct target {
    char *path;
    uint32_t pid;
    uint64_t number; /* of the request */
    struct dft_live *live;
    size_t bytes;
    enum answer answer;
    char reason[160]; /* why it got no request */
};

struct control {
    struct dft_options options;
    const char *wait;
    enum dft_control what;
    struct target *targets;
    size_t count;
};

/* --- a request -------------------------------------------------------------------------------- */

static int refuse(struct target *target, const char *reason)
{
    snprintf(target->reason, sizeof target->reason, "%s", reason);
    return -1;
}

/* Does the process run, that this file is of, and not another one's copy? Nothing is written before. */
static int check_target(struct target *target, const struct stat *st, int fd)
{
    struct dft_mapped mapped = {0};
    const struct dft_live *live;
    const char *reason;
    enum dft_life life;

    if (dft_live_check(target->live, target->bytes, &live, &reason))
        return refuse(target, reason);
    target->pid = live->pid;
    if (live->device != st->st_dev || live->inode != st->st_ino)
        return refuse(target, "a copy of a live file: name the process, or its own live file");
    life = dft_life_of_live(&mapped, live, fd);
    free(mapped.list);
    if (life == DFT_LIFE_OVER)
        return refuse(target, "its process has ended");
    if (life == DFT_LIFE_UNKNOWN)
        return refuse(target, "its process cannot be seen from here: run dftmerge control on its host");
    if (atomic_load(&target->live->state) != DFT_LIVE_RUNNING)
        return refuse(target, "its process is ending, or has become another program");
    return 0;
}

/* Maps the live file to be written to: a file of this user alone. */
static int open_target(struct target *target)
{
    struct stat st, again;
    size_t length = 0;
    void *map = MAP_FAILED;
    int fd = dft_open_regular(target->path, O_RDWR | O_NOFOLLOW, &st), read_fd, rc;

    if (fd < 0)
        return refuse(target, fd == -ENOENT   ? "there is no live file: its process has ended, or has made no call yet"
                              : fd == -EACCES ? "it is another user's: run dftmerge as that user"
                                              : dft_open_reason(-fd));
    if (dft_live_length(fd, &st, &length, NULL) || length < DFT_LIVE_PAGE)
        rc = refuse(target, "not a live file");
    else if (st.st_uid != geteuid())
        rc = refuse(target, "it is another user's: run dftmerge as that user");
    else if ((map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
        rc = refuse(target, strerror(errno));
    else
        rc = 0;
    close(fd);
    if (rc)
        return rc;
    target->live = map;
    target->bytes = length;
    read_fd = dft_open_regular(target->path, O_RDONLY | O_NOFOLLOW, &again); /* who has it open for writing may be its
                                                                                process */
    rc = read_fd < 0                                              ? refuse(target, dft_open_reason(-read_fd))
         : again.st_dev != st.st_dev || again.st_ino != st.st_ino ? refuse(target, "another file has taken its place")
                                                                  : check_target(target, &st, read_fd);
    if (read_fd >= 0)
        close(read_fd);
    return rc;
}

static void ask(struct target *target, enum dft_control what)
{
    struct dft_live *live;
    uint64_t before, request;
    const struct dft_ring *ring;
    size_t offset = 0;

    if (open_target(target))
        return;
    live = target->live;
    before = atomic_load(&live->request);
    do
        request = ((before >> DFT_CONTROL_SHIFT) + 1) << DFT_CONTROL_SHIFT | what;
    while (!atomic_compare_exchange_weak(&live->request, &before, request));
    target->number = request >> DFT_CONTROL_SHIFT;
    target->answer = NO_CALL_YET;
    while ((ring = dft_live_ring(live, target->bytes, &offset)))
        if (!atomic_load(&((struct dft_ring *)(uintptr_t)ring)->requests))
            atomic_fetch_or(&((struct dft_ring *)(uintptr_t)ring)->tail, DFT_RING_ASKED);
}

/* Returns whether the answer is there. */
static int look(struct target *target)
{
    uint64_t answer;

    if (target->answer != NO_CALL_YET)
        return 1;
    answer = atomic_load(&target->live->answer);
    if (answer >> DFT_CONTROL_SHIFT < target->number)
        return 0;
    answer &= UINT8_MAX;
    target->answer = answer < UNKNOWN && answer ? (enum answer)answer : UNKNOWN;
    return 1;
}

/* Looks often at first, and then seldom: who looks a lot on a busy machine gets its turn late. */
static void wait_for_answers(struct control *control, uint64_t end_ns)
{
    for (uint64_t pause_ns = LOOK_FIRST_NS;; pause_ns = pause_ns < LOOK_LAST_NS ? 2 * pause_ns : pause_ns) {
        uint64_t now_ns = dft_now_ns(), left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
        const struct timespec pause = {0, (long)(pause_ns < left_ns ? pause_ns : left_ns)};
        size_t done = 0;

        for (size_t i = 0; i < control->count; i++)
            done += look(&control->targets[i]) != 0;
        if (done == control->count || !left_ns)
            return;
        nanosleep(&pause, NULL);
    }
}

/* --- targets ---------------------------------------------------------------------------------- */

static int add_target(struct control *control, const char *path)
{
    struct target *more = reallocarray(control->targets, control->count + 1, sizeof *more);

    if (!more)
        return -ENOMEM;
    control->targets = more;
    more[control->count] = (struct target){.path = strdup(path)};
    return more[control->count++].path ? 0 : -ENOMEM;
}

/* The live file of a trace lies beside it. */
static int add_path(struct control *control, const char *path)
{
    size_t n = strlen(path);
    struct stat st;
    char *name;
    glob_t found = {0};
    int rc = 0;

    if (n > 5 && !strcmp(path + n - 5, ".live"))
        return add_target(control, path);
    if (asprintf(&name, stat(path, &st) || !S_ISDIR(st.st_mode) ? "%s.live" : "%s/*.dft.live", path) < 0)
        return -ENOMEM;
    if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
        if (!glob(name, 0, NULL, &found))
            for (size_t i = 0; !rc && i < found.gl_pathc; i++)
                rc = add_target(control, found.gl_pathv[i]);
        globfree(&found);
    } else {
        rc = add_target(control, name);
    }
    free(name);
    return rc;
}

/* --- output ----------------------------------------------------------------------------------- */

static void print_json(const struct control *control)
{
    struct dft_json json;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_string(&json, "asked", words[control->what]);
    dft_json_array(&json, "processes");
    for (size_t i = 0; i < control->count; i++) {
        const struct target *target = &control->targets[i];

        dft_json_object(&json, NULL);
        dft_json_string(&json, "live_file", target->path);
        dft_json_uint(&json, "pid", target->pid);
        dft_json_string(&json, "answer", answers[target->answer]);
        dft_json_string(&json, "reason", *target->reason ? target->reason : NULL);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
    putchar('\n');
}

static void print_target(const struct control *control, const struct target *target)
{
    static const char *const done[] = {[DFT_CONTROL_EVENTS] = "keeps events from now on",
                                       [DFT_CONTROL_AGGREGATES] = "keeps aggregates alone from now on",
                                       [DFT_CONTROL_RESUME] = "goes on",
                                       [DFT_CONTROL_FLUSH] = "has written what it had recorded"};

    printf("process %u ", target->pid);
    switch (target->answer) {
    case DONE:
        if (control->what == DFT_CONTROL_PAUSE)
            printf("is paused: it keeps nothing until `dftmerge control %u resume`", target->pid);
        else
            fputs(done[control->what], stdout);
        break;
    case ALREADY:
        fputs(control->what == DFT_CONTROL_PAUSE ? "was paused already" : "did so already", stdout);
        break;
    case NOT_PAUSED:
        fputs("was not paused by `dftmerge control`: nothing is changed", stdout);
        break;
    case LIMITED:
        fputs("keeps aggregates: a limit of the trace's size or cost is reached (DFTRACER_MAX_TRACE_BYTES, "
              "DFTRACER_MAX_OVERHEAD_PERCENT)",
              stdout);
        break;
    case NO_CALL_YET:
        printf("has made no call since: %s takes effect at its next call", words[control->what]);
        break;
    default:
        fputs("does not know this request: its libdftrace.so is of another version", stdout);
    }
    putchar('\n');
}

/* Returns the exit code. */
static int print(const struct control *control)
{
    int code = control->count ? DFT_EXIT_OK : DFT_EXIT_BAD;

    if (control->options.json)
        print_json(control);
    for (size_t i = 0; i < control->count; i++) {
        const struct target *target = &control->targets[i];

        if (target->answer != DONE && target->answer != ALREADY && target->answer != NO_CALL_YET)
            code = DFT_EXIT_BAD;
        if (target->answer == NOT_ASKED)
            fprintf(stderr, "dftmerge control: %s: %s; nothing is changed\n", target->path, target->reason);
        else if (!control->options.json)
            print_target(control, target);
    }
    if (!control->count)
        fprintf(stderr, "dftmerge control: %s: no process runs whose live file lies there\n",
                control->options.source.paths[0]);
    return code;
}

/* --- the command ------------------------------------------------------------------------------ */

static int find_word(const char *word)
{
    for (int i = DFT_CONTROL_EVENTS; i < (int)WORDS; i++)
        if (!strcmp(words[i], word))
            return i;
    fprintf(stderr, "dftmerge control: %s: ask for events, aggregates, pause, resume or flush\n", word);
    return -1;
}

/* Nonzero: the reason is on stderr. */
static int set_up(struct control *control, int64_t *wait_ns)
{
    const struct dft_source_options *given = &control->options.source;
    int what;

    if (given->npaths > 2) {
        fprintf(stderr, "dftmerge control: %s: one word too many. It takes a process id or a path, and what to do\n",
                given->paths[2]);
        return -1;
    }
    if (given->npaths != 2) {
        fputs("dftmerge control: give a process id or a path, and what to do: dftmerge control 12345 pause\n", stderr);
        return -1;
    }
    what = find_word(given->paths[1]);
    if (what < 0)
        return -1;
    control->what = (enum dft_control)what;
    if (control->wait && (dft_filter_seconds(wait_ns, control->wait) || *wait_ns < 0)) {
        fprintf(stderr, "dftmerge control: --wait %s: give seconds\n", control->wait);
        return -1;
    }
    return 0;
}

static int run(int argc, char **argv)
{
    struct control control = {0};
    const struct dft_option own[] = {
        {.name = "wait", .argument = "SECONDS", .text = &control.wait, .help = "For the answer (default: 3)"}, {0}};
    const uint64_t begin_ns = dft_now_ns() - dft_life_age_ns();
    int64_t wait_ns = 3000000000;
    int code;

    if (dft_options_parse(&control.options, &dft_command_control, own, argc, argv, &code))
        return code;
    code = DFT_EXIT_USAGE;
    if (!set_up(&control, &wait_ns)) {
        code = DFT_EXIT_BAD;
        if (!dft_ps_stacks_paths((char **)(uintptr_t)control.options.source.paths, 1) &&
            !add_path(&control, control.options.source.paths[0])) {
            for (size_t i = 0; i < control.count; i++)
                ask(&control.targets[i], control.what);
            wait_for_answers(&control, begin_ns + (uint64_t)wait_ns);
            code = print(&control);
        }
    }
    for (size_t i = 0; i < control.count; i++) {
        if (control.targets[i].live)
            munmap(control.targets[i].live, control.targets[i].bytes);
        free(control.targets[i].path);
    }
    free(control.targets);
    dft_options_fini(&control.options);
    return fflush(stdout) ? DFT_EXIT_BAD : code;
}

const struct dft_command dft_command_control = {
    .name = "control",
    .arguments = "PID|PATH events|aggregates|pause|resume|flush",
    .brief = "Tell a running process what to keep",
    .details =
        "events: an event of every call. aggregates: aggregates alone. pause: nothing, until resume. flush: writes "
        "what was recorded. The process does it at its next call. PATH is its trace or live file, or a directory "
        "of live files: then all their processes are asked.",
    .example = "dftmerge control 12345 pause",
    .takes = DFT_TAKES_JSON | DFT_TAKES_NONE,
    .run = run,
};
