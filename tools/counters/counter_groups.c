/* SPDX-License-Identifier: MIT */
/* Puts the counters of processes together. */
#include "counters/counter_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/order.h"

static const char *const by_names[] = {
    [DFT_COUNTER_BY_PROCESS] = "process", [DFT_COUNTER_BY_RANK] = "rank", [DFT_COUNTER_BY_HOST] = "host"};

const char *dft_counter_by_name(enum dft_counter_by by)
{
    return by_names[by];
}

int dft_counter_groups_parse(struct dft_counter_groups *groups, const char *text, const char **wrong)
{
    groups->nby = 0;
    while (text && *text) {
        size_t length = strcspn(text, ",");
        unsigned by = 0;

        while (by < DFT_COUNTER_BYS && (strlen(by_names[by]) != length || strncmp(text, by_names[by], length) != 0))
            by++;
        *wrong = text;
        if (by == DFT_COUNTER_BYS || groups->nby == DFT_COUNTER_BYS)
            return -EINVAL;
        groups->by[groups->nby++] = by;
        text += length + (text[length] == ',');
    }
    return 0;
}

static int compare_texts(struct dft_text a, struct dft_text b)
{
    uint32_t n = a.length < b.length ? a.length : b.length;
    int order = n ? memcmp(a.bytes, b.bytes, n) : 0;

    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_key(enum dft_counter_by by, const struct dft_source_process *a, const struct dft_source_process *b)
{
    switch (by) {
    case DFT_COUNTER_BY_RANK:
        return (a->process.rank > b->process.rank) - (a->process.rank < b->process.rank);
    case DFT_COUNTER_BY_HOST:
        return compare_texts(a->process.host, b->process.host);
    default:
        return (a->number > b->number) - (a->number < b->number);
    }
}

/* The order of the answer needs the keys, which qsort does not hand on. */
struct entry {
    struct dft_counter_group group;
    const struct dft_counter_groups *of;
};

static int same_group(const struct dft_counter_groups *groups, const struct dft_counter_group *a,
                      const struct dft_counter_group *b)
{
    int order = compare_texts(a->category, b->category);

    if (!order)
        order = compare_texts(a->name, b->name);
    for (unsigned i = 0; !order && i < groups->nby; i++)
        order = compare_key((enum dft_counter_by)groups->by[i], a->process, b->process);
    return order;
}

static int by_group(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = same_group(a->of, &a->group, &b->group);

    if (order)
        return order;
    return (a->group.process->number > b->group.process->number) -
           (a->group.process->number < b->group.process->number);
}

/* The course of a counter. A total's growth between two samples is spread evenly over the bins between
 * them; a level stays until the next sample. */
static void fill_course(const struct dft_counter_fact *fact, double width_s, double *course)
{
    uint32_t before = DFT_COUNTER_BINS;

    for (uint32_t i = 0; i < DFT_COUNTER_BINS; i++)
        course[i] = -1;
    for (uint32_t i = 0; i < DFT_COUNTER_BINS; i++) {
        double distance, growth;

        if (!fact->bins[i].time_ns)
            continue;
        if (fact->kind == DFT_COUNTER_LEVEL) {
            for (uint32_t k = before; k < i; k++)
                course[k] = (double)fact->bins[before].value;
            course[i] = (double)fact->bins[i].value;
        } else {
            growth = (double)(fact->bins[i].value - (before < i ? fact->bins[before].value : fact->first));
            distance = before < i ? i - before : 1;
            for (uint32_t k = before < i ? before + 1 : i; k <= i; k++)
                course[k] = width_s > 0 ? growth / (distance * width_s) : 0;
        }
        before = i;
    }
}

static void take_fact(struct entry *entry, const struct dft_counter_fact *fact, const struct dft_source *source,
                      const struct dft_counter_groups *groups, double width_s)
{
    uint32_t count;
    char room[18];

    *entry = (struct entry){.of = groups,
                            .group = {.process = &dft_source_processes(source, &count)[fact->process],
                                      .unit = fact->unit,
                                      .kind = fact->kind,
                                      .real = fact->real,
                                      .processes = 1,
                                      .samples = fact->samples,
                                      .first_ns = fact->first_ns,
                                      .last_ns = fact->last_ns,
                                      .first = fact->first,
                                      .last = fact->last,
                                      .least = fact->least,
                                      .most = fact->most,
                                      .sum = fact->sum,
                                      .change = fact->last - fact->first}};
    dft_names_call(dft_source_names_table(source), fact->id, &entry->group.category, &entry->group.name, room);
    if (entry->group.name.bytes == room) /* a name without a text */
        entry->group.name = (struct dft_text){"unknown", 7};
    fill_course(fact, width_s, entry->group.over_time);
}

static void merge(struct dft_counter_group *into, const struct dft_counter_group *from)
{
    into->processes += from->process != into->process;
    into->process = from->process;
    into->samples += from->samples;
    into->first_ns = from->first_ns < into->first_ns ? from->first_ns : into->first_ns;
    into->last_ns = from->last_ns > into->last_ns ? from->last_ns : into->last_ns;
    into->first += from->first;
    into->last += from->last;
    into->least = from->least < into->least ? from->least : into->least;
    into->most = from->most > into->most ? from->most : into->most;
    into->sum += from->sum;
    into->change += from->change;
    for (uint32_t i = 0; i < DFT_COUNTER_BINS; i++)
        if (from->over_time[i] >= 0)
            into->over_time[i] = (into->over_time[i] < 0 ? 0 : into->over_time[i]) + from->over_time[i];
}

int dft_counter_groups_make(struct dft_counter_groups *groups, const struct dft_source *source,
                            const struct dft_counter_facts *facts)
{
    struct entry *entries = calloc(facts->count + 1, sizeof *entries);
    double width_s = (double)(facts->end_ns - facts->start_ns) / 1e9 / DFT_COUNTER_BINS;

    groups->list = calloc(facts->count + 1, sizeof *groups->list);
    groups->count = 0;
    if (!entries || !groups->list) {
        free(entries);
        return -ENOMEM;
    }
    for (size_t i = 0; i < facts->count; i++)
        take_fact(&entries[i], &facts->list[i], source, groups, width_s);
    qsort(entries, facts->count, sizeof *entries, by_group);
    for (size_t i = 0; i < facts->count; i++)
        if (groups->count && !same_group(groups, &groups->list[groups->count - 1], &entries[i].group))
            merge(&groups->list[groups->count - 1], &entries[i].group);
        else
            groups->list[groups->count++] = entries[i].group;
    free(entries);
    return 0;
}

void dft_counter_groups_fini(struct dft_counter_groups *groups)
{
    free(groups->list);
    groups->list = NULL;
}

dft_counter_value dft_counter_group_mean(const struct dft_counter_group *group)
{
    if (group->kind == DFT_COUNTER_LEVEL)
        return group->samples ? group->sum / group->samples : 0;
    return group->last_ns > group->first_ns ? group->change * 1000000000 / (group->last_ns - group->first_ns) : 0;
}
