/* SPDX-License-Identifier: MIT */
/* `dftmerge collect`: moves what processes have left in a stage (DFTRACER_STAGE_DIR) to the other
 * traces, and what their live files hold into their traces.
 *
 * Files of processes that may still run stay. The trace goes first, whole or not at all. Its live file
 * stays until what it holds is in the trace. So collecting again goes on where it was interrupted. Two
 * collectors of one stage work one after the other. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/open_regular.h"
#include "base/outfile.h"
#include "base/write_text.h"
#include "command/command.h"
#include "small/collect_move.h"
#include "small/collect_stages.h"
#include "live/recover.h"
#include "judge/source.h"
#include "live/source_life.h"
#include "object/source_notes.h"
#include "object/source_number.h"

struct collect {
    struct dft_options options;
    const char *output;
    int force;
    struct dft_stages stages;
    char **again; /* live files, and their traces: paths where they are now */
    size_t nagain, again_capacity;
    uint64_t moved, left, recovered;
    int bad;
};

/* --- whose file ------------------------------------------------------------------------------- */

static uint64_t key_of(const char *path)
{
    const char *dash = strrchr(path, '-');

    return dash ? strtoull(dash + 1, NULL, 16) : 0;
}

/* What a trace without a PROCESS tells: "<...>-<pid>-<load time ns>-<key>.dft". */
static struct dft_source_process named_in(const char *path)
{
    struct dft_source_process process = {0};
    const char *at = path + strlen(path);
    int dashes = 0;

    while (at > path && dashes < 3)
        dashes += *--at == '-';
    if (dashes == 3 && sscanf(at, "-%u-%" SCNu64 "-", &process.process.pid, &process.process.start_ns) != 2)
        process = (struct dft_source_process){0};
    return process;
}

/* Does a process have the file open to write to it? Its number and its host are then not queried: the process may be in
 * a container. */
static int is_written_to(const char *path)
{
    int fd = dft_open_regular(path, O_RDONLY | O_NOFOLLOW, NULL), busy;

    if (fd < 0)
        return 0;
    /* a lease that is broken sends a signal that does nothing */
    busy = !fcntl(fd, F_SETSIG, SIGURG) && fcntl(fd, F_SETLEASE, F_RDLCK) && errno == EAGAIN;
    close(fd);
    return busy;
}

static enum dft_life life_of(const struct dft_source *source, const struct dft_source_file *file,
                             const struct dft_source_process *owner)
{
    const struct dft_source_process named = named_in(file->path);
    enum dft_life life = dft_life_of_process(owner && owner->known ? owner : &named);
    uint32_t count;
    const struct dft_source_file *live =
        owner && owner->live_file ? &dft_source_files(source, &count)[owner->live_file - 1] : NULL;

    if (life == DFT_LIFE_RUNNING || is_written_to(file->path) || (live && live->life == DFT_LIFE_RUNNING))
        return DFT_LIFE_RUNNING;
    return live && live->life == DFT_LIFE_OVER ? DFT_LIFE_OVER : life;
}

/* --- moves ------------------------------------------------------------------------------------ */

static void keep_path(struct collect *collect, char *path)
{
    if (path && !DFT_ARRAY_RESERVE(collect->again, collect->again_capacity, collect->nagain + 1))
        collect->again[collect->nagain++] = path;
    else
        free(path);
}

/* The path of a file of this name in the output, from malloc. NULL: there is none. */
static char *find_there(const struct collect *collect, const char *path, size_t length)
{
    char *name = strndup(path, length), *slash = name ? strrchr(name, '/') : NULL;
    char *there = name ? dft_outfile_inside(collect->output, slash ? slash + 1 : name) : NULL;

    free(name);
    if (there && !access(there, F_OK))
        return there;
    free(there);
    return NULL;
}

static int move(struct collect *collect, const char *path)
{
    int result = dft_collect_move(path, collect->output);

    collect->moved += result == DFT_COLLECTED_MOVED || result == DFT_COLLECTED_SAME;
    if (result > 0)
        return 0;
    collect->left++;
    collect->bad = 1;
    if (result == -EEXIST)
        fprintf(stderr, "dftmerge: %s: %s has another file of that name: compare them, and move one away\n", path,
                collect->output);
    else if (result == -ENOTUNIQ)
        fprintf(stderr, "dftmerge: %s: %s has a %s.moving, where the copy is to be made: move that away\n", path,
                collect->output, basename(path));
    else
        fprintf(stderr, "dftmerge: %s: cannot be moved to %s: %s\n", path, collect->output, dft_open_reason(-result));
    return result;
}

static void leave(struct collect *collect, const char *path, const struct dft_source_process *owner, enum dft_life life)
{
    struct dft_text host = owner ? owner->process.host : (struct dft_text){"", 0};
    unsigned pid = owner ? owner->process.pid : 0;

    collect->left++;
    if (life == DFT_LIFE_RUNNING) {
        fprintf(stderr, "dftmerge: %s: left, because its process (%u) still runs\n", path, pid);
        return;
    }
    collect->bad = 1;
    fprintf(stderr,
            "dftmerge: %s: left, because its process (%u on %.*s) cannot be seen from here: collect there, or with "
            "--force\n",
            path, pid, (int)host.length, host.bytes);
}

/* A live file without a trace moves, too; a trace is then made of it there. */
static void collect_live(struct collect *collect, const char *live)
{
    size_t length = strlen(live), tail = strlen(".live");
    char *trace = length > tail ? find_there(collect, live, length - tail) : NULL;

    if (trace) {
        keep_path(collect, trace);
        keep_path(collect, strdup(live));
    } else if (!move(collect, live)) {
        keep_path(collect, find_there(collect, live, length));
    }
}

static void collect_process(struct collect *collect, const struct dft_source *source,
                            const struct dft_source_file *file)
{
    uint32_t count;
    const struct dft_source_file *files = dft_source_files(source, &count);
    const struct dft_source_process *owner = dft_process_find(source, file->key ? file->key : key_of(file->path));
    enum dft_life life = life_of(source, file, owner);

    if (life == DFT_LIFE_RUNNING || (life == DFT_LIFE_UNKNOWN && !collect->force)) {
        leave(collect, file->path, owner, life);
    } else if (file->kind == DFT_FILE_LIVE) {
        collect_live(collect, file->path);
    } else if (!move(collect, file->path) && owner && owner->live_file) {
        collect_live(collect, files[owner->live_file - 1].path);
    }
}

/* A pattern may name what is no trace. A trace that is empty yet has its name. */
static int is_trace(struct collect *collect, const struct dft_source_file *file)
{
    const char *point = strrchr(file->path, '.');

    if (file->blocks || (point && !strcmp(point, ".dft")))
        return 1;
    collect->left++;
    collect->bad = 1;
    fprintf(stderr, "dftmerge: %s: left, because it is no trace\n", file->path);
    return 0;
}

/* A live file of a trace goes with the trace. */
static void collect_files(struct collect *collect, const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_file *files = dft_source_files(source, &count);

    for (uint32_t i = 0; i < count; i++)
        if (!files[i].gone && (files[i].kind == DFT_FILE_TRACE ? is_trace(collect, &files[i])
                                                               : files[i].kind == DFT_FILE_LIVE && !files[i].trace))
            collect_process(collect, source, &files[i]);
}

/* What live files hold goes into the traces. Their processes were found to be over. */
static int recover(struct collect *collect)
{
    struct dft_source_options options = {.paths = collect->again,
                                         .npaths = (int)collect->nagain,
                                         .threads = collect->options.source.threads,
                                         .quiet = 1};
    struct dft_source *source;
    uint32_t count, nfiles;
    const struct dft_source_process *processes;
    int rc = collect->nagain ? dft_source_open(&source, &options) : 1, error;

    if (rc)
        return rc < 0 ? rc : 0;
    processes = dft_source_processes(source, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!processes[i].live_file || processes[i].exit_kind == DFT_ENDING_RUNNING)
            continue;
        error = dft_recover(source, &processes[i]);
        collect->recovered += !error;
        if (!error)
            continue;
        collect->bad = 1;
        fprintf(stderr, "dftmerge: %s: cannot be put into its trace: %s\n",
                dft_source_files(source, &nfiles)[processes[i].live_file - 1].path, dft_open_reason(-error));
    }
    dft_source_close(source);
    return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

/* A pattern that fits nothing is no error, a missing path is one. */
static int check_words(const struct collect *collect)
{
    if (!collect->output || !collect->options.source.npaths)
        return fprintf(stderr, "dftmerge collect: %s, as in `dftmerge collect -o traces/ /dev/shm/stage`\n",
                       collect->output ? "which stage? Name its directory" : "where do the traces belong? -o DIR"),
               -EINVAL;
    for (int i = 0; i < collect->options.source.npaths; i++) {
        const char *path = collect->options.source.paths[i];

        if (access(path, F_OK) && !strpbrk(path, "*?["))
            return fprintf(stderr, "dftmerge collect: %s: %s\n", path, strerror(errno)), -ENOENT;
    }
    return 0;
}

static int collect_all(struct collect *collect)
{
    struct dft_source_options options = collect->options.source;
    struct dft_source *source;
    int rc = dft_stages_lock(&collect->stages, &options, collect->output);

    options.quiet = options.no_index = 1;
    if (!rc)
        rc = dft_source_open(&source, &options);
    if (rc)
        return rc;
    collect_files(collect, source);
    dft_source_close(source);
    return recover(collect);
}

static void say_collected(const struct collect *collect)
{
    printf("%llu file%s moved to ", (unsigned long long)collect->moved, collect->moved == 1 ? "" : "s");
    dft_text_escape(stdout, collect->output, strlen(collect->output));
    printf(", %llu live file%s put into their traces, %llu left\n", (unsigned long long)collect->recovered,
           collect->recovered == 1 ? "" : "s", (unsigned long long)collect->left);
}

static void finish(struct collect *collect)
{
    for (size_t i = 0; i < collect->nagain; i++)
        free(collect->again[i]);
    free(collect->again);
    dft_stages_unlock(&collect->stages);
    dft_options_fini(&collect->options);
}

static int run(int argc, char **argv)
{
    struct collect collect = {0};
    const struct dft_option own[] = {
        {.name = "output",
         .letter = 'o',
         .argument = "DIR",
         .text = &collect.output,
         .help = "Where the traces belong"},
        {.name = "force", .flag = &collect.force, .help = "Take processes that cannot be seen from here for ended"},
        {0},
    };
    int code, rc;

    if (dft_options_parse(&collect.options, &dft_command_collect, own, argc, argv, &code))
        return code;
    rc = check_words(&collect);
    code = rc ? DFT_EXIT_USAGE : DFT_EXIT_OK;
    if (!rc && (rc = dft_outfile_make_directory(collect.output)))
        dft_outfile_say(collect.output, rc);
    if (!rc && (rc = collect_all(&collect)) == -ENOMEM)
        fputs("dftmerge collect: no memory\n", stderr);
    if (!code)
        code = rc == -EINVAL ? DFT_EXIT_USAGE : rc || collect.bad ? DFT_EXIT_BAD : DFT_EXIT_OK;
    if (!rc && !collect.options.source.quiet)
        say_collected(&collect);
    finish(&collect);
    return fflush(stdout) && !code ? DFT_EXIT_BAD : code;
}

const struct dft_command dft_command_collect = {
    .name = "collect",
    .arguments = "-o DIR STAGE...",
    .brief = "Move traces that were left in a stage to the others",
    .details =
        "STAGE is the directory of DFTRACER_STAGE_DIR, a pattern in quotes, or a file in it. Traces of processes "
        "that have ended move to DIR, and what their live files hold goes into them. Files of processes that may "
        "still run are left and named. Collecting twice is harmless, and so are two collectors at once.",
    .example = "dftmerge collect -o traces/ /dev/shm/stage",
    .takes = DFT_TAKES_NONE, /* of common options only those that are about no events */
    .run = run,
};
