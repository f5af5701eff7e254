/* SPDX-License-Identifier: MIT */
/* Risks: what would be slow on a parallel file system, though it is not here. Each is a pattern of
 * requests that a client of such a file system cannot put together, so that a server has to answer
 * them one by one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/saturate.h"
#include "base/write_text.h"
#include "findings/facts_ranks.h"
#include "findings/rank_sums.h"
#include "findings/reported.h"
#include "findings/risks.h"
#include "findings/rules.h"
#include "findings/sizes.h"

/* Adds a risk: so many round trips, and `bytes` that take longer than these. `where` becomes the
 * risk's, or is freed. Returns 1 and *risk for the caller to complete; 0: it would cost little, or a
 * finding reports it; or -ENOMEM. */
static int add_moved(struct dft_rules *rules, enum dft_finding_code code, uint64_t trips, uint64_t bytes, char *where,
                     struct dft_risk **risk)
{
    struct dft_findings *findings = rules->findings;
    uint64_t moving_ns = dft_uint_of((double)bytes * 1e9 / (double)dft_limit(rules, DFT_LIMIT_RISK_RATE));
    uint64_t at_ns = trips * dft_limit(rules, DFT_LIMIT_RISK_TRIP) + moving_ns;
    uint64_t of_ns =
        code == DFT_FINDING_IMBALANCE ? rules->facts->wall_ns : rules->facts->total_ns; /* all wait for one */
    int rc = where ? 0 : -ENOMEM;

    if (!rc && !(rules->limits->off >> code & 1) && !dft_rules_has(rules, code) &&
        at_ns >= of_ns / 1000 * dft_limit(rules, DFT_LIMIT_ANY_SHARE)) {
        rc = DFT_ARRAY_PUSH(
            findings->risks, findings->risks_capacity, findings->nrisks,
            (struct dft_risk){
                .code = code, .trips = trips, .at_ns = at_ns, .of_ns = of_ns, .rank = -1, .where = where});
        *risk = rc ? NULL : &findings->risks[findings->nrisks - 1];
        rc = rc ? rc : 1;
    }
    if (rc <= 0)
        free(where);
    return rc;
}

static int add(struct dft_rules *rules, enum dft_finding_code code, uint64_t trips, char *where, struct dft_risk **risk)
{
    return add_moved(rules, code, trips, 0, where, risk);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Requests of one way on files that are alike. */
struct requests {
    uint64_t small, small_bytes; /* below a page; or between others that are elsewhere */
    uint64_t random, random_bytes;
};

/* What goes back alone is not at random: see judge_order of rule_reads.c. */
static struct requests count_requests(const struct dft_rules *rules, const struct dft_size_unit *unit)
{
    const uint64_t tiny = dft_limit(rules, DFT_LIMIT_SMALL_READS_TINY),
                   request = dft_limit(rules, DFT_LIMIT_SMALL_READS_REQUEST),
                   share = dft_limit(rules, DFT_LIMIT_RANDOM_SHARE);
    struct requests requests = {0};

    for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++) {
        const struct dft_size_sum *sum = &unit->sums[size];
        uint64_t low = dft_size_class_low((uint8_t)size), apart = sum->placed - sum->in_order, each;
        uint64_t forth = apart > sum->random ? apart - sum->random : 0;
        int goes_back = sum->random * 1000 >= sum->placed * share, is_random = goes_back && forth * 4 >= sum->random;

        each = sum->calls ? (sum->bytes + sum->calls / 2) / sum->calls : 0; /* the last read may find the end */
        if (!each || !sum->placed)
            continue;
        if (is_random && low <= dft_limit(rules, DFT_LIMIT_RANDOM_REQUEST)) {
            requests.random += apart;
            requests.random_bytes += apart * each;
        }
        if (low < tiny || (low < request && !is_random)) {
            uint64_t small = low < tiny ? sum->placed : goes_back ? forth : apart;

            requests.small += small;
            requests.small_bytes += small * each;
        }
    }
    return requests;
}

static int say_requests(struct dft_rules *rules, const struct dft_size_unit *unit, enum dft_finding_code code,
                        uint64_t trips, uint64_t bytes)
{
    const char *noun = unit->flow == DFT_FLOW_READ ? "reads" : "writes";
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    const struct dft_group *file;
    struct dft_risk *risk;
    int rc;

    if (trips < dft_limit(rules, DFT_LIMIT_RISK_REQUESTS))
        return 0;
    if (bytes / trips * 2 > (uint64_t)unit->end) /* not the requests are small, but the files */
        return 0;
    rc = add(rules, code, trips, dft_size_unit_where(rules->facts, unit, &file), &risk);
    if (rc <= 0)
        return rc;
    rc = dft_finding_say(&risk->title, "%s %s", code == DFT_FINDING_RANDOM ? "random" : "small", noun);
    return rc ? rc
              : dft_finding_say(&risk->evidence, "%s %s of %s%s within %s", dft_text_count(a, trips), noun,
                                dft_text_bytes(b, (bytes + trips / 2) / trips),
                                code == DFT_FINDING_RANDOM ? " at random places" : "",
                                dft_text_bytes(c, (uint64_t)unit->end));
}

static int look_at_requests(struct dft_rules *rules)
{
    struct dft_size_units units;
    int rc = dft_sizes_collect(rules->facts, dft_limit(rules, DFT_LIMIT_SMALL_READS_REQUEST), &units);

    for (size_t i = 0; !rc && i < units.count; i++) {
        const struct dft_size_unit *unit = &units.list[i];
        enum dft_finding_code small = unit->flow == DFT_FLOW_READ ? DFT_FINDING_SMALL_READS : DFT_FINDING_SMALL_WRITES;
        struct requests requests = count_requests(rules, unit);

        if ((unit->flow != DFT_FLOW_READ && unit->flow != DFT_FLOW_WRITE) || unit->end < 0) /* a stream has a buffer */
            continue;
        rc = say_requests(rules, unit, small, requests.small, requests.small_bytes);
        if (!rc && (uint64_t)unit->end >= dft_limit(rules, DFT_LIMIT_RISK_BIG))
            rc = say_requests(rules, unit, DFT_FINDING_RANDOM, requests.random, requests.random_bytes);
    }
    dft_sizes_fini(&units);
    return rc;
}

/* Requests that begin inside a block touch one block more than they need. */
static int look_at_alignment(struct dft_rules *rules)
{
    const struct dft_access_class *classes = rules->facts->accesses.classes;
    const uint64_t most = dft_limit(rules, DFT_LIMIT_NO_COLLECTIVE_REQUEST);
    uint64_t calls[2] = {0};
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    struct dft_risk *risk;
    int rc;

    for (unsigned i = 0; classes && i < 2 * DFT_SIZE_CLASSES; i++)
        for (unsigned is_misaligned = 0; is_misaligned < 2; is_misaligned++)
            if (dft_size_class_low((uint8_t)(i % DFT_SIZE_CLASSES)) < most)
                calls[is_misaligned] += classes[i].calls[is_misaligned];
    if (calls[1] < dft_limit(rules, DFT_LIMIT_RISK_REQUESTS) || calls[1] <= calls[0])
        return 0;
    rc = add(rules, DFT_FINDING_MISALIGNED, calls[1], dft_text_escaped("", 0), &risk);
    if (rc <= 0)
        return rc;
    rc = dft_finding_say(&risk->title, "misaligned requests");
    return rc ? rc
              : dft_finding_say(&risk->evidence, "%s of %s requests of 4 KiB and more begin inside a block of 4 KiB",
                                dft_text_count(a, calls[1]), dft_text_count(b, calls[0] + calls[1]));
}

/* --- calls that a server answers --------------------------------------------------------------- */

static int look_at_syncs(struct dft_rules *rules)
{
    const struct dft_answer *calls = &rules->facts->answers[DFT_FACT_CALLS];
    uint64_t syncs = 0, processes = dft_facts_syncing(rules->facts);
    const struct dft_answer *known = &rules->facts->answers[DFT_FACT_PROCESSES];
    const char *is_most = known->found > known->count ? "at most " : "";
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    struct dft_risk *risk;
    int rc;

    for (uint32_t i = 0; i < calls->count; i++)
        syncs += calls->groups[i].key.class == DFT_IO_SYNC ? calls->groups[i].metrics.count : 0;
    if (syncs / processes < dft_limit(rules, DFT_LIMIT_FSYNC_CALLS))
        return 0;
    rc = add(rules, DFT_FINDING_FSYNC, syncs, dft_text_escaped("", 0), &risk);
    if (rc <= 0)
        return rc;
    rc = dft_finding_say(&risk->title, "data made durable often");
    return rc ? rc
              : dft_finding_say(&risk->evidence, "%s calls by %s%s process%s", dft_text_count(a, syncs), is_most,
                                dft_text_count(b, processes), processes == 1 ? "" : "es");
}

/* Opens, changes and stats of files that are opened or changed at all: what is only looked at is
 * mostly what is installed. */
static uint64_t count_metadata(const struct dft_file_place *dir)
{
    uint64_t calls = dir->kinds[DFT_PLACE_OPENS].calls;

    for (unsigned i = DFT_PLACE_REMOVALS; i <= DFT_PLACE_CHANGES; i++)
        calls += dir->kinds[i].calls;
    return calls ? calls + dir->kinds[DFT_PLACE_STATS].calls + dir->kinds[DFT_PLACE_LOOKUPS].calls : 0;
}

/* The directories' risks of one kind. `number`: of struct dft_file_place, chooses the directory that is named. */
struct place_risk {
    enum dft_finding_code code;
    const char *title, *what;
    size_t number;
};

static struct dft_place_sum sum_below(const struct dft_places *dirs, enum dft_finding_code code, struct dft_text above)
{
    struct dft_place_sum sum = {0}, metadata = {0};

    for (size_t i = 0; i < dirs->count; i++) {
        const struct dft_file_place *dir = &dirs->list[i];

        if (above.length && !dft_place_is_below(dir->text, above))
            continue;
        metadata.calls = count_metadata(dir);
        metadata.files = metadata.calls ? dir->meta.files : 0;
        dft_place_sum_add(&sum, code == DFT_FINDING_SMALL_FILES ? &dir->small
                                : code == DFT_FINDING_MISSING   ? &dir->lost
                                                                : &metadata);
    }
    return sum;
}

/* `all` of them; what is not in the directory that is named is counted apart. */
static int say_places(struct dft_rules *rules, const struct place_risk *kind, struct dft_place_sum all)
{
    struct dft_text where = dft_places_common(&rules->facts->places.dirs, kind->number);
    struct dft_place_sum below = where.length ? sum_below(&rules->facts->places.dirs, kind->code, where) : all;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    struct dft_risk *risk;
    int rc = add(rules, kind->code, all.calls, dft_text_escaped(where.length ? where.bytes : "", where.length), &risk);

    if (rc <= 0)
        return rc;
    rc = dft_finding_say(&risk->title, "%s", kind->title) ||
                 dft_finding_say(&risk->evidence, "%s %s, %s files", dft_text_count(a, below.calls), kind->what,
                                 dft_text_count(b, below.files))
             ? -ENOMEM
             : 0;
    return rc || below.calls == all.calls
               ? rc
               : dft_finding_say(&risk->evidence, "; %s elsewhere", dft_text_count(a, all.calls - below.calls));
}

static int look_at_places(struct dft_rules *rules)
{
    static const struct place_risk kinds[] = {
        {DFT_FINDING_SMALL_FILES, "many small files", "calls", offsetof(struct dft_file_place, small.calls)},
        {DFT_FINDING_MISSING, "missing files asked for", "lookups fail", offsetof(struct dft_file_place, lost.calls)},
        {DFT_FINDING_METADATA, "many metadata calls", "opens, stats and changes",
         offsetof(struct dft_file_place, meta.calls)}};
    const uint64_t processes = rules->facts->processes + !rules->facts->processes;
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < sizeof kinds / sizeof *kinds; i++) {
        const enum dft_finding_code code = kinds[i].code;
        const struct dft_place_sum all = sum_below(&rules->facts->places.dirs, code, (struct dft_text){"", 0});

        if (code == DFT_FINDING_SMALL_FILES ? all.files >= dft_limit(rules, DFT_LIMIT_SMALL_FILES_FILES)
            : code == DFT_FINDING_MISSING   ? all.calls / processes >= dft_limit(rules, DFT_LIMIT_MISSING_CALLS)
                                            : all.calls >= dft_limit(rules, DFT_LIMIT_METADATA_CALLS))
            rc = say_places(rules, &kinds[i], all);
    }
    return rc < 0 ? rc : 0;
}

/* --- ranks ------------------------------------------------------------------------------------ */

static int say_shared(struct dft_rules *rules, const struct dft_shared_file *file)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    struct dft_risk *risk;
    int rc = add(rules, DFT_FINDING_NO_COLLECTIVE, file->data, dft_facts_file_text(rules->facts, file->file), &risk);

    if (rc <= 0)
        return rc;
    rc = dft_finding_say(&risk->title, "no collective I/O on a shared file");
    return rc ? rc
              : dft_finding_say(&risk->evidence, "%u ranks %s %s pieces of %s that lie between each other, %s in all",
                                file->ranks, file->class == DFT_IO_READ ? "read" : "write",
                                dft_text_count(a, file->data), dft_text_bytes(b, file->bytes / file->data),
                                dft_text_bytes(c, file->bytes));
}

static int look_at_shared(struct dft_rules *rules)
{
    struct dft_shared_file *list;
    size_t count;
    int rc = dft_facts_shared(rules->facts, &list, &count);

    for (size_t i = 0; !rc && i < count; i++)
        if (dft_shared_is_interleaved(rules, &list[i], 0))
            rc = say_shared(rules, &list[i]);
    free(list);
    return rc;
}

static int descending(const void *left, const void *right)
{
    const struct dft_rank_sum *a = left, *b = right;

    DFT_ORDER(b->bytes, a->bytes);
    DFT_ORDER(a->rank, b->rank);
    return 0;
}

/* What each rank moves; inside of collective calls it moves for the others. */
static int sum_bytes(const struct dft_facts *facts, struct dft_rank_sums *sums)
{
    const struct dft_answer *processes = &facts->answers[DFT_FACT_PROCESSES];
    const struct dft_answer *inside = &facts->answers[DFT_FACT_RANK_REGIONS];
    int rc = 0;

    for (uint32_t i = 0; !rc && i < processes->count; i++)
        if (processes->groups[i].key.class == DFT_IO_READ || processes->groups[i].key.class == DFT_IO_WRITE)
            rc = dft_rank_sums_add(sums, dft_facts_rank(processes, &processes->groups[i]),
                                   &processes->groups[i].metrics);
    for (uint32_t i = 0; !rc && dft_facts_has(facts, DFT_FACT_RANK_REGIONS) && i < inside->count; i++)
        if (dft_facts_in_collective(inside, &inside->groups[i]))
            dft_rank_sums_take(sums, dft_facts_rank(inside, &inside->groups[i]), &inside->groups[i].metrics);
    if (sums->count)
        qsort(sums->list, sums->count, sizeof *sums->list, descending);
    return rc;
}

/* A rank that moves more than the one in the middle: the others wait for it at the next barrier,
 * where moving takes time. */
static int look_at_ranks(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    struct dft_rank_sums sums = {0};
    struct dft_rank_sum top = {0}, middle = {0};
    struct dft_risk *risk;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int rc = sum_bytes(facts, &sums);

    if (!rc && sums.count) {
        top = sums.list[0];
        middle = facts->ranks / 2 < sums.count ? sums.list[facts->ranks / 2] : middle;
    }
    free(sums.list);
    if (rc || top.bytes < middle.bytes / 1000 * dft_limit(rules, DFT_LIMIT_IMBALANCE_FACTOR) ||
        top.bytes - middle.bytes < dft_limit(rules, DFT_LIMIT_RISK_BYTES) || top.calls <= middle.calls)
        return rc;
    rc = add_moved(rules, DFT_FINDING_IMBALANCE, top.calls - middle.calls, top.bytes - middle.bytes,
                   dft_text_escaped("", 0), &risk);
    if (rc <= 0)
        return rc;
    risk->rank = top.rank;
    rc = dft_finding_say(&risk->title, "rank %lld moves more", (long long)top.rank);
    return rc ? rc
              : dft_finding_say(&risk->evidence, "%s, a rank in the middle %s", dft_text_bytes(a, top.bytes),
                                dft_text_bytes(b, middle.bytes));
}

/* --- all -------------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const struct dft_risk *a = left, *b = right;

    DFT_ORDER(b->at_ns, a->at_ns);
    DFT_ORDER(a->code, b->code);
    return strcmp(a->where, b->where);
}

void dft_risk_fini(struct dft_risk *risk)
{
    free(risk->title);
    free(risk->where);
    free(risk->evidence);
}

/* One of a kind: the largest. */
static void thin(struct dft_findings *findings)
{
    uint64_t seen = 0;
    size_t kept = 0;

    if (findings->nrisks)
        qsort(findings->risks, findings->nrisks, sizeof *findings->risks, by_time);
    for (size_t i = 0; i < findings->nrisks; i++) {
        if (seen >> findings->risks[i].code & 1)
            dft_risk_fini(&findings->risks[i]);
        else
            findings->risks[kept++] = findings->risks[i];
        seen |= UINT64_C(1) << findings->risks[kept - 1].code;
    }
    findings->nrisks = kept;
}

int dft_risks_make(struct dft_rules *rules)
{
    dft_rule_fn *const kinds[] = {look_at_requests, look_at_alignment, look_at_syncs,
                                  look_at_places,   look_at_shared,    look_at_ranks};
    int rc = 0;

    if (rules->facts->lacks & DFT_LACKS_CALLS || rules->limits->off >> DFT_FINDING_RISK & 1)
        return 0;
    for (size_t i = 0; !rc && i < sizeof kinds / sizeof *kinds; i++)
        rc = kinds[i](rules);
    thin(rules->findings);
    return rc;
}
