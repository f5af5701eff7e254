/* SPDX-License-Identifier: MIT */
/* Lines of parsl.log, and of what tasks of Work Queue write. */
#include <stdio.h>
#include <stdlib.h>

#include "spans/logs.h"

#define EXECUTOR_TASK "parsl.executors.workqueue.executor_task"

static const struct dft_text none = {NULL, 0};

/* A partial log belongs to the run of its folder; one alone to none but itself. */
static struct dft_text run_of(const struct dft_log *log)
{
    return dft_text_from(*log->run ? log->run : log->place.path);
}

static int put(struct dft_log *log, const char *type, struct dft_text id, struct dft_uuid *uuid)
{
    struct dft_span_name span = {dft_text_from(type), run_of(log), id, none};

    return dft_span_put(&log->import->store, &span, uuid);
}

static int take_run(struct dft_log *log, struct dft_text at)
{
    struct dft_text id = dft_scan_word(&at);
    struct dft_uuid uuid;
    char *run;
    int rc;

    if (!id.length)
        return dft_log_fail(log, "the run id is missing");
    run = strndup(id.bytes, id.length);
    if (!run)
        return -ENOMEM;
    free(log->run);
    log->run = run;
    rc = put(log, "parsl.rundir.workflow", dft_text_from(""), &uuid);
    return rc ? rc : 1;
}

/* Executors of Work Queue have folders of their tasks. Where no executor of the run has such folders
 * left, all count that are no High Throughput Executor. */
static int may_be_workqueue(const struct dft_log *log, struct dft_text label)
{
    int length = (int)label.length;

    if (log->place.has_functions)
        return dft_log_place_has(&log->place, label.bytes, length, "function_data");
    return !dft_log_place_has(&log->place, label.bytes, length, "interchange.log");
}

/* Names the try by what its executor calls it. */
static int bind_executor(struct dft_log *log, const struct dft_uuid *try, struct dft_text label, struct dft_text id)
{
    struct dft_text run = run_of(log);
    char *scope;
    int rc;

    if (asprintf(&scope, "%.*s:%.*s", (int)run.length, run.bytes, (int)label.length, label.bytes) < 0)
        return -ENOMEM;
    rc = dft_span_identify(&log->import->store, try, "try on executor", dft_text_from(scope), id);
    free(scope);
    if (!rc && may_be_workqueue(log, label))
        rc = dft_span_identify(&log->import->store, try, "try on workqueue", run, id);
    return rc;
}

static int take_launch(struct dft_log *log, struct dft_text at)
{
    struct dft_text task = dft_scan_digits(&at), number = none, label = none, id = none;
    struct dft_uuid workflow, task_uuid, try;
    struct dft_span_store *store = &log->import->store;
    char name[64];
    int rc;

    if (dft_scan_take(&at, " try "))
        number = dft_scan_digits(&at);
    if (!dft_scan_take(&at, " launched on executor "))
        return 0;
    label = dft_scan_word(&at);
    if (dft_scan_take(&at, "with executor id "))
        id = dft_scan_digits(&at);
    if (!task.length || !number.length || !label.length || task.length + number.length > 60)
        return dft_log_fail(log, "of a launched task the number, the try or the executor is missing");
    snprintf(name, sizeof name, "%.*s/%.*s", (int)task.length, task.bytes, (int)number.length, number.bytes);
    rc = put(log, "parsl.rundir.workflow", dft_text_from(""), &workflow);
    if (!rc)
        rc = put(log, "parsl.rundir.task", task, &task_uuid);
    if (!rc)
        rc = put(log, "parsl.rundir.try", dft_text_from(name), &try);
    if (!rc)
        rc = dft_span_below(store, &workflow, &task_uuid, task, none);
    if (!rc)
        rc = dft_span_below(store, &task_uuid, &try, dft_text_from("rundir task try bind"), none);
    if (!rc && id.length) /* executors of threads, and others, number no tasks of their own */
        rc = bind_executor(log, &try, label, id);
    return rc ? rc : 1;
}

/* An executor's task, which Work Queue calls `id`. */
static int bind_task(struct dft_log *log, struct dft_text task, struct dft_text id, struct dft_uuid *uuid)
{
    int rc;

    if (!task.length || !id.length)
        return dft_log_fail(log, "the number of the executor's task, or of Work Queue's, is missing");
    rc = put(log, EXECUTOR_TASK, task, uuid);
    if (!rc)
        rc = dft_span_identify(&log->import->store, uuid, "task of workqueue", run_of(log), id);
    return rc ? rc : 1;
}

static int take_submission(struct dft_log *log, struct dft_text at)
{
    static const char *const forms[] = {" submitted to WorkQueue with id ",
                                        " submitted to Work Queue with Work Queue task id ",
                                        " submitted as Work Queue task "};
    struct dft_text task = dft_scan_digits(&at);
    struct dft_uuid uuid;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (dft_scan_take(&at, forms[i]))
            return bind_task(log, task, dft_scan_digits(&at), &uuid);
    return 0;
}

static int take_completion(struct dft_log *log, struct dft_text at)
{
    struct dft_text id = dft_scan_digits(&at);
    struct dft_uuid uuid;
    int rc;

    if (!dft_scan_take(&at, ", parsl executor task ") && !dft_scan_take(&at, ", parsl task "))
        return dft_log_fail(log, "the executor's task that was completed is missing");
    rc = bind_task(log, dft_scan_digits(&at), id, &uuid);
    if (rc < 0)
        return rc;
    if (!log->has_time)
        return dft_log_fail(log, "the line begins with no time");
    rc = dft_span_event(&log->import->store, &uuid, log->ns, dft_text_from("executor_completed"), none);
    return rc ? rc : 1;
}

int dft_log_parsl(struct dft_log *log, struct dft_text line)
{
    struct dft_text at = line;
    int rc = 0;

    if (dft_scan_find(&at, "Run id is: "))
        return take_run(log, at);
    if (dft_scan_find(&at, "Parsl task "))
        return take_launch(log, at);
    if (dft_scan_find(&at, "Completed Work Queue task "))
        return take_completion(log, at);
    if (!dft_scan_has(at, " submitted "))
        return 0;
    if (dft_scan_find(&at, "Executor task "))
        return take_submission(log, at);
    while (!rc && dft_scan_find(&at, "Task "))
        rc = take_submission(log, at);
    return rc;
}

/* --- what a task wrote ------------------------------------------------------------------------ */

int dft_log_is_function(const struct dft_log *log)
{
    const char *end = log->place.folder + strspn(log->place.folder, "0123456789");

    return !*end && *log->place.folder && strstr(log->place.path, "/function_data/");
}

int dft_log_function(struct dft_log *log, struct dft_text line)
{
    const char *number = log->place.folder + strspn(log->place.folder, "0");
    struct dft_text id = dft_text_from(*number ? number : "0"), event;
    struct dft_uuid task, remote;
    int rc;

    if (!line.length)
        return 0;
    dft_scan_word(&line);
    event = line;
    while (event.length && isspace((unsigned char)event.bytes[event.length - 1]))
        event.length--;
    if (!log->has_time || !event.length)
        return dft_log_fail(log, "the line is no time and an event");
    if (dft_scan_take(&line, "META_PATH"))
        return 0;
    rc = put(log, EXECUTOR_TASK, id, &task);
    if (!rc)
        rc = put(log, EXECUTOR_TASK ".remote", id, &remote);
    if (!rc)
        rc = dft_span_below(&log->import->store, &task, &remote, dft_text_from("parsl.executors.wq.task.remote"), none);
    if (!rc)
        rc = dft_span_event(&log->import->store, &remote, log->ns, event, none);
    return rc ? rc : 1;
}
