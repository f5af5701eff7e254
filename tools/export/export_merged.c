/* SPDX-License-Identifier: MIT */
/* One slice instead of many short ones; see export_merged.h. */
#include "export/export_merged.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/order.h"
#include "format/ops.h"

#define TITLE_NAMES 3u /* names in the title, those with most time first */

/* --- names ------------------------------------------------------------------------------------ */

static struct dft_text text_of(struct dft_perfetto *p, uint64_t call, char capacity[18])
{
    struct dft_text category, name;

    dft_names_call(p->export->names, call, &category, &name, capacity);
    return name;
}

static int count_bytes(struct dft_perfetto *p, uint64_t call, uint32_t *bytes)
{
    FILE *out = dft_perfetto_begin_text(p);
    char capacity[18];
    struct dft_text name = text_of(p, call, capacity);

    if (!out)
        return -ENOMEM;
    dft_json_init_unicode(&p->json, out);
    dft_json_text(&p->json, NULL, name.bytes, name.length);
    dft_line_flush(&p->json.line);
    if (dft_perfetto_end_text(p))
        return -ENOMEM;
    *bytes = (uint32_t)p->length;
    return 0;
}

int dft_merged_bit(struct dft_merged_names *names, struct dft_perfetto *p, uint64_t call)
{
    uint64_t *bit = dft_map_find(&names->bits, call);

    if (bit && *bit)
        return (int)*bit - 1;
    if (names->count == DFT_MERGED_NAMES || !call)
        return (int)DFT_MERGED_NAMES;
    bit = dft_map_put(&names->bits, call);
    if (!bit || count_bytes(p, call, &names->bytes[names->count]))
        return -ENOMEM;
    names->ids[names->count] = call;
    *bit = ++names->count;
    return (int)*bit - 1;
}

void dft_merged_names_fini(struct dft_merged_names *names)
{
    dft_map_fini(&names->bits);
}

/* --- what it stands for ----------------------------------------------------------------------- */

static struct dft_merged_call *call_of(struct dft_merged *merged, int bit)
{
    for (size_t i = 0; i < merged->nnames; i++)
        if (merged->names[i].bit == bit)
            return &merged->names[i];
    return DFT_ARRAY_PUSH(merged->names, merged->capacity, merged->nnames,
                          (struct dft_merged_call){.bit = (uint8_t)bit})
               ? NULL
               : &merged->names[merged->nnames - 1];
}

static uint64_t duration(const struct dft_event_at *at)
{
    return dft_export_phase(at->event, at->op) == 'X' ? at->event->dur_ns : 0;
}

static uint64_t bytes_of(const struct dft_event_at *at)
{
    enum dft_class class = dft_op_class(at->op);

    return class == DFT_CLASS_READ || class == DFT_CLASS_WRITE ? dft_event_bytes(at->event, at->op) : 0;
}

int dft_merged_add(struct dft_merged *merged, struct dft_perfetto *p, const struct dft_event_at *at,
                   const struct dft_piece *piece, int bit)
{
    const struct dft_event *event = at->event;
    uint64_t dur_ns = duration(at), end_ns = event->start_ns + dur_ns;
    struct dft_merged_call *call = call_of(merged, bit);

    if (!call)
        return -ENOMEM;
    if (!merged->run.slices) {
        merged->start_ns = event->start_ns;
        merged->pid = p->pids.shown[at->process->number];
        merged->tid = at->tid;
    }
    if (event->start_ns >= merged->run.end_ns)
        merged->busy_ns += dur_ns;
    else if (end_ns > merged->run.end_ns)
        merged->busy_ns += end_ns - merged->run.end_ns;
    merged->time_ns += dur_ns;
    call->time_ns += dur_ns;
    merged->longest_ns = dur_ns > merged->longest_ns ? dur_ns : merged->longest_ns;
    if (piece && piece->continues)
        return 0;
    merged->slices++;
    merged->calls += event->calls;
    call->slices++;
    merged->errors += event->err && event->err != DFT_ERRNO_UNKNOWN;
    merged->bytes += bytes_of(at);
    return 0;
}

/* --- its record ------------------------------------------------------------------------------- */

/* A name and its slices. Several calls may have one name, in different categories. */
struct named {
    struct dft_text text;
    uint64_t slices, time_ns;
    char capacity[18];
};

struct title {
    struct named list[DFT_MERGED_NAMES + 1];
    const struct named *sorted[DFT_MERGED_NAMES + 1]; /* those with most time first */
    size_t count;
    uint64_t others; /* slices without a name of their own */
};

static int by_time(const void *left, const void *right)
{
    const struct named *a = *(const struct named *const *)left, *b = *(const struct named *const *)right;

    DFT_ORDER(b->time_ns, a->time_ns);
    DFT_ORDER(b->slices, a->slices);
    DFT_ORDER(a->text.length, b->text.length);
    return memcmp(a->text.bytes, b->text.bytes, a->text.length);
}

static void collect(struct dft_perfetto *p, const struct dft_merged_names *names, const struct dft_merged *merged,
                    struct title *title)
{
    title->count = title->others = 0;
    for (size_t i = 0, k; i < merged->nnames; i++) {
        const struct dft_merged_call *call = &merged->names[i];
        struct named *one = &title->list[title->count];

        if (call->bit == DFT_MERGED_NAMES) {
            title->others += call->slices;
            continue;
        }
        *one = (struct named){.slices = call->slices, .time_ns = call->time_ns};
        one->text = text_of(p, names->ids[call->bit], one->capacity);
        for (k = 0; k < title->count; k++)
            if (title->list[k].text.length == one->text.length &&
                memcmp(title->list[k].text.bytes, one->text.bytes, one->text.length) == 0)
                break;
        if (k < title->count) {
            title->list[k].slices += one->slices;
            title->list[k].time_ns += one->time_ns;
        } else {
            title->sorted[title->count++] = one;
        }
    }
    qsort(title->sorted, title->count, sizeof(const struct named *), by_time);
}

/* The title: "read, openat, close, ...". */
static void put_title(struct dft_perfetto *p, const struct title *title)
{
    size_t shown = title->count < TITLE_NAMES ? title->count : TITLE_NAMES;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    for (size_t i = 0; out && i < shown; i++) {
        fputs(i ? ", " : "", out);
        fwrite(title->sorted[i]->text.bytes, 1, title->sorted[i]->text.length, out);
    }
    if (out && (title->count > shown || title->others))
        fputs(shown ? ", ..." : "...", out);
    if (!out || fclose(out))
        p->error = -ENOMEM;
    else
        dft_json_text(&p->json, "name", text, length);
    free(text);
}

static void begin(struct dft_perfetto *p, const struct dft_merged *merged, const char *phase, uint64_t ns,
                  const struct title *title)
{
    fputs(",\n", p->export->out);
    dft_json_init_unicode(&p->json, p->export->out);
    dft_json_object(&p->json, NULL);
    put_title(p, title);
    dft_json_string(&p->json, "cat", "merged");
    dft_json_string(&p->json, "ph", phase);
    dft_json_microseconds(&p->json, "ts", ns - p->origin_ns);
    dft_json_uint(&p->json, "pid", merged->pid);
    dft_json_uint(&p->json, "tid", merged->tid);
}

static void put_id(struct dft_perfetto *p, uint64_t id)
{
    char text[32];

    snprintf(text, sizeof text, "merged %" PRIu64, id);
    dft_json_object(&p->json, "id2");
    dft_json_string(&p->json, "local", text);
    dft_json_end_object(&p->json);
}

static void put_members(struct dft_perfetto *p, const struct dft_merged *merged, const struct title *title)
{
    struct dft_json *json = &p->json;

    dft_json_object(json, "args");
    dft_json_uint(json, "slices", merged->slices);
    dft_json_uint(json, "calls", merged->calls);
    dft_json_microseconds(json, "busy", merged->busy_ns);
    dft_json_microseconds(json, "time", merged->time_ns);
    dft_json_microseconds(json, "longest", merged->longest_ns);
    dft_json_uint(json, "bytes", merged->bytes);
    if (merged->errors)
        dft_json_uint(json, "errors", merged->errors);
    dft_json_object(json, "names");
    for (size_t i = 0; i < title->count; i++) {
        dft_json_key(json, title->sorted[i]->text.bytes, title->sorted[i]->text.length);
        dft_json_uint(json, NULL, title->sorted[i]->slices);
    }
    dft_json_end_object(json);
    if (title->others)
        dft_json_uint(json, "other_names", title->others);
    dft_json_end_object(json);
}

void dft_merged_put(struct dft_perfetto *p, const struct dft_merged_names *names, const struct dft_merged *merged,
                    enum dft_lane_kind kind, uint64_t id)
{
    uint64_t dur_ns = merged->run.end_ns > merged->start_ns ? merged->run.end_ns - merged->start_ns : 0;
    struct title title;

    collect(p, names, merged, &title);
    begin(p, merged, kind == DFT_LANE_REQUESTS ? "b" : "X", merged->start_ns, &title);
    if (kind == DFT_LANE_REQUESTS)
        put_id(p, id);
    else
        dft_json_microseconds(&p->json, "dur", dur_ns);
    put_members(p, merged, &title);
    dft_json_end_object(&p->json);
    if (kind != DFT_LANE_REQUESTS)
        return;
    begin(p, merged, "e", merged->start_ns + dur_ns, &title);
    put_id(p, id);
    dft_json_end_object(&p->json);
}

/* --- its size --------------------------------------------------------------------------------- */

int dft_merged_empty(struct dft_perfetto *p, enum dft_lane_kind kind, uint64_t *bytes)
{
    struct dft_merged_call other = {.slices = 1, .bit = DFT_MERGED_NAMES};
    struct dft_merged merged = {.run = {.end_ns = p->origin_ns},
                                .start_ns = p->origin_ns,
                                .pid = UINT32_MAX,
                                .tid = UINT32_MAX,
                                .errors = 1,
                                .names = &other,
                                .nnames = 1};
    const struct dft_merged_names none = {.count = 0};

    if (!dft_perfetto_begin_text(p))
        return -ENOMEM;
    dft_merged_put(p, &none, &merged, kind, UINT64_MAX);
    if (dft_perfetto_end_text(p))
        return -ENOMEM;
    *bytes = p->length;
    return p->error;
}

void dft_merged_count(struct dft_merged_size *size, const struct dft_event_at *at, const struct dft_piece *piece,
                      int bit)
{
    size->names |= UINT64_C(1) << bit;
    size->time_ns += duration(at);
    if (piece && piece->continues)
        return;
    size->slices++;
    size->calls += at->event->calls;
    size->bytes += bytes_of(at);
}

/* Digits after the first one. */
static uint64_t more_digits(uint64_t number)
{
    uint64_t more = 0;

    for (; number >= 10; number /= 10)
        more++;
    return more;
}

uint64_t dft_merged_most(const struct dft_merged_names *names, const struct dft_merged_size *size,
                         enum dft_lane_kind kind, uint64_t end_ns, uint64_t empty)
{
    uint64_t slices = more_digits(size->slices),
             times = 2 * more_digits(end_ns / 1000); /* start and duration, or end */
    uint64_t sum = empty + times + 3 * slices + more_digits(size->calls) + more_digits(size->bytes) +
                   3 * more_digits(size->time_ns / 1000);
    uint32_t longest[TITLE_NAMES] = {0};

    for (uint64_t bits = size->names & ~(UINT64_C(1) << DFT_MERGED_NAMES); bits; bits &= bits - 1) {
        uint32_t bytes = names->bytes[__builtin_ctzll(bits)];

        sum += bytes + slices + sizeof ":1,";
        for (unsigned i = 0; i < TITLE_NAMES; i++) {
            uint32_t other = longest[i];

            if (bytes > other) {
                longest[i] = bytes;
                bytes = other;
            }
        }
    }
    for (unsigned i = 0; i < TITLE_NAMES; i++) /* their quotes make room for what separates them */
        sum += longest[i] * (kind == DFT_LANE_REQUESTS ? 2u : 1u);
    return sum;
}
