/* SPDX-License-Identifier: MIT */
/* The doctor runs COMMAND once under the tracer, with traces in a temporary folder, and looks at
 * what COMMAND left: was the library loaded, what was recorded, and which of the programs that were
 * run left no trace.
 *
 * That the loader opens the library is seen from outside (inotify), so it is known of a program
 * without I/O, too. The trace says which programs were run. A program of these without a trace of
 * its own is inspected. */
#include "dftrun/dftrun_doctor_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/write_text.h"
#include "dftrun/dftrun_child.h"
#include "dftrun/dftrun_doctor_command.h"
#include "dftrun/dftrun_environment.h"
#include "dftrun/dftrun_page.h"
#include "dftrun/dftrun_reason.h"
#include "dftrun/dftrun_trial.h"

static const char topic[] = "run";

/* --- the run ---------------------------------------------------------------------------------- */

/* Standard output is for the list. */
static int prepare(const void *context)
{
    return dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? -errno : dft_run_environment(context);
}

/* Watches whether anybody opens the library. Returns a descriptor, or -1: it cannot be known. */
static int watch(const struct dft_run *run)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    if (fd >= 0 && inotify_add_watch(fd, run->library, IN_OPEN) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int was_opened(int fd)
{
    struct inotify_event event;

    return read(fd, &event, sizeof event) > 0;
}

/* --- the trace -------------------------------------------------------------------------------- */

/* A program that was run, or a process that left a trace. */
struct image {
    unsigned long pid;
    unsigned long long ns;
    char file[512];
};

struct images {
    struct image *list;
    size_t count;
};

struct evidence {
    struct images executed, traced;
    unsigned long long events;
    size_t running;
};

static void add_image(struct images *images, const struct image *image)
{
    struct image *more = reallocarray(images->list, images->count + 1, sizeof *more);

    if (!more)
        return;
    images->list = more;
    more[images->count++] = *image;
}

/* The number behind "NAME": in a line of JSON; 0 where there is none. */
static unsigned long long number_in(const char *line, const char *name)
{
    const char *at = strstr(line, name);

    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Copies a text behind "NAME":" up to the next quote. */
static void text_in(const char *line, const char *name, char *text, size_t capacity)
{
    const char *at = strstr(line, name);

    *text = '\0';
    if (at)
        snprintf(text, capacity, "%.*s", (int)strcspn(at + strlen(name), "\""), at + strlen(name));
}

static void take_process(struct evidence *evidence, const char *line)
{
    struct image image = {.pid = number_in(line, "\"pid\":"), .ns = number_in(line, "\"start_ns\":")};

    if (!strstr(line, "\"parent_key\":"))
        return;
    text_in(line, "\"exe\":\"", image.file, sizeof image.file);
    add_image(&evidence->traced, &image);
    evidence->events += number_in(line, "\"events\":");
    evidence->running += strstr(line, "\"ended\":\"running\"") != NULL;
}

/* execvp looks for the program in PATH, and its event has no path: who called it tells. */
static void name_by_caller(const struct evidence *evidence, struct image *image)
{
    for (size_t i = 0; i < evidence->traced.count; i++) {
        const struct image *caller = &evidence->traced.list[i];

        if (caller->pid == image->pid && caller->ns < image->ns)
            snprintf(image->file, sizeof image->file, "what %.480s ran", caller->file);
    }
}

/* An exec that did not return, and a spawn that did. The processes are known before. */
static void take_call(struct evidence *evidence, const char *line)
{
    struct image image = {.pid = number_in(line, "\"pid\":"), .ns = number_in(line, "\"ts\":")};
    int is_begun = strstr(line, "\"phase\":\"begin\"") != NULL,
        is_spawn = strstr(line, "\"name\":\"posix_spawn") != NULL;

    if (is_spawn)
        image.pid = number_in(line, "\"ret\":");
    text_in(line, "\"file\":\"", image.file, sizeof image.file);
    if (!*image.file && is_begun)
        name_by_caller(evidence, &image);
    if (image.pid && *image.file && (is_begun || (is_spawn && !strstr(line, "\"ret\":-"))))
        add_image(&evidence->executed, &image);
}

/* A file without a name in the folder of the trial. NULL: it cannot be made. */
static FILE *open_nameless(const struct dft_run *run)
{
    char path[PATH_MAX + 16];
    FILE *file = NULL;
    int fd;

    snprintf(path, sizeof path, "%s/answer-XXXXXX", run->place);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
        file = fdopen(fd, "r+");
    }
    return file;
}

/* Runs dftmerge, and gives each line of its answer to `take`. Returns 0 or -errno. */
static int ask(const struct dft_run *run, const char *const *arguments, struct evidence *evidence,
               void (*take)(struct evidence *evidence, const char *line))
{
    FILE *answer = open_nameless(run), *messages = open_nameless(run);
    char *line = NULL;
    size_t capacity = 0;
    int code = -EIO;

    if (answer && messages)
        code = dft_dftmerge_run(run, arguments, fileno(answer), fileno(messages));
    if (answer)
        rewind(answer);
    while (answer && getline(&line, &capacity, answer) > 0)
        take(evidence, line);
    free(line);
    if (answer)
        fclose(answer);
    if (messages)
        fclose(messages);
    return code < 0 ? code : code >= DFTRUN_OWN ? -ENOENT : 0;
}

static int find_evidence(const struct dft_run *run, struct evidence *evidence)
{
    const char *const processes[] = {"dftmerge", "ps", "--json", "--run", "all", run->place, NULL};
    const char *const calls[] = {"dftmerge", "dump", "--json", "--run", "all", "--op", "exec,spawn", run->place, NULL};
    int error = ask(run, processes, evidence, take_process);

    return error ? error : ask(run, calls, evidence, take_call);
}

static void forget_evidence(struct evidence *evidence)
{
    free(evidence->executed.list);
    free(evidence->traced.list);
}

/* --- what it means ---------------------------------------------------------------------------- */

static int has_trace(const struct evidence *evidence, const struct image *image)
{
    for (size_t i = 0; i < evidence->traced.count; i++)
        if (evidence->traced.list[i].pid == image->pid && evidence->traced.list[i].ns > image->ns)
            return 1;
    return 0;
}

/* Was this file run before, so that it was judged already? */
static int was_before(const struct images *images, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(images->list[k].file, images->list[i].file))
            return 1;
    return 0;
}

/* Programs without a trace of their own: those that cannot have one are named one by one. */
static void check_children(struct dft_checks *checks, const struct evidence *evidence)
{
    char silent[512] = "";
    size_t used = 0, count = 0;

    for (size_t i = 0; i < evidence->executed.count; i++) {
        const struct image *image = &evidence->executed.list[i];
        const char *found, *advice;
        struct dft_program program;

        if (has_trace(evidence, image) || was_before(&evidence->executed, i))
            continue;
        dft_program_inspect(&program, image->file);
        if (dft_doctor_is_elsewhere(image->file, &found, &advice)) {
            dft_checks_add(checks, DFT_CHECK_NOTE, "child", advice, "%s was run: it %s", image->file, found);
        } else if (program.untraceable) {
            dft_checks_add(checks, DFT_CHECK_WRONG, "child", program.remedy, "%s was not traced: %s", image->file,
                           program.untraceable);
            dft_checks_judge(checks, "A program that was run cannot be traced: %s: %s", image->file,
                             program.untraceable);
        } else if (count++ < 5) {
            used += (size_t)snprintf(silent + used, sizeof silent - used, "%s%.90s", used ? ", " : "", image->file);
        }
    }
    if (count)
        dft_checks_add(checks, DFT_CHECK_NOTE, "child",
                       "A program without file I/O leaves none. After a cleaned environment: DFTRACER_FOLLOW_EXEC=1.",
                       "%zu program%s left no trace: %s%s", count, count == 1 ? "" : "s", silent,
                       count > 5 ? " ..." : "");
}

static void check_ending(struct dft_checks *checks, const struct dft_run *run, const struct dft_outcome *outcome)
{
    const char *remedy = outcome->error ? dft_reason_exec(run->command[0], outcome->error) : NULL;

    if (outcome->error) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic,
                       remedy ? remedy : "Run it without dftrun: it should fail as well.", "'%s' cannot be run: %s",
                       run->command[0], strerror(outcome->error));
        dft_checks_judge(checks, "'%s' cannot be run: %s", run->command[0], strerror(outcome->error));
    } else if (outcome->signal) {
        dft_checks_add(
            checks, DFT_CHECK_NOTE, topic, "Run it without dftrun: if it ends well there, that is a bug of dftrace.",
            "'%s' was ended by signal %d (%s)", run->command[0], outcome->signal, strsignal(outcome->signal));
    } else {
        dft_checks_add(checks, DFT_CHECK_OK, topic, NULL, "'%s' ended with exit code %d", run->command[0],
                       outcome->status);
    }
}

/* A process that has run several programs counts once. */
static size_t count_processes(const struct images *images)
{
    size_t count = 0;

    for (size_t i = 0; i < images->count; i++) {
        size_t k = 0;

        while (images->list[k].pid != images->list[i].pid)
            k++;
        count += k == i;
    }
    return count;
}

static void check_events(struct dft_checks *checks, const struct evidence *evidence)
{
    const size_t count = count_processes(&evidence->traced);
    const char *s = count == 1 ? "" : "es";
    char text[DFT_TEXT_ROOM];

    if (evidence->events)
        dft_checks_add(checks, DFT_CHECK_OK, "trace", NULL, "%s event%s of %zu process%s",
                       dft_text_count(text, evidence->events), evidence->events == 1 ? "" : "s", count, s);
    else
        dft_checks_add(checks, DFT_CHECK_NOTE, "trace",
                       "DFTRACER_DATA_DIR, --data-dir, --aggregate and rules leave calls out: see what is set above.",
                       "%zu process%s left a trace without events", count, s);
}

/* `opened`: the loader has opened the library; -1: not known. */
static void check_loaded(struct dft_checks *checks, const struct dft_run *run, const struct evidence *evidence,
                         int opened)
{
    if (evidence->traced.count) {
        check_events(checks, evidence);
    } else if (opened) {
        dft_checks_add(
            checks, DFT_CHECK_NOTE, "trace",
            "Loading a program does not count, nor what lies in /proc, /sys and /dev. Is it the right program?",
            "%sno file I/O was seen in '%s', nor in what it ran", opened > 0 ? "the library was loaded, and " : "",
            run->command[0]);
    } else {
        dft_checks_add(checks, DFT_CHECK_WRONG, "trace",
                       "Something takes LD_PRELOAD away: run it with LD_DEBUG=libs to see what is loaded.",
                       "the library was not loaded into '%s', nor into what it ran", run->command[0]);
        dft_checks_judge(checks, "The library was not loaded into '%s'", run->command[0]);
    }
}

static void look(struct dft_checks *checks, const struct dft_run *run, int opened)
{
    struct evidence evidence = {0};
    int error = find_evidence(run, &evidence);

    if (error == -ENOENT) {
        dft_checks_add(checks, DFT_CHECK_WRONG, "dftmerge", "Install dftmerge beside dftrun.",
                       "it was not found beside dftrun, nor in PATH");
    } else if (error) {
        dft_checks_add(checks, DFT_CHECK_NOTE, "trace", "Set TMPDIR to a folder with free space.",
                       "the trace of the trial cannot be read: %s", strerror(-error));
    } else {
        check_loaded(checks, run, &evidence, opened);
        check_children(checks, &evidence);
        if (evidence.running)
            dft_checks_add(checks, DFT_CHECK_NOTE, "trace",
                           "dftmerge shows processes while they run, too; of this trial nothing is kept.",
                           "%zu process%s still running: a service, or a program in the background", evidence.running,
                           evidence.running == 1 ? " is" : "es are");
    }
    forget_evidence(&evidence);
}

void dft_doctor_run(struct dft_checks *checks, const struct dft_run *run)
{
    struct dft_outcome outcome = {0};
    struct dft_trial trial = {0};
    struct dft_run own = *run;
    int error = dft_trial_begin(&trial), watched = watch(run), opened = -1;

    snprintf(own.prefix, sizeof own.prefix, "%s", trial.prefix);
    snprintf(own.place, sizeof own.place, "%s", trial.folder);
    if (!error)
        error = dft_child_run(own.command, prepare, &own, &outcome);
    if (watched >= 0) {
        opened = was_opened(watched);
        close(watched);
    }
    if (error) {
        dft_checks_add(checks, DFT_CHECK_NOTE, topic, "Set TMPDIR to a folder that can be written.",
                       "'%s' was not run: %s", run->command[0], strerror(-error));
    } else {
        check_ending(checks, run, &outcome);
        if (!outcome.error)
            look(checks, &own, opened);
    }
    dft_trial_end(&trial);
}
