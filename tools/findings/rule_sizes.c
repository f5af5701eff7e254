/* SPDX-License-Identifier: MIT */
/* Small reads and writes, characters one at a time, and streams whose buffer does not help.
 *
 * The cost is what these requests take longer than larger ones would (sizes.h). Requests of a page and more count only
 * where they follow the one before: those at random are another finding. Files that are read or written in a few calls
 * an open are left out: their time is that of many small files, or of files opened again. So are files most of whose
 * time other findings have reported. */
#include <errno.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "base/write_text.h"
#include "findings/reported.h"
#include "findings/rules.h"
#include "findings/sizes.h"

#define CHARACTERS 2u /* the size class of 1 byte */

/* What one kind of finding adds up to, and the files that lose most. */
struct sum {
    uint64_t lost_ns, calls, bytes, ops, units;
    unsigned sizes;
    const struct dft_size_unit *top;
    uint64_t top_ns;
    unsigned size; /* that loses most of these files */
    uint64_t size_ns;
    enum dft_yardstick yardstick;
};

static const char *const nouns[DFT_FLOWS] = {"reads", "writes", "reads of a stream", "writes to a stream"};

static int is_stream(const struct dft_size_unit *unit)
{
    return unit->flow == DFT_FLOW_STREAM_IN || unit->flow == DFT_FLOW_STREAM_OUT;
}

static enum dft_finding_code code_of(const struct dft_size_unit *unit, unsigned size)
{
    if (size <= CHARACTERS)
        return DFT_FINDING_ONE_BYTE;
    if (is_stream(unit))
        return DFT_FINDING_STREAM;
    return unit->flow == DFT_FLOW_READ ? DFT_FINDING_SMALL_READS : DFT_FINDING_SMALL_WRITES;
}

static uint64_t calls_of(const struct dft_size_unit *unit)
{
    uint64_t calls = 0;

    for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++)
        calls += unit->sums[size].calls;
    return calls;
}

static int is_of_small_files(const struct dft_rules *rules, const struct dft_size_unit *unit)
{
    int in = dft_flow_is_in(unit->flow);

    return calls_of(unit) / (unit->opens ? unit->opens : 1) <
           dft_limit(rules, in ? DFT_LIMIT_SMALL_READS_AN_OPEN : DFT_LIMIT_SMALL_WRITES_AN_OPEN);
}

/* Is a group by file one of this unit? Aggregates by file tell classes alone. */
static int is_part(const struct dft_facts *facts, const struct dft_group *group, uint64_t pattern,
                   const struct dft_size_unit *unit)
{
    if (!unit->pattern)
        return group->key.class == (dft_flow_is_in(unit->flow) ? DFT_IO_READ : DFT_IO_WRITE);
    return facts->has_file_ops && pattern == unit->pattern && dft_flow_ops(unit->flow) >> group->key.op & 1;
}

/* Its buffer fills, and memory answers: what a call takes more is what a printf computes. */
static int has_buffer(const struct dft_rules *rules, const struct dft_size_unit *unit, const struct dft_size_sum *sum)
{
    return unit->flush >= dft_limit(rules, DFT_LIMIT_STREAM_FLUSH) &&
           sum->time_ns / sum->calls < dft_limit(rules, DFT_LIMIT_SMALL_READS_CACHED);
}

/* Sums, for each unit, the time that findings about whole files have already. */
static void look_at_reported(const struct dft_rules *rules, struct dft_size_units *units)
{
    const struct dft_answer *files = &rules->facts->answers[DFT_FACT_FILES];

    for (uint32_t i = 0; dft_facts_has(rules->facts, DFT_FACT_FILES) && i < files->count; i++) {
        const struct dft_group *group = &files->groups[i];
        uint64_t pattern = dft_facts_pattern(rules->facts, group->key.file);
        int is_reported = dft_rules_reported(rules, group->key.file) != DFT_FINDINGS;

        for (size_t u = 0; u < units->count; u++) {
            struct dft_size_unit *unit = &units->list[u];

            if (!is_part(rules->facts, group, pattern, unit))
                continue;
            unit->known_ns += group->metrics.dur_sum;
            unit->reported_ns += is_reported ? group->metrics.dur_sum : 0;
        }
    }
}

/* Its time is in a finding of whole files. */
static int is_reported(const struct dft_rules *rules, const struct dft_size_unit *unit)
{
    return (unit->pattern && is_of_small_files(rules, unit)) || unit->reported_ns * 2 > unit->known_ns;
}

/* The files whose time is in this finding, as far as they are known one by one. */
static int find_files(const struct dft_rules *rules, const struct dft_size_units *units, enum dft_finding_code code,
                      const struct sum *sum, struct dft_map *found)
{
    const struct dft_answer *files = &rules->facts->answers[DFT_FACT_FILES];
    int rc = 0;

    for (uint32_t i = 0; dft_facts_has(rules->facts, DFT_FACT_FILES) && i < files->count && !rc; i++) {
        const struct dft_group *group = &files->groups[i];
        uint64_t pattern = dft_facts_pattern(rules->facts, group->key.file);
        unsigned size = group->metrics.data ? dft_size_class(group->metrics.bytes / group->metrics.data) : 0;

        for (size_t u = 0; group->key.file && sum->sizes >> size & 1 && u < units->count && !rc; u++)
            if (units->list[u].reported_by >> code & 1 && is_part(rules->facts, group, pattern, &units->list[u]))
                rc = dft_map_put(found, group->key.file) ? 0 : -ENOMEM;
    }
    return rc;
}

static void add_size(struct dft_rules *rules, const struct dft_size_units *units, const struct dft_size_unit *unit,
                     enum dft_finding_code code, struct sum *sum, unsigned size, uint64_t *unit_ns)
{
    const struct dft_size_sum *all = &unit->sums[size];
    enum dft_yardstick yardstick;
    uint64_t lost;

    if (!all->calls || code_of(unit, size) != code)
        return;
    if (is_stream(unit) &&
        (all->time_ns / all->calls < dft_limit(rules, DFT_LIMIT_STREAM_CALL) || has_buffer(rules, unit, all)))
        return;
    lost = dft_sizes_lost(rules, units, unit, size, &yardstick);
    if (unit->reported_ns) /* the part that no finding has */
        lost = dft_uint_of((double)lost * (double)(unit->known_ns - unit->reported_ns) / (double)unit->known_ns);
    if (!lost)
        return;
    *unit_ns += lost;
    sum->lost_ns += lost;
    sum->calls += all->calls;
    sum->bytes += all->bytes;
    sum->ops |= dft_flow_ops(unit->flow);
    sum->sizes |= 1u << size;
    if (*unit_ns <= sum->top_ns)
        return;
    sum->top_ns = *unit_ns;
    if (sum->top != unit || lost > sum->size_ns) {
        sum->size = size;
        sum->size_ns = lost;
        sum->yardstick = yardstick;
    }
    sum->top = unit;
}

static void add_units(struct dft_rules *rules, struct dft_size_units *units, enum dft_finding_code code,
                      struct sum *sum)
{
    for (size_t i = 0; i < units->count; i++) {
        struct dft_size_unit *unit = &units->list[i];
        uint64_t unit_ns = 0;

        if (is_reported(rules, unit))
            continue;
        for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++)
            add_size(rules, units, unit, code, sum, size, &unit_ns);
        sum->units += unit_ns != 0;
        unit->reported_by |= (uint64_t)(unit_ns != 0) << code;
    }
}

/* --- what is said ----------------------------------------------------------------------------- */

static int say_title(struct dft_finding *finding, enum dft_finding_code code, const struct dft_size_unit *unit)
{
    if (code != DFT_FINDING_ONE_BYTE || unit->flush > 1)
        return dft_finding_say(&finding->title, "small %s", nouns[unit->flow]);
    return dft_finding_say(&finding->title, is_stream(unit) ? "characters %s a stream without buffer" : "1-byte %s",
                           !is_stream(unit)                   ? nouns[unit->flow]
                           : unit->flow == DFT_FLOW_STREAM_IN ? "from"
                                                              : "to");
}

/* Aggregates by file do not tell sizes apart: the file of small requests that takes most time. */
static int say_top(const struct dft_facts *facts, struct dft_finding *finding, const struct sum *sum)
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    int in = dft_flow_is_in(sum->top->flow);

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_FILES) && i < files->count; i++) {
        const struct dft_group *group = &files->groups[i];

        if (group->key.class != (in ? DFT_IO_READ : DFT_IO_WRITE) ||
            group->metrics.dur_sum * 2 < sum->top->sums[sum->size].time_ns ||
            group->metrics.bytes / (group->metrics.count + 1) >= dft_size_class_low((uint8_t)(sum->size + 1)))
            continue;
        finding->where = dft_facts_text(files, group, DFT_BY_FILE);
        if (!finding->where || !*finding->where)
            return finding->where ? 0 : -ENOMEM;
        return dft_finding_say(&finding->evidence, "; most of the time is that of %s%s",
                               dft_facts_files_in(facts, group->key.file), dft_facts_short(facts, finding->where));
    }
    return 0;
}

static int say_where(const struct dft_facts *facts, struct dft_finding *finding, const struct sum *sum)
{
    uint64_t ops = dft_flow_ops(sum->top->flow);
    const struct dft_group *file;

    if (!sum->top->group)
        return 0;
    finding->where = dft_size_unit_where(facts, sum->top, &file);
    if (!finding->where)
        return -ENOMEM;
    finding->line = file ? dft_facts_line(facts, DFT_BY_FILE, file->key.file, ops)
                         : dft_facts_line(facts, DFT_BY_PATTERN, sum->top->pattern, ops);
    return *finding->where ? dft_finding_say(&finding->evidence, "%s: ", dft_facts_short(facts, finding->where)) : 0;
}

/* In older traces the first access of an open file is a random one, wherever it lies. */
static int say_order(struct dft_finding *finding, const struct sum *sum, const struct dft_size_sum *all)
{
    char share[DFT_TEXT_ROOM];
    uint64_t opens = sum->top->opens,
             in_order = all->in_order + opens < all->placed ? all->in_order + opens : all->placed;

    if (is_stream(sum->top) || all->placed <= opens)
        return 0;
    if (in_order >= all->placed - all->placed / 100)
        return dft_finding_say(&finding->evidence, ", all sequential");
    return dft_finding_say(&finding->evidence, ", %s sequential", dft_text_share(share, in_order, all->placed));
}

static const char *round_bytes(char *text, uint64_t bytes)
{
    if (bytes < 1024 || bytes % 1024)
        return dft_text_bytes(text, bytes);
    snprintf(text, DFT_TEXT_ROOM, "%llu KiB", (unsigned long long)bytes / 1024);
    return text;
}

static int say_evidence(struct dft_rules *rules, struct dft_finding *finding, const struct sum *sum)
{
    const struct dft_size_sum *all = &sum->top->sums[sum->size];
    uint64_t request = dft_limit(rules, sum->top->flow == DFT_FLOW_WRITE ? DFT_LIMIT_SMALL_WRITES_REQUEST
                                                                         : DFT_LIMIT_SMALL_READS_REQUEST);
    uint64_t calls = dft_sizes_calls(sum->top, all, request);
    int is_apart = dft_sizes_are_apart(all);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    int rc = say_where(rules->facts, finding, sum);

    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s %s of %s", dft_text_count(a, all->calls), nouns[sum->top->flow],
                             dft_text_bytes(b, (all->bytes + all->calls / 2) / all->calls));
    if (!rc)
        rc = say_order(finding, sum, all);
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ", %s, %s each; %s%s%s %s call%s", dft_text_ns(a, all->time_ns),
                             dft_text_ns(b, all->time_ns / all->calls), is_apart ? "as a whole, by " : "with a ",
                             round_bytes(c, request), is_apart ? "," : " buffer", dft_text_count(d, calls),
                             calls == 1 ? "" : "s");
    if (!rc && sum->top->flush > 1)
        rc = dft_finding_say(&finding->evidence, "; a system call moves %s: %s", dft_text_bytes(a, sum->top->flush),
                             dft_flow_is_in(sum->top->flow) ? "the buffer is small"
                                                            : "the stream flushes each line, or its buffer is small");
    if (!rc && !sum->top->group)
        rc = say_top(rules->facts, finding, sum);
    if (!rc && sum->units > 1)
        rc = dft_finding_say(&finding->evidence, "; and other files, %s in all", dft_text_ns(a, sum->lost_ns));
    return rc;
}

static int say_sure(struct dft_rules *rules, const struct dft_size_units *units, struct dft_finding *finding,
                    const struct sum *sum)
{
    const struct dft_size_sum *all = &sum->top->sums[sum->size], *large = &units->large[sum->top->flow];
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    finding->sure = DFT_SURE_HIGH;
    if (sum->yardstick == DFT_YARD_SAME_FILES)
        return dft_finding_say(&finding->why_sure, "larger requests of the same files were faster by so much");
    if (all->time_ns / all->calls < dft_limit(rules, DFT_LIMIT_SMALL_READS_CACHED))
        return dft_finding_say(&finding->why_sure, "%s a call: memory answers, and what costs is the calls themselves",
                               dft_text_ns(a, all->time_ns / all->calls));
    finding->sure = DFT_SURE_MEDIUM;
    if (sum->yardstick == DFT_YARD_SAME_RUN)
        return dft_finding_say(&finding->why_sure, "larger requests moved %s in %s, but on other files",
                               dft_text_bytes(a, large->bytes), dft_text_ns(b, large->time_ns));
    if (sum->yardstick == DFT_YARD_WAIT)
        return dft_finding_say(&finding->why_sure,
                               "%s a call: each waits for storage, as with O_SYNC or a network; "
                               "there is no larger write to compare with",
                               dft_text_ns(a, all->time_ns / all->calls));
    return dft_finding_say(&finding->why_sure, "%s a call: storage answers, and a larger request may take longer",
                           dft_text_ns(a, all->time_ns / all->calls));
}

/* A few calls that no device answers. */
static int is_trifle(const struct dft_rules *rules, const struct sum *sum)
{
    return sum->calls < dft_limit(rules, DFT_LIMIT_ONE_BYTE_CALLS) &&
           (!sum->top->sums[sum->size].has_offsets ||
            sum->lost_ns / sum->calls < dft_limit(rules, DFT_LIMIT_SMALL_READS_CACHED));
}

/* A larger buffer is filled for nothing where the stream goes elsewhere before its next call. */
static int advise(struct dft_finding *finding, const struct dft_size_unit *unit)
{
    if (!is_stream(unit) || unit->seeks * 2 <= calls_of(unit))
        return 0;
    return dft_finding_advise(finding,
                              "Use pread and pwrite, or keep to the order of the file: the stream seeks between "
                              "its calls, so a larger buffer would make them slower.");
}

static int say(struct dft_rules *rules, const struct dft_size_units *units, struct dft_finding *finding,
               const struct sum *sum)
{
    int rc = say_title(finding, finding->code, sum->top);

    finding->calls = sum->calls;
    finding->bytes = sum->bytes;
    finding->when = dft_facts_when(rules->facts, sum->ops, sum->sizes, &finding->from_ns, &finding->to_ns);
    if (!rc)
        rc = say_evidence(rules, finding, sum);
    if (!rc)
        rc = say_sure(rules, units, finding, sum);
    if (!rc)
        rc = advise(finding, sum->top);
    return rc ? rc : dft_finding_say_gain(finding);
}

static int look(struct dft_rules *rules, struct dft_size_units *units, enum dft_finding_code code)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_answer *answer = &facts->answers[DFT_FACT_FILES];
    const int has_all_files = facts->has_file_ops && answer->found <= answer->count;
    struct dft_finding *finding;
    struct dft_map files = {0};
    struct sum sum = {0};
    int rc;

    add_units(rules, units, code, &sum);
    if (!sum.top || is_trifle(rules, &sum))
        return 0;
    rc = find_files(rules, units, code, &sum, &files);
    if (!rc)
        rc = dft_rules_add_files(rules, code, has_all_files ? &files : NULL, sum.lost_ns, &finding);
    if (rc > 0) {
        rc = say(rules, units, finding, &sum);
        if (!rc)
            rc = dft_rules_report_files(rules, &files, code);
    }
    dft_map_fini(&files);
    return rc;
}

int dft_rule_sizes(struct dft_rules *rules)
{
    static const enum dft_finding_code codes[] = {DFT_FINDING_ONE_BYTE, DFT_FINDING_SMALL_READS,
                                                  DFT_FINDING_SMALL_WRITES, DFT_FINDING_STREAM};
    struct dft_size_units units;
    int rc = dft_sizes_collect(rules->facts, dft_limit(rules, DFT_LIMIT_SMALL_READS_REQUEST), &units);

    if (!rc)
        look_at_reported(rules, &units);
    for (size_t i = 0; !rc && i < sizeof codes / sizeof *codes; i++)
        rc = look(rules, &units, codes[i]);
    dft_sizes_fini(&units);
    return rc;
}
