/* SPDX-License-Identifier: MIT */
/* Filters: the tests on processes, blocks, calls, rows, files and events. */
#include "views/filter.h"
#include "base/names.h"
#include "views/filter_event.h"
#include "views/filter_paths.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dft_filter_init(struct dft_filter *filter)
{
    memset(filter, 0, sizeof *filter);
    filter->to_ns = UINT64_MAX;
}

void dft_filter_end(struct dft_filter *filter)
{
    dft_filter_paths_fini(&filter->files);
    dft_filter_paths_fini(&filter->dirs);
    dft_file_grouping_fini(&filter->mount);
}

void dft_filter_fini(struct dft_filter *filter)
{
    for (int i = 0; i < DFT_FILTER_OPTIONS; i++) {
        free(filter->values[i].ranges);
        free(filter->values[i].patterns);
    }
    dft_filter_end(filter);
}

/* --- times ------------------------------------------------------------------------------------ */

/* A negative time counts from the end. */
static uint64_t absolute(uint64_t start, uint64_t end, int64_t relative)
{
    if (relative < 0)
        return end > 0 - (uint64_t)relative ? end + (uint64_t)relative : 0;
    return start + (uint64_t)relative < start ? UINT64_MAX : start + (uint64_t)relative;
}

void dft_filter_window(const struct dft_filter *filter, uint64_t start_ns, uint64_t end_ns, uint64_t *from_ns,
                       uint64_t *to_ns)
{
    const struct dft_filter_values *values = filter->values;

    *from_ns = 0;
    *to_ns = UINT64_MAX;
    if (values[DFT_FILTER_LAST].count)
        *from_ns = end_ns > (uint64_t)values[DFT_FILTER_LAST].ns ? end_ns - (uint64_t)values[DFT_FILTER_LAST].ns : 0;
    if (values[DFT_FILTER_FROM].count)
        *from_ns = absolute(start_ns, end_ns, values[DFT_FILTER_FROM].ns);
    if (values[DFT_FILTER_TO].count)
        *to_ns = absolute(start_ns, end_ns, values[DFT_FILTER_TO].ns);
}

int dft_filter_begin(struct dft_filter *filter, struct dft_source *source)
{
    const struct dft_filter_values *files = &filter->values[DFT_FILTER_FILE], *dirs = &filter->values[DFT_FILTER_DIR];
    uint64_t start, end;
    int rc;

    dft_source_lives(source, &start, &end);
    dft_filter_window(filter, start, end, &filter->from_ns, &filter->to_ns);
    filter->table = dft_source_names_table(source);
    dft_file_grouping_fini(&filter->mount);
    rc = dft_filter_paths_make(&filter->files, source, files->patterns, files->count, "");
    rc = rc ? rc : dft_filter_paths_make(&filter->dirs, source, dirs->patterns, dirs->count, "/*");
    return rc ? rc
              : dft_file_grouping_init(&filter->mount,
                                       dft_filter_has(filter, DFT_FILTER_MOUNT) ? DFT_FILES_MOUNT : DFT_FILES_EXT, 0,
                                       source);
}

int dft_filter_lacks_mounts(const struct dft_filter *filter)
{
    return dft_filter_has(filter, DFT_FILTER_MOUNT) && !filter->mount.mounts.count;
}

/* --- the options ------------------------------------------------------------------------------ */

uint64_t dft_filter_options(const struct dft_filter *filter)
{
    uint64_t options = 0;

    for (int i = 0; i < DFT_FILTER_OPTIONS; i++)
        options |= (uint64_t)(filter->values[i].count != 0) << i;
    return options;
}

char *dft_filter_text(uint64_t options)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    for (int i = 0; i < DFT_FILTER_OPTIONS; i++)
        if (options >> i & 1)
            fprintf(out, " --%s", dft_filter_name((enum dft_filter_option)i));
    if (!fclose(out))
        return text;
    free(text);
    return NULL;
}

int dft_filter_has_any(const struct dft_filter *filter)
{
    return dft_filter_options(filter) != 0;
}

int dft_filter_is_partial(const struct dft_filter *filter)
{
    const uint64_t processes = DFT_FILTER_BIT(RANK) | DFT_FILTER_BIT(PID) | DFT_FILTER_BIT(HOST) |
                               DFT_FILTER_BIT(PROGRAM) | DFT_FILTER_BIT(ROLE);

    return (dft_filter_options(filter) & ~processes) != 0;
}

/* --- processes and blocks --------------------------------------------------------------------- */

static int in_ranges(const struct dft_filter_values *values, uint64_t value)
{
    for (size_t i = 0; i < values->count; i++)
        if (value >= values->ranges[i].low && value <= values->ranges[i].high)
            return 1;
    return 0;
}

int dft_filter_rank(const struct dft_filter *filter, uint64_t rank)
{
    const struct dft_filter_values *ranks = &filter->values[DFT_FILTER_RANK];

    return !ranks->count || in_ranges(ranks, rank);
}

int dft_patterns_fit(const char *const *patterns, size_t count, struct dft_text text, int flags)
{
    char small[256], *copy = text.length < sizeof small ? small : malloc(text.length + 1u);
    int fits = count && **patterns == '!';

    if (!copy)
        return 0;
    if (text.length)
        memcpy(copy, text.bytes, text.length);
    copy[text.length] = 0;
    for (size_t i = 0; i < count; i++) {
        int takes = *patterns[i] == '!';

        if (fits == takes && !fnmatch(patterns[i] + takes, copy, flags))
            fits = !takes;
    }
    if (copy != small)
        free(copy);
    return fits;
}

static int text_passes(const struct dft_filter *filter, enum dft_filter_option option, struct dft_text text)
{
    const struct dft_filter_values *values = &filter->values[option];

    return !values->count || dft_patterns_fit((const char *const *)values->patterns, values->count, text, 0);
}

struct dft_text dft_filter_trait(const struct dft_process *process, enum dft_filter_option option)
{
    struct dft_text text = option == DFT_FILTER_HOST   ? process->host
                           : option == DFT_FILTER_ROLE ? process->role
                                                       : process->exe;
    const char *slash = option == DFT_FILTER_PROGRAM && text.length ? memrchr(text.bytes, '/', text.length) : NULL;

    if (slash) {
        text.length -= (uint32_t)(slash + 1 - text.bytes);
        text.bytes = slash + 1;
    }
    return text;
}

/* What is not known of a process passes no pattern. */
static int trait_passes(const struct dft_filter *filter, enum dft_filter_option option,
                        const struct dft_process *process)
{
    struct dft_text text = dft_filter_trait(process, option);

    return !dft_filter_has(filter, option) || (text.length && text_passes(filter, option, text));
}

int dft_filter_process(const struct dft_filter *filter, const struct dft_source_process *of)
{
    const struct dft_process *process = &of->process;

    if (dft_filter_has(filter, DFT_FILTER_RANK) &&
        (process->rank < 0 || !dft_filter_rank(filter, (uint64_t)process->rank)))
        return 0;
    if (dft_filter_has(filter, DFT_FILTER_PID) && !in_ranges(&filter->values[DFT_FILTER_PID], process->pid))
        return 0;
    return trait_passes(filter, DFT_FILTER_HOST, process) && trait_passes(filter, DFT_FILTER_PROGRAM, process) &&
           trait_passes(filter, DFT_FILTER_ROLE, process);
}

int dft_filter_block(const struct dft_filter *filter, const struct dft_source_process *process,
                     const struct dft_block *block)
{
    if (!dft_filter_process(filter, process))
        return 0;
    if (!dft_filter_has_times(filter))
        return 1;
    /* `end` is the largest end, so no start lies behind it. Events in flight have no end. */
    if (block->type == DFT_BLOCK_EVENTS && block->first > block->last)
        return 1;
    return block->start < filter->to_ns && block->end >= filter->from_ns;
}

/* --- calls and regions ------------------------------------------------------------------------ */

int dft_filter_names(const struct dft_filter *filter, uint64_t call)
{
    struct dft_text category, name;
    char text[18];

    if (!dft_filter_has_calls(filter))
        return 1;
    dft_names_call(filter->table, call, &category, &name, text);
    return text_passes(filter, DFT_FILTER_CAT, category) && text_passes(filter, DFT_FILTER_NAME, name);
}

/* Numbers that no word has are beyond the mask. */
int dft_filter_word_passes(const struct dft_filter_values *values, unsigned number)
{
    return !values->count || (number < 64 && values->mask >> number & 1);
}

static int word_passes(const struct dft_filter *filter, enum dft_filter_option option, unsigned number)
{
    return dft_filter_word_passes(&filter->values[option], number);
}

int dft_filter_kind(const struct dft_filter *filter, uint8_t op, uint8_t io)
{
    return word_passes(filter, DFT_FILTER_OP, op < DFT_OP_COUNT ? op : DFT_OP_OTHER) &&
           word_passes(filter, DFT_FILTER_CLASS, io);
}

int dft_filter_class(const struct dft_filter *filter, uint8_t io)
{
    return word_passes(filter, DFT_FILTER_CLASS, io);
}

int dft_filter_call(const struct dft_filter *filter, const struct dft_call *call)
{
    return dft_filter_kind(filter, call->op, call->io) && dft_filter_names(filter, call->id);
}

int dft_filter_region(const struct dft_filter *filter, uint64_t region)
{
    struct dft_text category, name;
    char text[18];

    if (!dft_filter_has(filter, DFT_FILTER_REGION))
        return 1;
    if (!region)
        return 0;
    dft_names_call(filter->table, region, &category, &name, text);
    return text_passes(filter, DFT_FILTER_REGION, name);
}

int dft_filter_facets(const struct dft_filter *filter, uint32_t facets)
{
    uint16_t err = dft_facets_err(facets);

    if (dft_filter_has(filter, DFT_FILTER_ERRORS) && !err)
        return 0;
    if (dft_filter_has(filter, DFT_FILTER_ERRNO) && !in_ranges(&filter->values[DFT_FILTER_ERRNO], err))
        return 0;
    return word_passes(filter, DFT_FILTER_SIZE, dft_facets_size_class(facets)) &&
           word_passes(filter, DFT_FILTER_ACCESS, dft_facets_access(facets));
}

int dft_filter_regions_pass(const struct dft_filter *filter)
{
    return !dft_filter_has_files(filter) && dft_filter_kind(filter, DFT_OP_REGION, DFT_IO_NONE) &&
           dft_filter_facets(filter, 0);
}

enum dft_filter_decision dft_filter_durations(const struct dft_filter *filter, const struct dft_metrics *m)
{
    uint64_t least = (uint64_t)filter->values[DFT_FILTER_SLOWER].ns;

    if (!dft_filter_has(filter, DFT_FILTER_SLOWER))
        return DFT_PASSES;
    if (dft_metrics_knows_dur_max(m) && m->dur_max <= least)
        return DFT_PASSES_NOT;
    return dft_metrics_knows_dur_min(m) && m->dur_min > least ? DFT_PASSES : DFT_PASSES_SOME;
}

/* --- files and events ------------------------------------------------------------------------- */

/* "so" is the extension ".so". */
static int extension_passes(void *context, struct dft_text extension)
{
    const struct dft_filter *filter = context;
    struct dft_text bare = extension;

    if (text_passes(filter, DFT_FILTER_EXT, extension))
        return 1;
    if (bare.length && *bare.bytes == '.') {
        bare.bytes++;
        bare.length--;
    }
    return text_passes(filter, DFT_FILTER_EXT, bare);
}

static int mount_passes(void *context, struct dft_text point)
{
    return text_passes(context, DFT_FILTER_MOUNT, point);
}

int dft_filter_path(const struct dft_filter *filter, struct dft_text path)
{
    struct dft_file_grouping grouping = {.by = DFT_FILES_EXT};

    if (dft_filter_has(filter, DFT_FILTER_FILE) && !dft_patterns_fit(filter->files.list, filter->files.count, path, 0))
        return 0;
    if (dft_filter_has(filter, DFT_FILTER_DIR) && !dft_patterns_fit(filter->dirs.list, filter->dirs.count, path, 0))
        return 0;
    if (dft_filter_has(filter, DFT_FILTER_EXT) &&
        dft_file_grouping_text(&grouping, path, extension_passes, (void *)(uintptr_t)filter) != 1)
        return 0;
    return !dft_filter_has(filter, DFT_FILTER_MOUNT) ||
           dft_file_grouping_text(&filter->mount, path, mount_passes, (void *)(uintptr_t)filter) == 1;
}

int dft_filter_file(const struct dft_filter *filter, uint64_t id)
{
    char text[18];

    return !dft_filter_has_files(filter) || (id && dft_filter_path(filter, dft_names_show(filter->table, id, text)));
}

int dft_filter_event(const struct dft_filter *filter, const struct dft_event *event, const struct dft_call *call)
{
    if (!dft_filter_time(filter, event) || !dft_filter_looks(filter, event, call->op) ||
        !dft_filter_call(filter, call) || !dft_filter_region(filter, event->region))
        return 0;
    return !dft_filter_has_files(filter) || dft_filter_file(filter, event->file) ||
           dft_filter_file(filter, event->file2);
}
