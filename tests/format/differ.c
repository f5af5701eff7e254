/* SPDX-License-Identifier: MIT */
/* Comparison of what was encoded with what was decoded. */
#include <stddef.h>
#include <string.h>

#include "sample.h"

int sample_text_differs(struct dft_text a, struct dft_text b)
{
    return a.length != b.length || (a.length && memcmp(a.bytes, b.bytes, a.length));
}

static const char *event_differs(const struct dft_event *a, const struct dft_event *b)
{
#define SAME(field)                                                                                                    \
    if (a->field != b->field)                                                                                          \
        return "event: " #field;
    SAME(start_ns)
    SAME(dur_ns)
    SAME(file)
    SAME(file2)
    SAME(region)
    SAME(size)
    SAME(result)
    SAME(offset)
    SAME(stack)
    SAME(id)
    SAME(calls)
    SAME(unit)
    SAME(flags)
    SAME(mode)
    SAME(fd)
    SAME(err)
    SAME(depth)
    SAME(phase)
    SAME(bits)
    return NULL;
}

static const char *arg_differs(const struct dft_arg *a, const struct dft_arg *b)
{
    SAME(key)
    SAME(event)
    SAME(type)
#undef SAME
    if (a->type == DFT_ARG_STRING)
        return sample_text_differs(a->s, b->s) ? "argument: text" : NULL;
    return a->i != b->i ? "argument: value" : NULL;
}

static const struct dft_name *find_name(const struct dft_name *names, uint32_t count, uint64_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (names[i].id == id)
            return &names[i];
    return NULL;
}

/* Every definition at hand must be there, with its text; of several with one id the first that has
 * a text. */
static const char *names_differ(const struct dft_name *before, uint32_t nbefore, const struct dft_name *after,
                                uint32_t nafter)
{
    for (uint32_t i = 0; i < nbefore; i++) {
        const struct dft_name *first = find_name(before, nbefore, before[i].id), *other;

        if (!before[i].text.bytes || first != &before[i])
            continue;
        other = find_name(after, nafter, before[i].id);
        if (!other)
            return "name: missing";
        if (sample_text_differs(before[i].text, other->text) || before[i].cut != other->cut)
            return "name: text";
    }
    return NULL;
}

const char *sample_batch_differs(const struct dft_batch *before, const struct dft_batch *after)
{
    if (before->key != after->key || before->stream != after->stream || before->tid != after->tid ||
        before->first != after->first || before->last != after->last || before->part != after->part)
        return "batch: key, stream, tid, range or part";
    if (before->count != after->count || before->nargs != after->nargs)
        return "batch: number of events or arguments";
    for (uint32_t i = 0; i < before->count; i++) {
        const struct dft_event *a = &before->events[i], *b = &after->events[i];
        const struct dft_call *x = &before->calls[a->call], *y = &after->calls[b->call];
        const char *differs = event_differs(a, b);

        if (differs)
            return differs;
        if (dft_batch_number(before, i) != dft_batch_number(after, i))
            return "event: number";
        if (b->call >= after->ncalls || x->id != y->id || x->op != y->op || x->io != y->io)
            return "event: call";
        if (x->text.length && sample_text_differs(x->text, y->text))
            return "call: text";
    }
    for (uint32_t i = 0; i < before->nargs; i++) {
        const char *differs = arg_differs(&before->args[i], &after->args[i]);

        if (differs)
            return differs;
    }
    return names_differ(before->names, before->nnames, after->names, after->nnames);
}

static int bins_differ(const struct dft_bin *a, uint32_t na, const struct dft_bin *b, uint32_t nb)
{
    if (na != nb)
        return 1;
    for (uint32_t i = 0; i < na; i++)
        if (a[i].bin != b[i].bin || a[i].count != b[i].count)
            return 1;
    return 0;
}

static int patterns_differ(const struct dft_pattern *a, const struct dft_pattern *b)
{
    if (!a || !b)
        return a != b;
    return a->touched.shift != b->touched.shift || memcmp(a->touched.bits, b->touched.bits, sizeof a->touched.bits) ||
           memcmp(a->strides, b->strides, sizeof a->strides);
}

const char *sample_buckets_differ(const struct dft_buckets *before, const struct dft_buckets *after)
{
    if (before->key != after->key || before->stream != after->stream || before->tid != after->tid ||
        before->first != after->first || before->last != after->last || before->start != after->start ||
        before->end != after->end || before->interval_ns != after->interval_ns || before->count != after->count)
        return "buckets: header";
    for (uint32_t i = 0; i < before->count; i++) {
        const struct dft_row *a = &before->rows[i], *b = &after->rows[i];

        if (a->kind != b->kind || a->class != b->class || a->interval != b->interval || a->region != b->region ||
            a->subject != b->subject)
            return "row: key";
        if (a->op != b->op || a->io != b->io || a->size_class != b->size_class || a->access != b->access ||
            a->err != b->err)
            return "row: facets";
        if (bins_differ(a->durations, a->ndurations, b->durations, b->ndurations) ||
            bins_differ(a->sizes, a->nsizes, b->sizes, b->nsizes) ||
            bins_differ(a->asked, a->nasked, b->asked, b->nasked))
            return "row: bins";
        if (patterns_differ(a->pattern, b->pattern))
            return "row: pattern";
        /* what stands behind is not in traces */
        if (a->kind != DFT_ROW_HISTOGRAM && memcmp(&a->metrics, &b->metrics, offsetof(struct dft_metrics, strided)))
            return "row: metrics";
    }
    return names_differ(before->names, before->nnames, after->names, after->nnames);
}
