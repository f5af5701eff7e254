/* SPDX-License-Identifier: MIT */
/* Lines of Work Queue's transaction log: TIME PID WHAT ..., with times in microseconds. */
#include <inttypes.h>
#include <stdio.h>

#include "spans/logs.h"

static const struct dft_text none = {NULL, 0};

/* What begins a line. Returns 0 where it does not begin so. */
static int take_head(struct dft_text *at, uint64_t *time_us, struct dft_text *pid)
{
    struct dft_text time = dft_scan_digits(at);

    *time_us = 0;
    for (uint32_t i = 0; i < time.length; i++)
        *time_us = *time_us * 10 + (uint64_t)(time.bytes[i] - '0');
    if (time.length < 10 || time.length > 16 || !dft_scan_take(at, " "))
        return 0;
    *pid = dft_scan_digits(at);
    return pid->length && pid->length < 20 && dft_scan_take(at, " ");
}

int dft_log_is_workqueue(struct dft_text line)
{
    static const char *const kinds[] = {"MANAGER ", "WORKER ", "CATEGORY ", "TASK ", "TRANSFER "};
    struct dft_text pid;
    uint64_t time_us;

    if (dft_scan_take(&line, "# time manager_pid "))
        return 1;
    if (!take_head(&line, &time_us, &pid))
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (dft_scan_take(&line, kinds[i]))
            return 1;
    return 0;
}

static int put(struct dft_log *log, const char *type, struct dft_text id, struct dft_uuid *uuid)
{
    struct dft_span_name span = {dft_text_from(type), dft_text_from(log->manager), id, none};

    return dft_span_put(&log->import->store, &span, uuid);
}

static int put_task(struct dft_log *log, struct dft_text id, struct dft_uuid *task)
{
    int rc = put(log, "workqueue.task", id, task);

    if (!rc && log->place.rundir)
        rc = dft_span_identify(&log->import->store, task, "workqueue.task of run", dft_text_from(log->place.run), id);
    return rc;
}

/* The worker has an address; the same task comes to it once, though several lines say so. */
static int put_worker(struct dft_log *log, struct dft_text address, struct dft_text id, const struct dft_uuid *task)
{
    struct dft_uuid worker;
    int rc = put(log, "workqueue.worker", address, &worker);

    return rc ? rc : dft_span_below(&log->import->store, &worker, task, id, none);
}

static int take_task(struct dft_log *log, struct dft_text at, uint64_t time_us)
{
    struct dft_text id = dft_scan_digits(&at), state = none, worker = none;
    struct dft_uuid task;
    int has_worker, rc;

    if (id.length && dft_scan_take(&at, " ")) {
        state = dft_scan_word(&at);
        worker = dft_scan_word(&at);
    }
    has_worker = dft_text_is(state, "RUNNING") || dft_text_is(state, "WAITING_RETRIEVAL");
    if (!state.length || (has_worker && !worker.length))
        return dft_log_fail(log, "of a TASK the number, the state or the worker is missing");
    rc = put_task(log, id, &task);
    if (!rc)
        rc = dft_span_event(&log->import->store, &task, (int64_t)time_us * 1000, state, none);
    if (!rc && has_worker)
        rc = put_worker(log, worker, id, &task);
    return rc ? rc : 1;
}

static int take_transfer(struct dft_log *log, struct dft_text at, uint64_t time_us)
{
    struct dft_text way = dft_scan_word(&at), id = dft_scan_digits(&at);
    int is_input = dft_text_is(way, "INPUT");
    struct dft_uuid task;
    int rc;

    if (!id.length || (!is_input && !dft_text_is(way, "OUTPUT")))
        return dft_log_fail(log, "a TRANSFER is INPUT or OUTPUT, and of a task");
    rc = put_task(log, id, &task);
    if (!rc)
        rc = dft_span_event(&log->import->store, &task, (int64_t)time_us * 1000,
                            dft_text_from(is_input ? "TRANSFER_INPUT" : "TRANSFER_OUTPUT"), at.length ? at : none);
    return rc ? rc : 1;
}

/* A log may hold several managers, one behind the other. One is known by its first line and pid. */
static void meet_manager(struct dft_log *log, struct dft_text at, uint64_t time_us, struct dft_text pid)
{
    if (!*log->manager || (dft_scan_take(&at, "MANAGER ") && dft_text_is(dft_scan_word(&at), "START")))
        snprintf(log->manager, sizeof log->manager, "%" PRIu64 ":%.*s", time_us, (int)pid.length, pid.bytes);
}

int dft_log_workqueue(struct dft_log *log, struct dft_text line)
{
    struct dft_text pid;
    uint64_t time_us;

    if (!line.length || *line.bytes == '#')
        return 0;
    if (!take_head(&line, &time_us, &pid))
        return dft_log_fail(log, "the line begins with no time in microseconds and the manager's pid");
    meet_manager(log, line, time_us, pid);
    if (dft_scan_take(&line, "TASK "))
        return take_task(log, line, time_us);
    if (dft_scan_take(&line, "TRANSFER "))
        return take_transfer(log, line, time_us);
    return 0;
}
