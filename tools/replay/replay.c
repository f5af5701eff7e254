/* SPDX-License-Identifier: MIT */
/* dftmerge replay: makes files of the same sizes, and repeats the recorded calls on them. */
#include <dftrace/dftrace.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/signals.h"
#include "command/command.h"
#include "base/settings.h"
#include "base/write_text.h"
#include "replay/replay_buffers.h"
#include "replay/replay_hidden.h"
#include "replay/replay_output.h"
#include "replay/replay_run.h"
#include "replay/replay_setup.h"
#include "object/source_notes.h"

#define TABLE_MAX     65536
#define WINDOW_EVENTS (UINT64_C(3) << 16) /* less than other commands take: the queues need memory, too */
#define NAMES_BYTES   (UINT64_C(32) << 20)

struct replay {
    struct dft_options options;
    struct dft_source *source;
    struct dft_replay_plan plan;
    struct dft_replay_root root;
    struct dft_replay_threads threads;
    const char *root_path, *speed;
    int dry_run;
};

static int check(const struct replay *replay)
{
    if (strcmp(replay->speed, "1") && strcmp(replay->speed, "max")) {
        fprintf(stderr, "dftmerge replay: --speed %s: takes 1 (as recorded) or max (without pauses)\n", replay->speed);
        return -EINVAL;
    }
    if (replay->root_path || replay->dry_run)
        return 0;
    fputs("dftmerge replay: which folder? --root DIR names an empty folder on the file system to be tried; --dry-run "
          "shows the plan alone\n",
          stderr);
    return -EINVAL;
}

static void on_signal(int number)
{
    (void)number;
    dft_replay_stop();
}

/* The first signal ends the replay in order, the second one ends the process. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)}, before;

    dft_signal_catch(SIGINT, &action, &before);
    dft_signal_catch(SIGTERM, &action, &before);
    dft_signal_catch(SIGHUP, &action, &before);
}

/* Allows as many descriptors as may be. The kernel's table of them grows now: with many threads each growth would
 * stop all calls for a while. */
static void raise_limit(int fd)
{
    struct rlimit limit;
    int high;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    high = fcntl(fd, F_DUPFD_CLOEXEC, limit.rlim_cur < TABLE_MAX ? (int)limit.rlim_cur - 1 : TABLE_MAX - 1);
    if (high >= 0)
        close(high);
}

static int print(const struct replay *replay, const struct dft_replay_threads *threads)
{
    const struct dft_replay_result result = {&replay->plan, threads, replay->root.path, replay->speed};

    return replay->options.json ? dft_replay_json(&result, replay->source) : dft_replay_text(&result);
}

/* What went wrong in a replay that came to its end. Returns whether something did. */
static int say_trouble(const struct replay *replay)
{
    const struct dft_replay_outcome *outcome = &replay->threads.outcome;
    char *path;

    if (outcome->refused) {
        path = dft_text_escaped(replay->threads.refused_path, strlen(replay->threads.refused_path));
        fprintf(stderr,
                "dftmerge replay: %llu calls were not made: a link that others put there is on their path, the first "
                "is %s\n",
                (unsigned long long)outcome->refused, path ? path : "");
        free(path);
    }
    if (outcome->no_descriptors)
        fprintf(stderr,
                "dftmerge replay: %llu calls failed: too many files are open at once. Raise the limit (ulimit -Hn), "
                "or repeat a part: --rank\n",
                (unsigned long long)outcome->no_descriptors);
    if (outcome->pieces && !replay->options.source.quiet)
        fprintf(stderr, "dftmerge replay: %llu calls of more than 32 MiB were made in pieces\n",
                (unsigned long long)outcome->pieces);
    return outcome->refused || outcome->no_descriptors;
}

static int repeat(struct replay *replay)
{
    char room[DFT_TEXT_ROOM];
    int rc;

    if (!replay->options.source.quiet)
        fprintf(stderr, "dftmerge replay: the files need up to %s in %s\n",
                dft_text_bytes(room, replay->plan.need_bytes), replay->root.path);
    rc = dft_replay_setup_check(&replay->plan, &replay->root);
    if (rc)
        return rc;
    catch_signals();
    umask(umask(0) | S_IWGRP | S_IWOTH); /* nobody else puts links into the folders that are made */
    raise_limit(replay->root.fd);
    rc = dft_replay_buffers_make();
    if (!rc)
        rc = dft_replay_setup(&replay->plan, &replay->root, replay->source);
    if (!rc)
        rc = dft_replay_run(&replay->plan, &replay->threads, replay->source, &replay->options.filter);
    if (rc == -ECANCELED || dft_replay_is_stopped())
        fprintf(stderr, "dftmerge replay: interrupted. What was made so far lies in %s\n", replay->root.path);
    else if (rc == -EAGAIN)
        fputs("dftmerge replay: no more threads can be created (ulimit -u). Repeat a part: --rank\n", stderr);
    return rc ? rc : dft_replay_is_stopped() ? -ECANCELED : 0;
}

/* Why there is nothing to repeat: of what is there, the table tells the reasons. */
static void say_nothing(struct replay *replay)
{
    const struct dft_replay_lefts *lefts = &replay->plan.lefts;
    uint64_t nameless = dft_replay_left_events(lefts, DFT_LEFT_NO_NAME);
    uint64_t fileless = dft_replay_left_events(lefts, DFT_LEFT_NO_FILE);

    dft_source_note(replay->source, DFT_BAD_OTHER, "there are no calls on files here that could be repeated");
    if (nameless)
        dft_source_note(replay->source, DFT_BAD_OTHER,
                        "%" PRIu64 " calls are on files whose names are not in the traces: name all traces of the job, "
                        "whole; a trace of DFTracer needs its lines with names (\"FH\")",
                        nameless);
    if (fileless)
        dft_source_note(replay->source, 0,
                        "%" PRIu64 " calls name no file: sockets, pipes and terminals are none, and DFTracer records "
                        "files with DFTRACER_INC_METADATA=1 only",
                        fileless);
    if (!lefts->events)
        dft_command_nothing(&replay->options, replay->source);
}

static int answer(struct replay *replay)
{
    int rc = dft_replay_plan_make(&replay->plan, replay->source, &replay->options.filter);

    if (rc)
        return rc;
    if (!replay->plan.events && !dft_command_aggregates(replay->source, "replay"))
        say_nothing(replay);
    if (!replay->plan.events || replay->dry_run)
        return print(replay, NULL);
    rc = repeat(replay);
    if (rc)
        return rc;
    rc = print(replay, &replay->threads);
    return say_trouble(replay) ? -EIO : rc;
}

/* The trace must not lie in the root: so the traces are known first. */
static int go(struct replay *replay)
{
    int rc = 0;

    if (replay->root_path)
        rc = dft_replay_root_open(&replay->root, replay->root_path, replay->source);
    if (rc)
        return DFT_EXIT_BAD;
    dft_replay_threads_init(&replay->threads, &replay->root, !strcmp(replay->speed, "1"));
    rc = answer(replay);
    if (rc == -ENOMEM)
        fputs("dftmerge replay: no memory\n", stderr);
    dft_replay_plan_fini(&replay->plan);
    dft_replay_threads_fini(&replay->threads);
    return rc ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static int run(int argc, char **argv)
{
    static struct replay replay;
    const struct dft_option own[] = {
        {"root", 0, "DIR", &replay.root_path, NULL, "An empty folder: /a/b of the trace becomes DIR/a/b"},
        {"speed", 0, "SPEED", &replay.speed, NULL, "1: each call at its recorded time (default); max: without pauses"},
        {"dry-run", 'n', NULL, NULL, &replay.dry_run, "Show the plan, and make nothing"},
        {0}};
    int code;

    replay = (struct replay){.speed = "1", .root.fd = -1};
    if (dft_options_parse(&replay.options, &dft_command_replay, own, argc, argv, &code))
        return code;
    if (check(&replay)) {
        dft_options_fini(&replay.options);
        return DFT_EXIT_USAGE;
    }
    dft_setting_default(DFT_SETTING_WINDOW_EVENTS, WINDOW_EVENTS);
    dft_setting_default(DFT_SETTING_NAMES_BYTES, NAMES_BYTES);
    dft_replay_hide(); /* a trace of the replay has the repeated calls alone */
    if (dftrace_enabled())
        replay.options.source.threads = 1;
    if (dft_command_begin(&replay.options, &replay.source, &code))
        return code;
    code = go(&replay);
    dft_replay_root_close(&replay.root);
    return dft_command_end(&replay.options, replay.source, code);
}

const struct dft_command dft_command_replay = {
    .name = "replay",
    .arguments = "--root DIR PATH...",
    .brief = "Repeat the recorded I/O in an empty folder",
    .details =
        "Makes files of the same sizes below DIR, and repeats the calls on them, with a thread for each recorded "
        "one. So a file system can be tried without the program. Nothing outside DIR is written. What is written "
        "are random bytes. Calls that cannot be repeated (mappings, sockets, /proc) are listed.",
    .example = "mkdir /scratch/try && dftmerge replay --root /scratch/try --speed max traces/",
    .lacks = "replay repeats whole processes, or parts of the time",
    .takes = DFT_TAKES_JSON | DFT_TAKES_PART,
    .run = run,
};
