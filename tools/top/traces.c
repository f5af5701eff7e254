/* SPDX-License-Identifier: MIT */
/* Reads what has been added to traces. Blocks of several threads are written at once, so a block may
 * appear before one that stands ahead of it. What lies between blocks is therefore looked at again
 * for some seconds. */
#include "top/traces.h"
#include "top/known.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/open_regular.h"
#include "base/pread_all.h"
#include "format/block.h"
#include "top/blocks.h"
#include "top/find.h"

#define WINDOW_MAX  (sizeof(struct dft_block_header) + DFT_STORED_MAX + (4u << 20))
#define PATIENCE_NS UINT64_C(5000000000) /* with what lies between blocks */

/* --- ranges of a trace ------------------------------------------------------------------------ */

static int add_hole(struct dft_top_trace *trace, uint64_t from, uint64_t to, uint64_t since_ns)
{
    if (to == from || (to - from < sizeof(struct dft_block_header) && to != trace->bytes))
        return 0;
    return DFT_ARRAY_PUSH(trace->holes, trace->holes_capacity, trace->nholes,
                          (struct dft_top_hole){from, to, since_ns});
}

/* Reads the blocks in a window of a trace. *used: how much of it was dealt with; the rest may be the
 * beginning of a block that lies across the window's end. */
static int read_window(struct dft_top_watch *watch, struct dft_top_trace *trace, uint64_t from, size_t length,
                       uint64_t since_ns, size_t *used)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    size_t at = 0, found;
    int rc = 0;

    *used = 0;
    while (!rc && dft_block_next(watch->window, length, &at, &header, &found, &skipped)) {
        rc = add_hole(trace, from + *used, from + found, since_ns);
        if (!rc)
            rc = dft_top_block_read(watch, trace, from + found, &header, watch->window + found + sizeof header);
        *used = at;
    }
    return rc;
}

static int read_range(struct dft_top_watch *watch, struct dft_top_trace *trace, uint64_t from, uint64_t to,
                      uint64_t since_ns)
{
    int rc = 0;

    while (!rc && from < to) {
        uint64_t data = dft_data_from(trace->fd, from, to);
        size_t length = to - data < WINDOW_MAX ? (size_t)(to - data) : WINDOW_MAX, used;

        rc = add_hole(trace, from, data, since_ns);
        from = data;
        if (rc || from == to)
            return rc;
        if (DFT_ARRAY_RESERVE(watch->window, watch->window_bytes, length))
            return -ENOMEM;
        rc = dft_pread_all(trace->fd, watch->window, length, from);
        if (rc == -ENODATA) /* it was cut meanwhile */
            return 0;
        if (rc) {
            dft_top_watch_note(watch, 1, "%s: %s", trace->path, strerror(-rc));
            return 0;
        }
        rc = read_window(watch, trace, from, length, since_ns, &used);
        if (!rc && length == to - from)
            return add_hole(trace, from + used, to, since_ns);
        if (!used) {
            used = length - DFT_STORED_MAX - sizeof(struct dft_block_header);
            rc = rc ? rc : add_hole(trace, from, from + used, since_ns);
        }
        from += used;
    }
    return rc;
}

/* Returns 0, also where the file cannot be opened, or -ENOMEM. */
static int open_trace(struct dft_top_watch *watch, struct dft_top_trace *trace)
{
    struct stat st;
    int is_new;

    trace->fd = dft_open_regular(trace->path, O_RDONLY, &st);
    if (trace->fd < 0) {
        if (trace->fd != -ENOENT)
            dft_top_watch_note(watch, 1, "%s: %s", trace->path, dft_open_reason(-trace->fd));
        return 0;
    }
    is_new = dft_top_is_new_file(watch, st.st_dev, st.st_ino);
    if (is_new <= 0) { /* it was reached on another way */
        close(trace->fd);
        trace->fd = -1;
    }
    return is_new < 0 ? -ENOMEM : 0;
}

/* The end of a trace is a hole, too: a block that was cut there is whole in a moment. */
static int read_trace(struct dft_top_watch *watch, struct dft_top_trace *trace, int *is_open)
{
    struct dft_top_hole *holes = trace->holes;
    size_t count = trace->nholes;
    uint64_t bytes = trace->bytes, from = bytes;
    struct stat st;
    int rc = 0;

    if (fstat(trace->fd, &st))
        return 0;
    if ((uint64_t)st.st_size > bytes)
        trace->bytes = (uint64_t)st.st_size;
    trace->holes = NULL;
    trace->nholes = trace->holes_capacity = 0;
    for (size_t i = 0; !rc && i < count; i++) {
        int is_old = watch->now_ns - holes[i].since_ns >= PATIENCE_NS, is_tail = holes[i].to == bytes;

        if (is_tail && trace->bytes > bytes)
            from = holes[i].from;
        else if (!is_old)
            rc = read_range(watch, trace, holes[i].from, holes[i].to, holes[i].since_ns);
        else if (is_tail)
            rc = add_hole(trace, holes[i].from, holes[i].to, holes[i].since_ns);
    }
    free(holes);
    if (!rc && trace->bytes > bytes)
        rc = read_range(watch, trace, from, trace->bytes, watch->now_ns);
    if (!rc && watch->wants_files && trace->nleft)
        rc = dft_top_left_read(watch, trace);
    for (size_t i = 0; i < trace->nholes; i++)
        *is_open |= trace->holes[i].to - trace->holes[i].from >= sizeof(struct dft_block_header);
    return rc;
}

int dft_top_traces_read(struct dft_top_watch *watch, int *is_open)
{
    int rc = 0;

    *is_open = 0;
    for (uint32_t i = 0; !rc && i < watch->ntraces; i++) {
        struct dft_top_trace *trace = &watch->traces[i];

        if (trace->fd < 0 && !trace->is_tried) {
            trace->is_tried = 1;
            rc = open_trace(watch, trace);
        }
        if (!rc && trace->fd >= 0)
            rc = read_trace(watch, trace, is_open);
    }
    return rc;
}
