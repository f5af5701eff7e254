/* SPDX-License-Identifier: MIT */
/* Lines of the High Throughput Executor: of its interchange, its managers and its workers. */
#include <stdio.h>
#include <stdlib.h>

#include "spans/logs.h"

#define PREFIX "parsl.executor.htex."

static const struct dft_text none = {NULL, 0};

/* A span within the executor, of a manager or worker where `of` names one. */
static int put(struct dft_log *log, const char *type, const char *of, struct dft_text id, struct dft_uuid *uuid)
{
    struct dft_span_name span = {dft_text_from(type), dft_text_from(log->place.htex), id, none};
    char *name = NULL;
    int rc;

    if (of && asprintf(&name, "%s%s%.*s", of, id.length ? "/" : "", (int)id.length, id.length ? id.bytes : "") < 0)
        return -ENOMEM;
    if (of)
        span.id = dft_text_from(name);
    rc = dft_span_put(&log->import->store, &span, uuid);
    free(name);
    return rc;
}

static int put_event(struct dft_log *log, const struct dft_uuid *uuid, const char *type)
{
    return dft_span_event(&log->import->store, uuid, log->ns, dft_text_from(type), none);
}

/* The interchange's task, and below it what a manager has of it. The folder has the manager's name. */
static int put_manager_task(struct dft_log *log, struct dft_text id, struct dft_uuid *task)
{
    struct dft_uuid above;
    int rc = put(log, PREFIX "interchange.task", NULL, id, &above);

    if (!rc)
        rc = put(log, PREFIX "manager.task", log->place.folder, id, task);
    return rc ? rc : dft_span_below(&log->import->store, &above, task, id, none);
}

typedef int task_fn(struct dft_log *log, struct dft_text id, const char *event);

static int take_interchange(struct dft_log *log, struct dft_text id, const char *event)
{
    struct dft_uuid task;
    int rc = put(log, PREFIX "interchange.task", NULL, id, &task);

    return rc ? rc : put_event(log, &task, event);
}

static int take_manager(struct dft_log *log, struct dft_text id, const char *event)
{
    struct dft_uuid manager, task;
    int rc = put(log, PREFIX "manager", log->place.folder, none, &manager);

    if (!rc)
        rc = put_manager_task(log, id, &task);
    return rc ? rc : put_event(log, &task, event);
}

/* "worker_3.log" is of worker 3 of the manager whose folder it lies in. */
static int put_worker(struct dft_log *log, struct dft_uuid *worker)
{
    struct dft_text number = dft_text_from(log->place.name);
    struct dft_uuid manager;
    int rc;

    if (dft_scan_find(&number, "worker_"))
        number = dft_scan_digits(&number);
    rc = put(log, PREFIX "manager", log->place.folder, none, &manager);
    if (!rc)
        rc = put(log, PREFIX "worker", log->place.folder, number, worker);
    return rc ? rc : dft_span_below(&log->import->store, &manager, worker, number, none);
}

static int take_worker(struct dft_log *log, struct dft_text id, const char *event)
{
    struct dft_uuid worker, above, task;
    int rc = put_worker(log, &worker);

    if (!rc)
        rc = put_manager_task(log, id, &above);
    if (!rc)
        rc = put(log, PREFIX "worker.task", log->place.folder, id, &task);
    if (!rc)
        rc = dft_span_below(&log->import->store, &above, &task, id, none);
    return rc ? rc : put_event(log, &task, event);
}

/* "[1, 2, 3]" */
static int take_list(struct dft_log *log, struct dft_text at, task_fn *take, const char *event)
{
    int rc = 0;

    if (!dft_scan_has(at, "]"))
        return dft_log_fail(log, "the list of tasks has no end");
    while (!rc && !dft_scan_take(&at, "]")) {
        struct dft_text id = dft_scan_digits(&at);

        if (!id.length)
            return dft_log_fail(log, "the list of tasks holds something else than numbers");
        dft_scan_take(&at, ",");
        dft_scan_take(&at, " ");
        rc = take(log, id, event);
    }
    return rc ? rc : 1;
}

static int take_one(struct dft_log *log, struct dft_text at, task_fn *take, const char *event)
{
    struct dft_text id = dft_scan_digits(&at);
    int rc;

    if (!id.length)
        return dft_log_fail(log, "the number of the task is missing");
    rc = take(log, id, event);
    return rc ? rc : 1;
}

int dft_log_htex(struct dft_log *log, struct dft_text line)
{
    static const struct {
        const char *words, *event;
        task_fn *take;
        int is_list;
    } forms[] = {
        {"Sent tasks: [", "interchange_to_manager", take_interchange, 1},
        {"Removing task ", "interchange_removing_task", take_interchange, 0},
        {"Got executor tasks: [", "manager_got_task", take_manager, 1},
        {"Received executor task ", "worker_received_task", take_worker, 0},
        {"Completed executor task ", "worker_completed_task", take_worker, 0},
        {"All processing finished for executor task ", "worker_all_finished_task", take_worker, 0},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct dft_text at = line;

        if (!dft_scan_find(&at, forms[i].words))
            continue;
        if (i == 0)
            log->is_interchange = 1;
        if (i == 1 && !log->is_interchange && !dft_scan_has(line, "interchange") &&
            !dft_text_is(dft_text_from(log->place.name), "interchange.log"))
            continue;
        if (!log->has_time)
            return dft_log_fail(log, "the line begins with no time");
        return forms[i].is_list ? take_list(log, at, forms[i].take, forms[i].event)
                                : take_one(log, at, forms[i].take, forms[i].event);
    }
    return 0;
}
