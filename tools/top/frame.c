/* SPDX-License-Identifier: MIT */
/* Makes a frame: a head of four lines, the table, calls that hang, notes, and the keys. */
#include "top/frame_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/write_text.h"

#define STUCK_MAX 8u

static const char *const help[] = {
    "q          quit",
    "f, k       group by the next, the previous key: call, file, rank, process, class",
    "s, arrows  sort by the next column (right) or the one before (left)",
    "up, down   move the line that is marked",
    "/          show only names that contain a text; Enter ends it, Esc drops it",
    "p          pause and go on",
    "t          stacks of the calls that hang (each thread is stopped for some 0.2 ms); t again: no stacks",
    "?          this help; any key ends it",
};

/* --- head ------------------------------------------------------------------------------------- */

static void put_processes(struct dft_frame *frame)
{
    const struct dft_top_watch *watch = frame->view->watch;
    uint32_t running = 0, killed = 0, execs = 0, ended = 0, unknown = 0;
    uint64_t dropped = 0;
    char line[256];
    int n;

    for (uint32_t i = 0; i < watch->nprocesses; i++) {
        const struct dft_top_process *process = &watch->processes[i];

        running += process->exit_kind == DFT_ENDING_RUNNING;
        killed += process->exit_kind == DFT_ENDING_KILLED;
        unknown += process->exit_kind == DFT_ENDING_UNKNOWN;
        ended += process->exit_kind != DFT_ENDING_RUNNING && process->exit_kind != DFT_ENDING_KILLED &&
                 process->exit_kind != DFT_ENDING_UNKNOWN && process->exit_kind != DFT_ENDING_EXEC;
        execs += process->exit_kind == DFT_ENDING_EXEC;
        dropped += process->dropped;
    }
    n = snprintf(line, sizeof line, "processes    %u running, %u ended", running, ended);
    if (execs) /* images: another program goes on in their place */
        n += snprintf(line + n, sizeof line - (size_t)n, ", %u exec", execs);
    if (killed)
        n += snprintf(line + n, sizeof line - (size_t)n, ", %u killed", killed);
    if (unknown)
        n += snprintf(line + n, sizeof line - (size_t)n, ", %u of unknown end", unknown);
    if (dropped)
        snprintf(line + n, sizeof line - (size_t)n, "; %llu events lost", (unsigned long long)dropped);
    dft_frame_line(frame, line, NULL);
}

static void put_totals(struct dft_frame *frame)
{
    const struct dft_top_groups *groups = frame->view->all;
    const struct dft_top_counts *all = &groups->total.now;
    struct dft_top_point newest = dft_top_newest(groups, &groups->total);
    char calls[DFT_TEXT_ROOM], time[DFT_TEXT_ROOM], in[DFT_TEXT_ROOM], out[DFT_TEXT_ROOM], line[256];
    int n;

    n = snprintf(line, sizeof line, "since start  %s calls, I/O time %s, %s read, %s written",
                 dft_text_count(calls, all->calls), dft_text_ns(time, all->time_ns), dft_text_bytes(in, all->read),
                 dft_text_bytes(out, all->written));
    if (all->errors)
        snprintf(line + n, sizeof line - (size_t)n, ", %s failed", dft_text_count(calls, all->errors));
    dft_frame_line(frame, line, NULL);
    if (frame->view->is_once)
        return;
    fprintf(frame->out, "now          %s calls/s, %s/s, ", dft_frame_rate(calls, newest.calls, groups->interval_ns, 0),
            dft_frame_rate(in, newest.bytes, groups->interval_ns, 1));
    if (groups->interval_ns)
        fprintf(frame->out, "%.2f", (double)newest.time_ns / (double)groups->interval_ns);
    else
        putc('-', frame->out);
    fputs(" threads in I/O  ", frame->out);
    dft_frame_spark(frame, groups, &groups->total, 20);
    putc('\n', frame->out);
    frame->lines++;
}

static void put_head(struct dft_frame *frame)
{
    const struct dft_top_view *view = frame->view;
    char now[16], line[512];
    time_t seconds = (time_t)(view->watch->now_ns / 1000000000u);
    struct tm parts;

    strftime(now, sizeof now, "%H:%M:%S", localtime_r(&seconds, &parts));
    snprintf(line, sizeof line, "dftmerge top %s%s%s", now, view->is_paused ? "  [paused]  " : "  ", view->title);
    dft_frame_line(frame, line, "\033[1m");
    put_processes(frame);
    put_totals(frame);
}

/* --- below the table -------------------------------------------------------------------------- */

static int put_flights(struct dft_frame *frame, unsigned most)
{
    const struct dft_top_view *view = frame->view;
    uint32_t *order;
    size_t count;
    int rc = dft_top_flights(view->watch, !view->is_once, &order, &count);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < count && i < most; i++) {
        const struct dft_top_flight *flight = &view->watch->flights[order[i]];
        char *text = dft_top_flight_text(view->watch, flight);

        if (!text)
            rc = -ENOMEM;
        else
            dft_frame_line(frame, text,
                           !dft_top_is_stuck(view->watch, flight) ? NULL
                           : view->colour                         ? "\033[31m"
                                                                  : "\033[1m");
        free(text);
    }
    if (!rc && count > most) {
        char line[64];

        snprintf(line, sizeof line, "and %zu calls more", count - most);
        dft_frame_line(frame, line, NULL);
    }
    free(order);
    return rc;
}

static void put_lines(struct dft_frame *frame, const char *text, unsigned room)
{
    char *copy = strdup(text), *at = copy, *line;

    while (copy && room-- && (line = strsep(&at, "\n")) && (*line || at))
        dft_frame_line(frame, line, NULL);
    free(copy);
}

static void put_notes(struct dft_frame *frame, size_t most)
{
    const struct dft_top_watch *watch = frame->view->watch;

    for (size_t i = watch->nnotes > most ? watch->nnotes - most : 0; i < watch->nnotes; i++)
        dft_frame_line(frame, watch->notes[i], NULL);
}

static void put_keys(struct dft_frame *frame)
{
    const struct dft_top_view *view = frame->view;
    char line[160];

    if (view->is_typing)
        snprintf(line, sizeof line, "show names that contain: %s_", view->filter);
    else
        snprintf(line, sizeof line, "q quit  f/k group  s sort  / filter%s%s  p pause  t stacks  ? help",
                 *view->filter ? ": " : "", view->filter);
    dft_frame_line(frame, line, "\033[2m");
}

static unsigned stuck_count(const struct dft_top_view *view)
{
    unsigned count = 0;

    for (size_t i = 0; i < view->watch->nflights; i++)
        count += dft_top_age_ns(view->watch, &view->watch->flights[i]) >= DFT_TOP_STUCK_NS &&
                 view->watch->flights[i].op != DFT_OP_REGION;
    return count;
}

static int put_body(struct dft_frame *frame, struct dft_top_view *view)
{
    unsigned stuck = stuck_count(view), most = view->height / 3 < STUCK_MAX ? view->height / 3 : STUCK_MAX;
    unsigned below = 1 + (unsigned)(view->watch->nnotes > 2 ? 2 : view->watch->nnotes), room;
    int rc;

    if (stuck)
        below += (stuck < most ? stuck : most + 1) + 1;
    if (view->stacks)
        below += view->height / 3;
    room = view->height > frame->lines + below + 2 ? view->height - frame->lines - below - 2 : 1;
    rc = dft_frame_table(frame, view, room);
    if (!rc && stuck) {
        dft_frame_line(frame, "", NULL);
        rc = put_flights(frame, most);
    }
    if (!rc && view->stacks)
        put_lines(frame, view->stacks, view->height / 3);
    put_notes(frame, 2);
    return rc;
}

int dft_top_frame(FILE *out, struct dft_top_view *view)
{
    struct dft_frame frame = {out, view, 0};
    int rc = 0;

    put_head(&frame);
    dft_frame_line(&frame, "", NULL);
    if (view->has_help) {
        for (size_t i = 0; i < sizeof help / sizeof *help; i++)
            dft_frame_line(&frame, help[i], NULL);
        return 0;
    }
    if (!view->watch->nprocesses && !view->is_once) {
        dft_frame_line(&frame, "No traced process yet. Start one: dftrun -o DIRECTORY -- COMMAND", NULL);
    } else if (view->height) {
        rc = put_body(&frame, view);
    } else {
        rc = dft_frame_table(&frame, view, 0);
        if (!rc && view->watch->nflights) {
            dft_frame_line(&frame, "", NULL);
            dft_frame_line(&frame, "in flight", NULL);
            rc = put_flights(&frame, UINT32_MAX);
        }
    }
    if (!rc && view->height)
        put_keys(&frame);
    return rc;
}
