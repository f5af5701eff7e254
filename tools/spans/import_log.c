/* SPDX-License-Identifier: MIT */
/* Reads a log: each line goes to those who look for their lines. */
#include <stdio.h>
#include <stdlib.h>

#include "database/database.h"
#include "spans/lines.h"
#include "spans/logs.h"
#include "spans/log_time.h"

static const char *const kinds[DFT_LOG_KINDS] = {
    [DFT_LOG_PARSL] = "log of Parsl",
    [DFT_LOG_WORKQUEUE] = "transaction log of Work Queue",
    [DFT_LOG_FUNCTION] = "log of a task of Work Queue",
    [DFT_LOG_HTEX] = "log of the High Throughput Executor",
    [DFT_LOG_METRIC] = "METRIC lines",
    [DFT_LOG_RULES] = "lines that rules choose",
};

typedef int taker_fn(struct dft_log *log, struct dft_text line);

/* Gives a line to one taker. Returns 1 where the line was its own, 0, or an error of the store. */
static int offer(struct dft_log *log, enum dft_log_kind kind, taker_fn *taker, struct dft_text line)
{
    int rc = taker(log, line);

    if (rc == -EBADMSG)
        dft_span_broken(log->import, "", log->why);
    else if (rc < 0)
        return rc;
    log->taken[kind] += rc != 0;
    return rc != 0;
}

static int offer_all(struct dft_log *log, struct dft_text line)
{
    int is_taken = offer(log, DFT_LOG_METRIC, dft_log_metric, line), rc;

    if (!is_taken)
        is_taken = offer(log, DFT_LOG_PARSL, dft_log_parsl, line);
    if (!is_taken)
        is_taken = offer(log, DFT_LOG_HTEX, dft_log_htex, line);
    if (is_taken < 0 || !log->import->rules)
        return is_taken;
    rc = offer(log, DFT_LOG_RULES, dft_log_rules, line);
    return rc ? rc : is_taken;
}

static int take_line(struct dft_log *log, enum dft_log_kind kind, struct dft_text line)
{
    struct dft_text at = line;
    int rc;

    dft_scan_take(&at, "["); /* [2023-04-06 09:55:58] */
    log->has_time = dft_log_time_parse(at.bytes, at.length, &log->ns) != 0;
    if (kind == DFT_LOG_WORKQUEUE)
        rc = offer(log, kind, dft_log_workqueue, line);
    else if (kind == DFT_LOG_FUNCTION)
        rc = offer(log, kind, dft_log_function, line);
    else
        rc = offer_all(log, line);
    log->import->passed_over += rc == 0;
    return rc < 0 ? rc : 0;
}

static int read_lines(struct dft_log *log, struct dft_log_lines *lines)
{
    enum dft_log_kind kind = dft_log_is_function(log) ? DFT_LOG_FUNCTION : DFT_LOG_KINDS;
    struct dft_text line;
    int more, rc = 0;

    while (!rc && (more = dft_log_lines_next(lines, &line)) != 0) {
        log->import->line = lines->number;
        if (dft_database_interrupted())
            return -EINTR;
        if (more < 0)
            return dft_span_unreadable(log->import, strerror(-more));
        if (lines->number == 1 && dft_log_is_workqueue(line))
            kind = DFT_LOG_WORKQUEUE;
        if (lines->is_long)
            dft_span_broken(log->import, "", "longer than 1 MiB");
        else
            rc = take_line(log, kind, line);
    }
    return rc;
}

/* Says what it is. Returns 0 or -ENOENT. */
static int name_kinds(struct dft_log *log)
{
    char *found = log->import->found;
    size_t n = 0, size = sizeof log->import->found;

    for (unsigned i = 0; i < DFT_LOG_KINDS; i++)
        if (log->taken[i] && n < size)
            n += (size_t)snprintf(found + n, size - n, "%s%s", n ? ", " : "", kinds[i]);
    return n ? 0 : -ENOENT;
}

int dft_span_import_log(struct dft_span_import *import)
{
    struct dft_log log = {.import = import};
    struct dft_log_lines lines = {0};
    int rc = dft_log_place_init(&log.place, import->path);

    if (!rc)
        rc = dft_log_lines_open(&lines, import->path);
    if (!rc)
        log.run = strdup(log.place.run);
    if (!rc && !log.run)
        rc = -ENOMEM;
    if (!rc)
        rc = read_lines(&log, &lines);
    else if (rc != -ENOMEM)
        rc = dft_span_unreadable(import, strerror(-rc));
    if (!rc)
        rc = name_kinds(&log);
    dft_log_lines_fini(&lines);
    dft_log_place_fini(&log.place);
    free(log.run);
    return rc;
}
