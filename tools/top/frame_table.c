/* SPDX-License-Identifier: MIT */
/* Pieces of a frame, and its table. */
#include "top/frame_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"

#define NAME_MIN  14u
#define SPARK_MAX 30u

/* --- pieces ----------------------------------------------------------------------------------- */

/* Writes at most `width` columns, and fills them with spaces. The end of a path says most. */
static void put_cut(const struct dft_frame *frame, const char *text, unsigned width, int from_end)
{
    size_t columns = dft_text_columns(text);
    const char *mark = frame->view->utf8 ? "\u2026" : "~";
    unsigned left = width;

    if (columns <= width) {
        fprintf(frame->out, "%s%*s", text, (int)(width - columns), "");
        return;
    }
    if (!width)
        return;
    left--;
    if (from_end) {
        for (size_t skip = columns - left; skip; skip--)
            do
                text++;
            while (((unsigned char)*text & 0xc0) == 0x80);
        fprintf(frame->out, "%s%s", mark, text);
        return;
    }
    for (; left; left--)
        do
            putc(*text++, frame->out);
        while (((unsigned char)*text & 0xc0) == 0x80);
    fputs(mark, frame->out);
}

void dft_frame_line(struct dft_frame *frame, const char *text, const char *before)
{
    const struct dft_top_view *view = frame->view;

    if (before && view->strong)
        fputs(before, frame->out);
    if (view->height) {
        put_cut(frame, text, view->width, 0);
        putc('\n', frame->out);
    } else {
        dft_text_wrapped(frame->out, "", 0, text);
    }
    if (before && view->strong)
        fputs("\033[0m", frame->out);
    frame->lines++;
}

static uint64_t value_of(const struct dft_top_point *point, enum dft_top_sort sort)
{
    if (sort == DFT_TOP_BY_BYTES || sort == DFT_TOP_BY_BYTE_RATE)
        return point->bytes;
    return sort == DFT_TOP_BY_TIME || sort == DFT_TOP_BY_BUSY ? point->time_ns : point->calls;
}

void dft_frame_spark(const struct dft_frame *frame, const struct dft_top_groups *groups,
                     const struct dft_top_group *group, unsigned width)
{
    static const char *const bars[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                       "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char ascii[] = " .:-=+*#@";
    enum dft_top_sort sort = frame->view->sort;
    unsigned known = groups->known < width ? groups->known : width;
    uint64_t most = 1;

    for (unsigned i = 0; i < known; i++) {
        uint64_t value = value_of(&group->points[(groups->at + DFT_TOP_POINTS - i) % DFT_TOP_POINTS], sort);

        most = value > most ? value : most;
    }
    fprintf(frame->out, "%*s", (int)(width - known), "");
    for (unsigned i = known; i--;) {
        uint64_t value = value_of(&group->points[(groups->at + DFT_TOP_POINTS - i) % DFT_TOP_POINTS], sort);
        unsigned bar = value ? 1 + (unsigned)((double)value * 7.0 / (double)most) : 0;

        if (frame->view->utf8)
            fputs(bars[bar], frame->out);
        else
            putc(ascii[bar], frame->out);
    }
}

const char *dft_frame_rate(char *room, uint64_t amount, uint64_t interval_ns, int is_bytes)
{
    double value = interval_ns ? (double)amount * 1e9 / (double)interval_ns : 0;

    if (!interval_ns)
        return "-";
    if (is_bytes)
        dft_text_bytes(room, (uint64_t)value);
    else
        dft_text_count(room, (uint64_t)(value + 0.5));
    return room;
}

/* --- table ------------------------------------------------------------------------------------ */

static const struct {
    const char *title;
    unsigned width;
} numbers[DFT_TOP_SORTS] = {{"CALLS", 12}, {"CALLS/s", 9},  {"TIME", 9},  {"BUSY", 7},
                            {"BYTES", 10}, {"BYTES/s", 10}, {"FAILED", 9}};

/* Which columns of numbers there is room for: 1 << column; the one that is sorted by always is. */
static unsigned shown_numbers(const struct dft_frame *frame, unsigned *width)
{
    const struct dft_top_view *view = frame->view;
    static const uint8_t first_to_go[] = {5, 1, 6, 3, 4, 0, 2};
    unsigned shown = (1u << DFT_TOP_SORTS) - 1;

    *width = 0;
    for (unsigned i = 0; i < DFT_TOP_SORTS; i++)
        *width += frame->widths[i];
    for (unsigned i = 0; i<sizeof first_to_go && * width + NAME_MIN> view->width; i++) {
        unsigned column = first_to_go[i];

        if (column == (unsigned)view->sort)
            continue;
        shown &= ~(1u << column);
        *width -= frame->widths[column];
    }
    return shown;
}

static unsigned spark_width(const struct dft_frame *frame)
{
    const struct dft_top_view *view = frame->view;
    unsigned taken, room;

    shown_numbers(frame, &taken);
    room = view->width > taken + NAME_MIN ? view->width - taken - NAME_MIN : 0;

    if (view->is_once || room < 12)
        return 0;
    return room / 3 < SPARK_MAX ? room / 3 + 1 : SPARK_MAX;
}

static unsigned name_width(const struct dft_frame *frame)
{
    const struct dft_top_view *view = frame->view;
    unsigned taken;

    shown_numbers(frame, &taken);
    taken += spark_width(frame) ? spark_width(frame) + 1 : 0;
    return view->width > taken ? view->width - taken : 0;
}

static void put_titles(struct dft_frame *frame)
{
    const struct dft_top_view *view = frame->view;
    unsigned taken, shown = shown_numbers(frame, &taken);
    char title[16];

    snprintf(title, sizeof title, "%s", dft_top_by_words[view->groups->by]);
    for (char *at = title; *at; at++)
        *at = (char)(*at >= 'a' ? *at - 32 : *at);
    if (view->strong)
        fputs("\033[1m", frame->out);
    put_cut(frame, title, name_width(frame), 0);
    for (int i = 0; i < DFT_TOP_SORTS; i++) {
        char cell[16];

        snprintf(cell, sizeof cell, "%s%s", (int)view->sort == i ? "*" : "", numbers[i].title);
        if (shown >> i & 1)
            fprintf(frame->out, "%*s", (int)frame->widths[i], cell);
    }
    if (view->strong)
        fputs("\033[0m", frame->out);
    putc('\n', frame->out);
    frame->lines++;
}

static void fill_cells(const struct dft_top_groups *groups, const struct dft_top_group *group,
                       char cells[DFT_TOP_SORTS][DFT_TEXT_ROOM])
{
    struct dft_top_point newest = dft_top_newest(groups, group);
    uint64_t bytes = group->now.read + group->now.written;

    for (unsigned i = 0; i < DFT_TOP_SORTS; i++)
        strcpy(cells[i], "-");
    dft_text_count(cells[0], group->now.calls);
    if (groups->interval_ns)
        dft_frame_rate(cells[1], newest.calls, groups->interval_ns, 0);
    dft_text_ns(cells[2], group->now.time_ns);
    if (groups->interval_ns)
        snprintf(cells[3], sizeof cells[3], "%.0f %%", 100.0 * (double)newest.time_ns / (double)groups->interval_ns);
    if (bytes)
        dft_text_bytes(cells[4], bytes);
    if (newest.bytes && groups->interval_ns)
        dft_frame_rate(cells[5], newest.bytes, groups->interval_ns, 1);
    if (group->now.errors)
        dft_text_count(cells[6], group->now.errors);
}

/* Columns are as wide as their cells are, and at least as their titles. */
static void find_widths(struct dft_frame *frame, const uint32_t *order, size_t first, size_t last)
{
    char cells[DFT_TOP_SORTS][DFT_TEXT_ROOM];

    for (unsigned i = 0; i < DFT_TOP_SORTS; i++)
        frame->widths[i] = numbers[i].width;
    for (size_t g = first; g < last; g++) {
        fill_cells(frame->view->groups, &frame->view->groups->list[order[g]], cells);
        for (unsigned i = 0; i < DFT_TOP_SORTS; i++)
            if (strlen(cells[i]) + 1 > frame->widths[i])
                frame->widths[i] = (unsigned)strlen(cells[i]) + 1;
    }
}

static int put_group(struct dft_frame *frame, const struct dft_top_group *group, int is_selected)
{
    const struct dft_top_view *view = frame->view;
    const struct dft_top_groups *groups = view->groups;
    char cells[DFT_TOP_SORTS][DFT_TEXT_ROOM];
    unsigned taken, shown = shown_numbers(frame, &taken);
    char *name = dft_top_group_name(groups, view->watch, group);

    if (!name)
        return -ENOMEM;
    fill_cells(groups, group, cells);
    if (is_selected && view->strong)
        fputs("\033[7m", frame->out);
    put_cut(frame, name, name_width(frame), groups->by == DFT_TOP_FILE);
    for (unsigned i = 0; i < DFT_TOP_SORTS; i++)
        if (shown >> i & 1)
            fprintf(frame->out, "%*s", (int)frame->widths[i], cells[i]);
    if (spark_width(frame)) {
        putc(' ', frame->out);
        dft_frame_spark(frame, groups, group, spark_width(frame));
    }
    if (is_selected && view->strong)
        fputs("\033[0m", frame->out);
    putc('\n', frame->out);
    frame->lines++;
    free(name);
    return 0;
}

int dft_frame_table(struct dft_frame *frame, struct dft_top_view *view, unsigned room)
{
    uint32_t *order;
    size_t count, first = 0, last;
    int rc = dft_top_groups_order(view->groups, view->watch, view->sort, view->filter, &order, &count);

    if (rc)
        return rc;
    if (view->top && view->top < count)
        count = (size_t)view->top;
    if (view->selected >= count)
        view->selected = count ? (uint32_t)count - 1 : 0;
    last = count;
    if (view->height && count > room) {
        first = view->selected >= room ? view->selected - room + 1 : 0;
        last = first + room;
    }
    find_widths(frame, order, first, last);
    put_titles(frame);
    for (size_t i = first; !rc && i < last; i++)
        rc = put_group(frame, &view->groups->list[order[i]], view->height && i == view->selected);
    free(order);
    return rc;
}
