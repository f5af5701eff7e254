/* SPDX-License-Identifier: MIT */
/* A file of its own for each rank, or for each rank and phase: files whose number grows with the
 * job. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/write_text.h"
#include "findings/facts_ranks.h"
#include "findings/reported.h"
#include "findings/rules.h"

/* Files of one pattern that one rank alone writes each. */
struct own_files {
    uint64_t pattern, files, bytes, calls, time_ns, meta_ns, ranks;
};

struct explosion {
    struct dft_map writers;  /* file -> rank + 1; 0: several */
    struct dft_map ranks;    /* pattern and rank -> 1 */
    struct dft_map ends;     /* file -> highest end of a write */
    struct dft_map patterns; /* pattern -> number in the list + 1 */
    struct own_files *list;
    size_t count, capacity;
};

static int find_writers(const struct dft_facts *facts, struct explosion *explosion)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_RANK_FILES];

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        int64_t rank = dft_facts_rank(answer, group);
        uint64_t *writer, *end, before = explosion->writers.count;

        if (rank < 0 || group->key.class != DFT_IO_WRITE || group->metrics.offset_max <= 0)
            continue;
        writer = dft_map_put(&explosion->writers, group->key.file);
        end = dft_map_put(&explosion->ends, group->key.file);
        if (!writer || !end)
            return -ENOMEM;
        *writer = explosion->writers.count > before ? (uint64_t)rank + 1 : 0;
        *end = (uint64_t)group->metrics.offset_max > *end ? (uint64_t)group->metrics.offset_max : *end;
    }
    return 0;
}

/* All its calls are in another finding. */
static int is_told(const struct dft_rules *rules, uint64_t file)
{
    enum dft_finding_code code = dft_rules_reported(rules, file);

    return code == DFT_FINDING_SMALL_FILES || code == DFT_FINDING_REOPENED || code == DFT_FINDING_SAVES;
}

static int add_file(const struct dft_rules *rules, struct explosion *explosion, uint64_t file, uint64_t rank)
{
    uint64_t pattern = dft_facts_pattern(rules->facts, file), *number, *of_rank;
    struct own_files *own;
    int rc = 0;

    if (!pattern || is_told(rules, file))
        return 0;
    number = dft_map_put(&explosion->patterns, pattern);
    of_rank = dft_map_put(&explosion->ranks, dft_map_join(pattern, rank));
    if (!number || !of_rank)
        return -ENOMEM;
    if (!*number) {
        rc = DFT_ARRAY_PUSH(explosion->list, explosion->capacity, explosion->count,
                            (struct own_files){.pattern = pattern});
        *number = explosion->count;
    }
    if (rc)
        return rc;
    own = &explosion->list[*number - 1];
    own->files++;
    own->bytes += *dft_map_find(&explosion->ends, file);
    own->ranks += !*of_rank;
    *of_rank = 1;
    return 0;
}

/* What makes, moves and removes them; of the data what no finding has. */
static void add_calls(const struct dft_rules *rules, struct explosion *explosion)
{
    const struct dft_answer *answer = &rules->facts->answers[DFT_FACT_RANK_FILES];

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        const uint64_t *writer = group->key.file ? dft_map_find(&explosion->writers, group->key.file) : NULL, *number;
        int is_meta = group->key.class == DFT_IO_META,
            is_data = group->key.class == DFT_IO_READ || group->key.class == DFT_IO_WRITE;
        struct own_files *own;

        if (!writer || !*writer || is_told(rules, group->key.file) || (!is_meta && !is_data) ||
            (is_data && dft_rules_reported(rules, group->key.file) != DFT_FINDINGS))
            continue;
        number = dft_map_find(&explosion->patterns, dft_facts_pattern(rules->facts, group->key.file));
        if (!number)
            continue;
        own = &explosion->list[*number - 1];
        own->calls += group->metrics.count;
        own->time_ns += group->metrics.dur_sum;
        own->meta_ns += is_meta ? group->metrics.dur_sum : 0;
    }
}

/* Has nearly every rank a file, and are there many ranks, or many files of each? */
static int is_explosion(const struct dft_rules *rules, const struct own_files *own)
{
    uint64_t most = dft_limit(rules, DFT_LIMIT_FILE_EXPLOSION_SIZE);

    return own->ranks > 1 && own->ranks * 10 >= rules->facts->ranks * UINT64_C(9) && own->bytes / own->files < most &&
           (own->ranks >= dft_limit(rules, DFT_LIMIT_FILE_EXPLOSION_RANKS) ||
            own->files >= own->ranks * dft_limit(rules, DFT_LIMIT_FILE_EXPLOSION_FILES));
}

static int say(struct dft_rules *rules, struct dft_finding *finding, const struct own_files *top)
{
    const struct dft_answer *files = &rules->facts->answers[DFT_FACT_RANK_FILES];
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->title,
                             top->files > top->ranks ? "files of each rank and phase" : "a file of each rank");

    if (!rc)
        rc = dft_finding_say(&finding->evidence,
                             "%s: %s%s files of %s, each written by one of %s ranks; %s to make, move and remove them",
                             dft_facts_short(rules->facts, finding->where),
                             files->found > files->count ? "at least " : "", dft_text_count(a, top->files),
                             dft_text_bytes(b, top->bytes / top->files), dft_text_count(c, top->ranks),
                             dft_text_ns(d, top->time_ns));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ", %s of it metadata", dft_text_share(a, top->meta_ns, top->time_ns));
    finding->sure = top->meta_ns * 2 > top->time_ns ? DFT_SURE_MEDIUM : DFT_SURE_LOW;
    return rc ? rc
              : dft_finding_say(&finding->why_sure, finding->sure == DFT_SURE_LOW
                                                        ? "most of the time is reading and writing"
                                                        : "opening and closing takes longer than reading and writing");
}

static int find_files(const struct dft_rules *rules, const struct explosion *explosion, struct dft_map *files)
{
    int rc = 0;

    for (size_t i = 0; i < explosion->writers.capacity && !rc; i++) {
        uint64_t file = explosion->writers.slots[i].key;
        const uint64_t *number;

        if (!file || !explosion->writers.slots[i].value || is_told(rules, file))
            continue;
        number = dft_map_find(&explosion->patterns, dft_facts_pattern(rules->facts, file));
        if (number && is_explosion(rules, &explosion->list[*number - 1]))
            rc = dft_map_put(files, file) ? 0 : -ENOMEM;
    }
    return rc;
}

/* Returns 0, -ENOMEM, or 1 and the finding, which these files are in. */
static int add_files(struct dft_rules *rules, const struct explosion *explosion, uint64_t cost_ns,
                     struct dft_finding **finding)
{
    struct dft_map files = {0};
    int rc = find_files(rules, explosion, &files);

    if (!rc)
        rc = dft_rules_add_reported(rules, DFT_FINDING_FILE_EXPLOSION, &files, cost_ns, finding);
    dft_map_fini(&files);
    return rc;
}

static int add(struct dft_rules *rules, const struct explosion *explosion)
{
    struct own_files sum = {0};
    const struct own_files *top = NULL;
    struct dft_finding *finding;
    int rc;

    for (size_t i = 0; i < explosion->count; i++) {
        const struct own_files *own = &explosion->list[i];

        if (!is_explosion(rules, own))
            continue;
        sum.files += own->files;
        sum.bytes += own->bytes;
        sum.calls += own->calls;
        sum.time_ns += own->time_ns;
        if (!top || own->time_ns > top->time_ns || (own->time_ns == top->time_ns && own->pattern < top->pattern))
            top = own;
    }
    rc = top ? add_files(rules, explosion, sum.time_ns, &finding) : 0;
    if (rc <= 0)
        return rc;
    finding->files = sum.files;
    finding->bytes = sum.bytes;
    finding->calls = sum.calls;
    finding->where = dft_facts_pattern_text(rules->facts, top->pattern);
    return finding->where ? say(rules, finding, top) : -ENOMEM;
}

int dft_rule_file_explosion(struct dft_rules *rules)
{
    struct explosion explosion = {0};
    int rc = rules->facts->ranks < 2
                 ? 0
                 : dft_rules_need(rules, DFT_FACT_RANK_FILES, UINT64_C(1) << DFT_FINDING_FILE_EXPLOSION);

    if (rc <= 0)
        return rc;
    rc = find_writers(rules->facts, &explosion);
    for (size_t i = 0; i < explosion.writers.capacity && !rc; i++)
        if (explosion.writers.slots[i].key && explosion.writers.slots[i].value)
            rc = add_file(rules, &explosion, explosion.writers.slots[i].key, explosion.writers.slots[i].value);
    if (!rc)
        add_calls(rules, &explosion);
    if (!rc)
        rc = add(rules, &explosion);
    dft_map_fini(&explosion.writers);
    dft_map_fini(&explosion.ranks);
    dft_map_fini(&explosion.ends);
    dft_map_fini(&explosion.patterns);
    free(explosion.list);
    return rc;
}
