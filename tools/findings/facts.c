/* SPDX-License-Identifier: MIT */
/* What rules ask of the answers. */
#include "findings/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/like_paths.h"
#include "base/write_text.h"
#include "format/facets.h"
#include "format/hash.h"
#include "query/answer_pages.h"
#include "query/file_facts.h"

int dft_facts_has(const struct dft_facts *facts, enum dft_fact fact)
{
    return facts->asked >> fact & 1;
}

char *dft_facts_text(const struct dft_answer *answer, const struct dft_group *group, enum dft_by by)
{
    struct dft_key_value value;

    dft_group_value(answer, group, by, &value);
    return dft_text_escaped(value.type == DFT_KEY_TEXT ? value.text.bytes : "",
                            value.type == DFT_KEY_TEXT ? value.text.length : 0);
}

int dft_facts_is_call(const struct dft_answer *answer, const struct dft_group *group, const char *name)
{
    struct dft_key_value value;

    dft_group_value(answer, group, DFT_BY_NAME, &value);
    return value.type == DFT_KEY_TEXT && dft_text_is(value.text, name);
}

uint64_t dft_facts_syncing(const struct dft_facts *facts)
{
    const struct dft_answer *processes = &facts->answers[DFT_FACT_PROCESSES];
    uint64_t count = processes->found - processes->count;

    for (uint32_t i = 0; i < processes->count; i++)
        count += processes->groups[i].key.class == DFT_IO_SYNC;
    return count ? count : 1;
}

char *dft_facts_file_text(const struct dft_facts *facts, uint64_t file)
{
    const struct dft_group group = {.key = {.file = file}};

    return dft_facts_text(&facts->answers[DFT_FACT_FILES], &group, DFT_BY_FILE);
}

uint64_t dft_facts_pattern(const struct dft_facts *facts, uint64_t file)
{
    uint64_t pattern;

    if (!file || !dft_facts_has(facts, DFT_FACT_PATTERNS) ||
        dft_file_facts_group(facts->answers[DFT_FACT_PATTERNS].files, file, &pattern))
        return 0;
    return pattern;
}

const char *dft_facts_files_in(const struct dft_facts *facts, uint64_t file)
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];

    return dft_facts_has(facts, DFT_FACT_FILES) && files->files && dft_file_facts_is_folded(files->files, file)
               ? "files in "
               : "";
}

/* Its own text: all numbers are #. */
static char *text_of_pattern(const struct dft_facts *facts, uint64_t pattern)
{
    const struct dft_answer *patterns = &facts->answers[DFT_FACT_PATTERNS];
    const struct dft_file_place *place = dft_places_find(&facts->places.patterns, pattern);

    for (uint32_t i = 0; !place && dft_facts_has(facts, DFT_FACT_PATTERNS) && i < patterns->count; i++)
        if (patterns->groups[i].key.file == pattern)
            return dft_facts_text(patterns, &patterns->groups[i], DFT_BY_PATTERN);
    return dft_text_escaped(place && place->text.length ? place->text.bytes : "", place ? place->text.length : 0);
}

char *dft_facts_pattern_text(const struct dft_facts *facts, uint64_t pattern)
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    struct dft_like_paths like = {0};
    struct dft_key_value value;
    uint64_t last = 0;
    char *own, *escaped;

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_FILES) && i < files->count; i++) {
        uint64_t file = files->groups[i].key.file;

        if (file == last || dft_facts_pattern(facts, file) != pattern)
            continue;
        dft_group_value(files, &files->groups[i], DFT_BY_FILE, &value);
        if (value.type == DFT_KEY_TEXT && dft_name_id(value.text.bytes, value.text.length) == file)
            dft_like_paths_add(&like, value.text.bytes, value.text.length);
        last = file;
    }
    if (like.count < 2 || !like.varies)
        return text_of_pattern(facts, pattern);
    own = dft_like_paths_text(&like);
    escaped = own ? dft_text_escaped(own, (uint32_t)strlen(own)) : NULL;
    free(own);
    return escaped;
}

char *dft_facts_line(const struct dft_facts *facts, enum dft_by by, uint64_t id, uint64_t ops)
{
    const struct dft_answer *lines = &facts->answers[DFT_FACT_LINES];

    if (!dft_facts_has(facts, DFT_FACT_LINES))
        return NULL;
    for (uint32_t i = 0; i < lines->count; i++) { /* by time: the first that fits has most */
        const struct dft_group_key *key = &lines->groups[i].key;

        if (key->line && (!ops || ops >> key->op & 1) &&
            (!id || (by == DFT_BY_PATTERN ? dft_facts_pattern(facts, key->file) : key->file) == id))
            return dft_facts_text(lines, &lines->groups[i], DFT_BY_LINE);
    }
    return NULL;
}

char *dft_facts_error_line(const struct dft_facts *facts, int err, uint64_t ops)
{
    const struct dft_answer *lines = &facts->answers[DFT_FACT_ERRORS];

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_ERRORS) && i < lines->count; i++) {
        const struct dft_group_key *key = &lines->groups[i].key;

        if (key->line && ops >> key->op & 1 && dft_facets_err(key->facets) == err)
            return dft_facts_text(lines, &lines->groups[i], DFT_BY_LINE);
    }
    return NULL;
}

const char *dft_facts_short(const struct dft_facts *facts, const char *path)
{
    return strcmp(path, "//") ? dft_job_short_path(facts->request->job, path) : "/"; /* files anywhere */
}

/* Four fifths of the time in the first tenth of the run are its start; half of the time in a
 * twentieth is a blip. What grows has three times as much time in the second half as in the
 * first. */
enum dft_when dft_facts_judge(const uint64_t *time_ns)
{
    uint64_t all = 0, max = 0, start = 0, halves[2] = {0};
    uint32_t used = 0;

    for (uint32_t i = 0; i <= DFT_FACT_WINDOWS; i++) {
        all += time_ns[i];
        used += time_ns[i] != 0;
        max = time_ns[i] > max ? time_ns[i] : max;
        start += i < DFT_FACT_WINDOWS / 10 ? time_ns[i] : 0;
        halves[i >= DFT_FACT_WINDOWS / 2] += time_ns[i];
    }
    if (start * 5 >= all * 4)
        return DFT_WHEN_START;
    if (max * 2 > all)
        return DFT_WHEN_BLIP;
    if (halves[1] > 3 * halves[0])
        return DFT_WHEN_GROWING;
    return used * 2 >= DFT_FACT_WINDOWS ? DFT_WHEN_PERSISTENT : DFT_WHEN_UNKNOWN;
}

enum dft_when dft_facts_when(const struct dft_facts *facts, uint64_t ops, unsigned sizes, uint64_t *from_ns,
                             uint64_t *to_ns)
{
    const struct dft_answer *times = &facts->answers[DFT_FACT_TIMES];
    uint64_t time_ns[DFT_FACT_WINDOWS + 1] = {0}, width, first = UINT64_MAX, last = 0;

    if (!dft_facts_has(facts, DFT_FACT_TIMES))
        return DFT_WHEN_UNKNOWN;
    width = times->query.width_ns;
    for (uint32_t i = 0; i < times->count; i++) {
        const struct dft_group *group = &times->groups[i];
        uint64_t at = group->key.time;

        if ((ops && !(ops >> group->key.op & 1)) ||
            (sizes && !(sizes >> dft_facets_size_class(group->key.facets) & 1)) || !group->metrics.count)
            continue;
        first = group->metrics.first_start < first ? group->metrics.first_start : first;
        last = group->metrics.last_end > last ? group->metrics.last_end : last;
        time_ns[at < DFT_FACT_WINDOWS ? at : DFT_FACT_WINDOWS] += group->metrics.dur_sum;
    }
    if (first > last)
        return DFT_WHEN_UNKNOWN;
    *from_ns = first;
    *to_ns = last;
    return width * DFT_FACT_WINDOWS / 2 > facts->wall_ns ? DFT_WHEN_UNKNOWN : dft_facts_judge(time_ns);
}

int64_t dft_facts_rank(const struct dft_answer *answer, const struct dft_group *group)
{
    return group->key.process_group ? answer->process_group[group->key.process_group - 1]->process.rank : -1;
}

int dft_is_collective(struct dft_text name)
{
    static const char *const ends[] = {"_all", "_all_begin", "_all_end", "_ordered", "_ordered_begin", "_ordered_end"};

    if (name.length < 9 || memcmp(name.bytes, "MPI_File_", 9) != 0)
        return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(ends[i]);

        if (name.length > length && !memcmp(name.bytes + name.length - length, ends[i], length))
            return 1;
    }
    return 0;
}

int dft_facts_in_collective(const struct dft_answer *answer, const struct dft_group *group)
{
    struct dft_key_value region;

    dft_group_value(answer, group, DFT_BY_REGION, &region);
    return region.type == DFT_KEY_TEXT && dft_is_collective(region.text);
}
