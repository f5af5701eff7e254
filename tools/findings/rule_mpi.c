/* SPDX-License-Identifier: MIT */
/* MPI-IO: what of collective calls is not the file system's, how few ranks move the data, and where
 * ranks make small accesses to a shared file that a collective call would put together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/write_text.h"
#include "findings/facts_ranks.h"
#include "findings/rank_sums.h"
#include "findings/reported.h"
#include "findings/rules.h"

#define NAMED 3u

struct collective {
    struct dft_rank_sums calls;           /* collective calls of each rank */
    struct dft_rank_sums data;            /* reads and writes inside */
    const struct dft_group *names[NAMED]; /* those of them with most time, each of another call */
    int is_more;                          /* there are other calls */
    uint64_t from_ns, to_ns;
    uint64_t alone, alone_ns; /* reads and writes of MPI-IO that each rank makes for itself */
    int any;                  /* are there calls of MPI-IO at all? */
};

/* --- collective calls ------------------------------------------------------------------------- */

static void add_name(struct collective *collective, const struct dft_group *group)
{
    const struct dft_metrics *metrics = &group->metrics;
    unsigned i = 0;

    if (!metrics->count)
        return;
    if (!collective->to_ns || metrics->first_start < collective->from_ns)
        collective->from_ns = metrics->first_start;
    collective->to_ns = metrics->last_end > collective->to_ns ? metrics->last_end : collective->to_ns;
    while (i < NAMED && collective->names[i] && collective->names[i]->key.call != group->key.call)
        i++;
    if (i < NAMED && !collective->names[i])
        collective->names[i] = group;
    collective->is_more |= i == NAMED;
}

static int add_calls(const struct dft_facts *facts, struct collective *collective)
{
    const struct dft_answer *regions = &facts->answers[DFT_FACT_REGIONS];
    int rc = 0;

    for (uint32_t i = 0; !rc && dft_facts_has(facts, DFT_FACT_REGIONS) && i < regions->count; i++) {
        const struct dft_group *group = &regions->groups[i];
        struct dft_key_value name;

        dft_group_value(regions, group, DFT_BY_NAME, &name);
        if (name.type != DFT_KEY_TEXT)
            continue;
        if (name.text.length < 9 || memcmp(name.text.bytes, "MPI_File_", 9) != 0)
            continue;
        collective->any = 1;
        if (!dft_is_collective(name.text)) {
            int is_data = memmem(name.text.bytes, name.text.length, "read", 4) ||
                          memmem(name.text.bytes, name.text.length, "write", 5);

            collective->alone += is_data ? group->metrics.count : 0;
            collective->alone_ns += is_data ? group->metrics.dur_sum : 0;
            continue;
        }
        add_name(collective, group);
        rc = dft_rank_sums_add(&collective->calls, dft_facts_rank(regions, group), &group->metrics);
    }
    return rc;
}

static int add_data(const struct dft_facts *facts, struct collective *collective)
{
    const struct dft_answer *inside = &facts->answers[DFT_FACT_RANK_REGIONS];
    int rc = 0;

    for (uint32_t i = 0; !rc && dft_facts_has(facts, DFT_FACT_RANK_REGIONS) && i < inside->count; i++) {
        const struct dft_group *group = &inside->groups[i];

        if (dft_facts_in_collective(inside, group))
            rc = dft_rank_sums_add(&collective->data, dft_facts_rank(inside, group), &group->metrics);
    }
    return rc;
}

static int collect(const struct dft_facts *facts, struct collective *collective)
{
    int rc = add_calls(facts, collective);

    if (!rc)
        rc = add_data(facts, collective);
    dft_rank_sums_sort(&collective->calls);
    dft_rank_sums_sort(&collective->data);
    return rc;
}

static void forget(struct collective *collective)
{
    free(collective->calls.list);
    free(collective->data.list);
}

/* "rank 0", "ranks 0, 16, 32" or "ranks 0, 16, 32 and 5 more". */
static int say_movers(char **text, const struct dft_rank_sums *data)
{
    size_t shown = data->count <= 4 ? data->count : 3;
    int rc = dft_finding_say(text, data->count == 1 ? "rank" : "ranks");

    for (size_t i = 0; !rc && i < shown; i++)
        rc = dft_finding_say(text, "%s %lld", i ? "," : "", (long long)data->list[i].rank);
    return rc || shown == data->count ? rc : dft_finding_say(text, " and %zu more", data->count - shown);
}

static int say_few(struct dft_finding *finding, const struct collective *collective)
{
    const struct dft_rank_sums *data = &collective->data;
    char bytes[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->title, "%zu %s the data of %zu", data->count,
                             data->count == 1 ? "rank moves" : "ranks move", collective->calls.count);

    if (!rc)
        rc = dft_finding_say(&finding->evidence, "all %s moved by ", dft_text_bytes(bytes, data->bytes));
    if (!rc)
        rc = say_movers(&finding->evidence, data);
    finding->rank = data->count == 1 ? data->list[0].rank : -1;
    return rc ? rc
              : dft_finding_say(&finding->evidence, " (%zu aggregator%s for %zu ranks); ", data->count,
                                data->count == 1 ? "" : "s", collective->calls.count);
}

static int say_time(const struct dft_facts *facts, struct dft_finding *finding, const struct collective *collective)
{
    const struct dft_rank_sums *data = &collective->data;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->evidence, "rank %lld is in ", (long long)collective->calls.list[0].rank);

    for (unsigned i = 0; !rc && i < NAMED && collective->names[i]; i++) {
        char *name = dft_facts_text(&facts->answers[DFT_FACT_REGIONS], collective->names[i], DFT_BY_NAME);

        rc = name ? dft_finding_say(&finding->evidence, "%s%s", i ? ", " : "", name) : -ENOMEM;
        free(name);
    }
    return rc ? rc
              : dft_finding_say(&finding->evidence,
                                "%s for %s, against %s in the file system; of %s of all ranks in %s %s is "
                                "waiting and exchange",
                                collective->is_more ? " and others" : "",
                                dft_text_ns(a, collective->calls.list[0].time_ns),
                                dft_text_ns(b, data->count ? data->list[0].time_ns : 0),
                                dft_text_ns(c, collective->calls.time_ns), collective->names[1] ? "these" : "it",
                                dft_text_share(d, finding->cost_ns, collective->calls.time_ns));
}

static int judge(struct dft_rules *rules, const struct collective *collective)
{
    const struct dft_rank_sums *calls = &collective->calls, *data = &collective->data;
    uint64_t waited_ns = calls->time_ns > data->time_ns ? calls->time_ns - data->time_ns : 0;
    int few = data->count && data->count * dft_limit(rules, DFT_LIMIT_AGGREGATORS_RANKS) <= calls->count;
    enum dft_finding_code code = few ? DFT_FINDING_AGGREGATORS : DFT_FINDING_COLLECTIVE;
    struct dft_finding *finding;
    uint64_t count = 0, longest_ns = 0;
    int rc;

    for (size_t i = 0; i < calls->count; i++) {
        count += calls->list[i].calls;
        longest_ns = calls->list[i].time_ns > longest_ns ? calls->list[i].time_ns : longest_ns;
    }
    if (calls->count < 2 || waited_ns < calls->time_ns / 1000 * dft_limit(rules, DFT_LIMIT_COLLECTIVE_SHARE))
        return 0;
    if (!few && data->bytes >= count * dft_limit(rules, DFT_LIMIT_COLLECTIVE_REQUEST))
        return 0;
    rc = dft_rules_add(rules, code, waited_ns, rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->cost_job_ns = finding->cost_job_ns < longest_ns ? finding->cost_job_ns : longest_ns;
    finding->bytes = data->bytes;
    finding->calls = count;
    finding->from_ns = collective->from_ns;
    finding->to_ns = collective->to_ns;
    rc = few ? say_few(finding, collective) : dft_finding_say(&finding->title, "collective I/O waits");
    if (!rc)
        rc = say_time(rules->facts, finding, collective);
    return rc ? rc
              : dft_finding_say(&finding->why_sure,
                                "the time is measured; a rank that comes late makes the others wait, too");
}

/* --- a pattern that asks for collective calls -------------------------------------------------- */

/* What a rank accesses in one piece: requests that follow each other are one to the file system.
 * Where MPI-IO is called anyhow, a request is: a collective call takes no more than another word. */
static uint64_t piece_of(const struct dft_shared_file *file, int by_mpi)
{
    uint64_t pieces = by_mpi ? file->data : file->apart;

    return file->bytes / (pieces ? pieces : 1);
}

int dft_shared_is_interleaved(const struct dft_rules *rules, const struct dft_shared_file *file, int by_mpi)
{
    uint64_t extent = file->high > file->low ? (uint64_t)(file->high - file->low) : 0;

    return file->ranks > 1 && file->data &&
           piece_of(file, by_mpi) <= dft_limit(rules, DFT_LIMIT_NO_COLLECTIVE_REQUEST) &&
           file->random * 1000 < file->data * dft_limit(rules, DFT_LIMIT_RANDOM_SHARE) &&
           file->spans >= extent + extent / 2 && file->bytes <= extent + extent / 2;
}

static int add_independent(struct dft_rules *rules, const struct dft_shared_file *file)
{
    const struct dft_answer *files = &rules->facts->answers[DFT_FACT_RANK_FILES];
    const struct dft_group group = {.key = {.file = file->file}};
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    struct dft_finding *finding;
    int rc = dft_rules_add(rules, DFT_FINDING_NO_COLLECTIVE, file->time_ns, rules->facts->total_ns, &finding);

    if (rc <= 0 || dft_rules_report(rules, file->file, DFT_FINDING_NO_COLLECTIVE))
        return rc <= 0 ? rc : -ENOMEM;
    finding->calls = file->data;
    finding->bytes = file->bytes;
    finding->files = 1;
    finding->where = dft_facts_text(files, &group, DFT_BY_FILE);
    if (!finding->where)
        return -ENOMEM;
    rc = dft_finding_say(&finding->title, "no collective I/O on a shared file");
    if (!rc)
        rc = dft_finding_say(
            &finding->evidence, "%s: %u ranks %s %s in %s pieces of %s that lie between each other, %s", finding->where,
            file->ranks, file->class == DFT_IO_READ ? "read" : "write", dft_text_bytes(a, file->bytes),
            dft_text_count(b, file->data), dft_text_bytes(c, file->bytes / file->data), dft_text_ns(d, file->time_ns));
    return rc ? rc
              : dft_finding_say(&finding->why_sure,
                                "the pattern is measured; the exchange between ranks costs something, too");
}

static int judge_files(struct dft_rules *rules, const struct collective *collective)
{
    struct dft_shared_file *list;
    size_t count;
    int rc = dft_facts_shared(rules->facts, &list, &count), written = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        written |= list[i].ranks > 1;
        if (collective->data.time_ns < list[i].time_ns / 2 &&
            list[i].bytes >= dft_limit(rules, DFT_LIMIT_NO_COLLECTIVE_BYTES) &&
            dft_shared_is_interleaved(rules, &list[i],
                                      collective->alone_ns >= list[i].time_ns / 2 && collective->alone))
            rc = add_independent(rules, &list[i]);
    }
    free(list);
    if (!rc && written && !collective->any)
        rc = dft_rules_skip(
            rules, UINT64_C(1) << DFT_FINDING_AGGREGATORS | UINT64_C(1) << DFT_FINDING_COLLECTIVE,
            "ranks share files, and no call of MPI-IO was seen (DFTRACER_WEAVE=mpiio shows those of an MPI that is "
            "loaded later)");
    return rc;
}

/* --- what is said of every job ------------------------------------------------------------------ */

#define SHARED (UINT64_C(1) << 63)
#define DATA   (UINT64_C(1) << 62)

/* Files that are read or written, and whether several ranks use them: a collective call moves data
 * of all ranks, though one rank alone may write. */
static int count_files(const struct dft_facts *facts, size_t *shared, size_t *own)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_RANK_FILES];
    struct dft_map files = {0}; /* rank + 1, and the above */
    int rc = 0;

    for (uint32_t i = 0; !rc && dft_facts_has(facts, DFT_FACT_RANK_FILES) && i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        uint64_t rank = (uint64_t)(dft_facts_rank(answer, group) + 1), *value = NULL;

        if (rank)
            value = dft_map_put(&files, dft_map_join(group->key.file, 0));
        rc = value || !rank ? 0 : -ENOMEM;
        if (!value)
            continue;
        *value |= group->key.class == DFT_IO_READ || group->key.class == DFT_IO_WRITE ? DATA : 0;
        *value |= *value << 2 && *value << 2 >> 2 != rank ? SHARED : rank;
    }
    *shared = *own = 0;
    for (size_t i = 0; i < files.capacity; i++) {
        *shared += files.slots[i].value >> 62 == 3;
        *own += files.slots[i].value >> 62 == 1;
    }
    dft_map_fini(&files);
    return rc;
}

static int note_files(const struct dft_facts *facts, char **text)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_RANK_FILES];
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    size_t shared, own;
    int rc = count_files(facts, &shared, &own);

    if (rc || !(shared + own))
        return rc;
    return dft_finding_say(text, "files that ranks read or write: %s%s shared, %s of one rank alone",
                           answer->found > answer->count ? "at least " : "", dft_text_count(a, shared),
                           dft_text_count(b, own));
}

static int note_calls(const struct collective *collective, char **note)
{
    const struct dft_rank_sums *calls = &collective->calls, *data = &collective->data;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    uint64_t count = 0;
    int rc;

    for (size_t i = 0; i < calls->count; i++)
        count += calls->list[i].calls;
    rc = dft_finding_say(note, "%sMPI-IO: %s collective calls, %s; %s independent ones, %s", *note ? "; " : "",
                         dft_text_count(a, count), dft_text_ns(b, calls->time_ns), dft_text_count(c, collective->alone),
                         dft_text_ns(d, collective->alone_ns));
    if (rc || !data->count)
        return rc;
    rc = dft_finding_say(note, "; collective data moved by ");
    if (!rc)
        rc = say_movers(note, data);
    return rc ? rc
              : dft_finding_say(note, ": %s, %s in the file system", dft_text_bytes(a, data->bytes),
                                dft_text_ns(b, data->time_ns));
}

static int note(struct dft_rules *rules, const struct collective *collective)
{
    char *text = NULL;
    int rc = note_files(rules->facts, &text);

    if (!rc && collective->any)
        rc = note_calls(collective, &text);
    if (!rc && text)
        rc = dft_rules_note(rules, text);
    free(text);
    return rc;
}

int dft_rule_mpi(struct dft_rules *rules)
{
    struct collective collective = {0};
    int rc = collect(rules->facts, &collective);

    if (!rc && collective.names[0])
        rc = judge(rules, &collective);
    if (!rc)
        rc = judge_files(rules, &collective);
    if (!rc)
        rc = note(rules, &collective);
    forget(&collective);
    return rc;
}
