/* SPDX-License-Identifier: MIT */
/* Filters: parsing what the options say, and the tests on processes, blocks, calls and events. */
#include "source/filter.h"
#include "base/names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 65536

void dft_filter_init(struct dft_filter *filter)
{
    memset(filter, 0, sizeof *filter);
    filter->to_ns = UINT64_MAX;
}

void dft_filter_fini(struct dft_filter *filter)
{
    free(filter->ranks);
    free(filter->pids);
    free(filter->cats);
    free(filter->names);
    free(filter->files);
}

static int parse_number(const char **text, uint64_t *value)
{
    char *end;

    if (**text < '0' || **text > '9')
        return -EINVAL;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    *text = end;
    return errno ? -EINVAL : 0;
}

int dft_filter_add_ranges(struct dft_filter_range **list, size_t *count, const char *text)
{
    do {
        struct dft_filter_range range, *bigger;

        if (parse_number(&text, &range.low))
            return -EINVAL;
        range.high = range.low;
        if (*text == '-') {
            text++;
            if (parse_number(&text, &range.high) || range.high < range.low)
                return -EINVAL;
        }
        if (*count == LIST_MAX)
            return -EINVAL;
        bigger = realloc(*list, (*count + 1) * sizeof *bigger);
        if (!bigger)
            return -ENOMEM;
        *list = bigger;
        bigger[(*count)++] = range;
    } while (*text++ == ',');
    return text[-1] ? -EINVAL : 0;
}

int dft_filter_add_patterns(const char ***list, size_t *count, char *text)
{
    for (;;) {
        char *comma = strchr(text, ',');
        const char **bigger = realloc(*list, (*count + 1) * sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        *list = bigger;
        if (comma)
            *comma = 0;
        if (!*text || *count == LIST_MAX)
            return -EINVAL;
        bigger[(*count)++] = text;
        if (!comma)
            return 0;
        text = comma + 1;
    }
}

int dft_filter_seconds(int64_t *ns, const char *text)
{
    uint64_t whole = 0, part = 0;
    int negative = *text == '-', digits = 0;

    if (negative)
        text++;
    if (*text != '.' && parse_number(&text, &whole))
        return -EINVAL;
    if (*text == '.') {
        for (text++; *text >= '0' && *text <= '9'; text++, digits++) {
            if (digits == 9)
                return -EINVAL;
            part = part * 10 + (uint64_t)(*text - '0');
        }
        for (int i = digits; i < 9; i++)
            part *= 10;
    }
    if (*text || whole > (uint64_t)INT64_MAX / 1000000000 - 1)
        return -EINVAL;
    *ns = (int64_t)(whole * 1000000000 + part);
    if (negative)
        *ns = -*ns;
    return 0;
}

static uint64_t absolute(uint64_t start, int64_t relative)
{
    if (relative < 0)
        return start > 0 - (uint64_t)relative ? start + (uint64_t)relative : 0;
    return start + (uint64_t)relative < start ? UINT64_MAX : start + (uint64_t)relative;
}

void dft_filter_window(const struct dft_filter *filter, uint64_t start_ns, uint64_t *from_ns, uint64_t *to_ns)
{
    *from_ns = filter->has_from ? absolute(start_ns, filter->from_rel_ns) : 0;
    *to_ns = filter->has_to ? absolute(start_ns, filter->to_rel_ns) : UINT64_MAX;
}

void dft_filter_begin(struct dft_filter *filter, struct dft_source *source)
{
    uint64_t start, end;

    dft_source_lives(source, &start, &end);
    dft_filter_window(filter, start, &filter->from_ns, &filter->to_ns);
    filter->table = dft_source_names_table(source);
}

static int in_ranges(const struct dft_filter_range *list, size_t count, uint64_t value)
{
    for (size_t i = 0; i < count; i++)
        if (value >= list[i].low && value <= list[i].high)
            return 1;
    return 0;
}

int dft_filter_rank(const struct dft_filter *filter, uint64_t rank)
{
    return !filter->nranks || in_ranges(filter->ranks, filter->nranks, rank);
}

char *dft_filter_given(const struct dft_filter *filter)
{
    char *text = NULL;

    if (asprintf(&text, "%s%s%s%s%s%s%s", filter->has_from ? " --from" : "", filter->has_to ? " --to" : "",
                 filter->nranks ? " --rank" : "", filter->npids ? " --pid" : "", filter->ncats ? " --cat" : "",
                 filter->nnames ? " --name" : "", filter->nfiles ? " --file" : "") < 0)
        return NULL;
    return text;
}

int dft_filter_process(const struct dft_filter *filter, const struct dft_source_process *process)
{
    if (filter->nranks &&
        (process->process.rank < 0 || !in_ranges(filter->ranks, filter->nranks, (uint64_t)process->process.rank)))
        return 0;
    return !filter->npids || in_ranges(filter->pids, filter->npids, process->process.pid);
}

int dft_filter_block(const struct dft_filter *filter, const struct dft_source_process *process,
                     const struct dft_block *block)
{
    if (!dft_filter_process(filter, process))
        return 0;
    if (!filter->has_from && !filter->has_to)
        return 1;
    /* `end` is the largest end, so no start lies behind it. Events in flight have no end. */
    if (block->type == DFT_BLOCK_EVENTS && block->first > block->last)
        return 1;
    return block->start < filter->to_ns && block->end >= filter->from_ns;
}

int dft_patterns_fit(const char *const *patterns, size_t count, struct dft_text text)
{
    char small[256], *copy = text.length < sizeof small ? small : malloc(text.length + 1u);
    int found = 0;

    if (!copy)
        return 0;
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = 0;
    for (size_t i = 0; !found && i < count; i++)
        found = !fnmatch(patterns[i], copy, 0);
    if (copy != small)
        free(copy);
    return found;
}

int dft_filter_call(const struct dft_filter *filter, uint64_t call)
{
    struct dft_text category, name;
    char capacity[18];

    if (!filter->ncats && !filter->nnames)
        return 1;
    dft_names_call(filter->table, call, &category, &name, capacity);
    return (!filter->ncats || dft_patterns_fit(filter->cats, filter->ncats, category)) &&
           (!filter->nnames || dft_patterns_fit(filter->names, filter->nnames, name));
}

int dft_filter_file(const struct dft_filter *filter, uint64_t id)
{
    char capacity[18];

    return !filter->nfiles ||
           (id && dft_patterns_fit(filter->files, filter->nfiles, dft_names_show(filter->table, id, capacity)));
}

int dft_filter_event(const struct dft_filter *filter, const struct dft_event *event, uint64_t call)
{
    if (!dft_filter_time(filter, event) || !dft_filter_call(filter, call))
        return 0;
    return !filter->nfiles || dft_filter_file(filter, event->file) || dft_filter_file(filter, event->file2);
}

int dft_filter_has_files(const struct dft_filter *filter)
{
    return filter->nfiles != 0;
}

int dft_filter_has_calls(const struct dft_filter *filter)
{
    return filter->ncats || filter->nnames;
}
