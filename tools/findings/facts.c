/* SPDX-License-Identifier: MIT */
/* Asks once for the answers that rules look at. */
#include "findings/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/like_paths.h"
#include "base/settings.h"
#include "base/write_text.h"
#include "findings/facts_ask.h"
#include "findings/facts_overlap.h"
#include "findings/facts_ranks.h"
#include "findings/untraced.h"
#include "format/facets.h"
#include "format/hash.h"
#include "mpi/comm.h"
#include "query/answer_pages.h"
#include "query/file_facts.h"
#include "query/rollup.h"

#define BIT(fact) (UINT64_C(1) << (fact))
#define OP(op)    (UINT64_C(1) << (op))

/* --- questions -------------------------------------------------------------------------------- */

static int put_rows(struct dft_facts *facts, struct dft_facts_questions *questions)
{
    uint64_t width;
    int rc = dft_facts_width(facts, DFT_FACT_WINDOWS, facts->has_file_ops, &width);

    if (rc)
        return rc;
    dft_facts_put(facts, questions, DFT_FACT_CALLS,
                  (struct dft_query){.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_OP, DFT_BY_CLASS, DFT_BY_SIZE,
                                            DFT_BY_ACCESS, DFT_BY_ERRNO},
                                     .nby = 7,
                                     .accesses = 1});
    dft_facts_put(facts, questions, DFT_FACT_TIMES,
                  (struct dft_query){.by = {DFT_BY_TIME, DFT_BY_OP, DFT_BY_CLASS, DFT_BY_SIZE, DFT_BY_ERRNO},
                                     .nby = 5,
                                     .width_ns = width});
    dft_facts_put(
        facts, questions, DFT_FACT_REGIONS,
        (struct dft_query){.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_PROCESS}, .nby = 3, .ops = OP(DFT_OP_REGION)});
    return 0;
}

/* Questions by file: from events all that is known of calls, from rows of files only their
 * class. */
static struct dft_query by_file(const struct dft_facts *facts, enum dft_by by)
{
    struct dft_query query = {.by = {by, DFT_BY_CLASS}, .nby = 2};

    if (facts->has_file_ops) {
        query.nby = 5;
        query.by[2] = DFT_BY_OP;
        query.by[3] = DFT_BY_ERRNO;
        query.by[4] = DFT_BY_SIZE;
        query.accesses = 1;
    }
    return query;
}

static void put_files(struct dft_facts *facts, struct dft_facts_questions *questions)
{
    struct dft_query files = by_file(facts, DFT_BY_FILE);

    files.patterns = 1;
    dft_facts_put(facts, questions, DFT_FACT_FILES, files);
    dft_facts_put(facts, questions, DFT_FACT_PATTERNS, by_file(facts, DFT_BY_PATTERN));
    dft_facts_put(facts, questions, DFT_FACT_DIRS,
                  (struct dft_query){
                      .by = {DFT_BY_DIR, DFT_BY_CLASS}, .nby = 2, .ops = facts->has_file_ops ? OP(DFT_OP_OPENDIR) : 0});
    if (facts->has_remote)
        dft_facts_put(facts, questions, DFT_FACT_MOUNTS, by_file(facts, DFT_BY_MOUNT));
    dft_places_put(facts, questions);
    if (!facts->has_file_ops)
        return;
    dft_facts_put(
        facts, questions, DFT_FACT_OPENS,
        (struct dft_query){.by = {DFT_BY_FILE, DFT_BY_PROCESS}, .nby = 2, .ops = OP(DFT_OP_OPEN) | OP(DFT_OP_FOPEN)});
    if (!facts->has_stacks)
        return;
    dft_facts_put(facts, questions, DFT_FACT_LINES,
                  (struct dft_query){.by = {DFT_BY_LINE, DFT_BY_FILE, DFT_BY_OP}, .nby = 3});
    dft_facts_put(facts, questions, DFT_FACT_ERRORS,
                  (struct dft_query){.by = {DFT_BY_LINE, DFT_BY_OP, DFT_BY_ERRNO}, .nby = 3});
}

static uint64_t count_events(const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    uint64_t events = 0;

    for (uint32_t i = 0; i < count; i++)
        events += processes[i].events;
    return events;
}

/* Did some process record stacks? */
static int has_stacks(const struct dft_source *source)
{
    static const char option[] = "DFTRACER_STACK=", none[] = "DFTRACER_STACK=0";
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    int has = 0;

    for (uint32_t i = 0; i < count && !has; i++) {
        const struct dft_text *options = &processes[i].process.options;

        has = options->length && memmem(options->bytes, options->length, option, sizeof option - 1) &&
              !memmem(options->bytes, options->length, none, sizeof none - 1);
    }
    return has;
}

/* All questions about calls. by_file: groups by file may be asked for. */
static int ask(struct dft_facts *facts, struct dft_facts_questions *questions, uint64_t events, int by_file)
{
    int rc = dft_mounts_collect(facts);

    if (!rc)
        rc = put_rows(facts, questions);
    if (by_file || dft_rollup_may_be(facts->request->source))
        put_files(facts, questions);
    if (by_file)
        dft_facts_put_ranks(facts, questions);
    if (!rc)
        rc = dft_facts_ask(facts, questions, facts->request->filter);
    if (!rc)
        rc = dft_facts_collect_ranks(facts);
    if (!rc)
        rc = dft_accesses_collect(facts);
    if (!rc)
        rc = dft_places_collect(facts); /* knows what was mapped */
    if (!rc && by_file)
        rc = dft_lock_waits_collect(facts);
    if (!rc)
        rc = dft_failures_collect(facts);
    if (!rc)
        rc = dft_facts_collect_overlap(facts, events);
    if (!rc)
        rc = dft_kernel_io_collect(&facts->io, facts->request->source, facts->request->filter);
    return rc;
}

int dft_facts_collect(struct dft_facts *facts, const struct dft_findings_request *request)
{
    enum dft_kept_events kept = dft_source_kept(request->source);
    uint64_t events = count_events(request->source);
    struct dft_facts_questions questions;
    int few, rc;

    dft_facts_questions_init(&questions, request);
    memset(facts, 0, sizeof *facts);
    facts->request = request;
    rc = dft_comm_agree(dft_facts_count_ranks(facts));
    dft_facts_measure(facts);
    few = request->thorough || events <= dft_setting(DFT_SETTING_PAGE_EVENTS) * dft_source_threads(request->source);
    facts->has_too_many = !few && kept != DFT_KEPT_NONE;
    facts->has_stacks = has_stacks(request->source);
    facts->has_file_ops = few && kept == DFT_KEPT_ALL;
    dft_facts_put(facts, &questions, DFT_FACT_PROCESSES,
                  (struct dft_query){.by = {DFT_BY_PROCESS, DFT_BY_CLASS}, .nby = 2});
    if (!rc && facts->lacks & DFT_LACKS_CALLS) /* does anything pass? */
        rc = dft_facts_ask(facts, &questions, request->filter);
    else if (!rc)
        rc = ask(facts, &questions, events, few || kept == DFT_KEPT_NONE);
    if (!rc)
        rc = dft_untraced_collect(facts);
    if (rc)
        dft_facts_fini(facts);
    return rc;
}

void dft_facts_fini(struct dft_facts *facts)
{
    for (unsigned fact = 0; fact < DFT_FACTS; fact++)
        if (facts->asked & BIT(fact))
            dft_answer_fini(&facts->answers[fact]);
    facts->asked = 0;
    dft_places_fini(&facts->places);
    dft_accesses_fini(&facts->accesses);
    dft_overlap_fini(&facts->overlap);
    dft_file_grouping_fini(&facts->mounts);
    dft_kernel_io_fini(&facts->io);
    free(facts->untraced);
    facts->untraced = NULL;
}

/* --- what rules ask of them ------------------------------------------------------------------- */

int dft_facts_has(const struct dft_facts *facts, enum dft_fact fact)
{
    return (facts->asked & BIT(fact)) != 0;
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
    const struct dft_place *place = dft_places_find(&facts->places.patterns, pattern);

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
