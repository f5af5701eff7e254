/* SPDX-License-Identifier: MIT */
/* Data that are accessed out of order, and data that are read again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/saturate.h"
#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/reported.h"
#include "findings/rules.h"

/* Reads or writes of a file. */
struct order {
    uint64_t data, back, forth; /* accesses; those that jump to no place in particular */
    uint64_t jumps, ns, bytes;  /* of these, that do not come from memory */
};

struct file {
    const struct dft_group *group;                 /* one of them, for its name */
    uint64_t reads, read_bytes, read_ns, distinct; /* distinct: at most */
    struct order orders[2];                        /* reads, and writes */
    struct order random;                           /* those of them that are at random places */
    uint64_t cost_ns;
    uint64_t opens; /* of these, as the next one */
    uint32_t processes;
};

struct files {
    struct file *list;
    size_t count, capacity;
};

/* --- what is known of files ------------------------------------------------------------------- */

/* Data that come from elsewhere than from a file's place: from a device, the kernel, a pipe. */
static int is_no_file(const struct dft_answer *answer, const struct dft_group *group)
{
    static const char *const places[] = {"/dev/", "/proc/", "/sys/"};
    struct dft_key_value value;

    dft_group_value(answer, group, DFT_BY_FILE, &value);
    if (value.type != DFT_KEY_TEXT || !value.text.length || *value.text.bytes != '/')
        return 1;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (value.text.length > strlen(places[i]) && !memcmp(value.text.bytes, places[i], strlen(places[i])))
            return 1;
    return 0;
}

/* What came from memory takes no longer out of order, nor does what is large. */
static int has_no_order(const struct dft_rules *rules, const struct dft_metrics *metrics)
{
    uint64_t rate = dft_limit(rules, DFT_LIMIT_RANDOM_RATE);
    double ns = (double)metrics->dur_sum / (double)metrics->data;

    if (metrics->bytes / metrics->data > dft_limit(rules, DFT_LIMIT_RANDOM_REQUEST))
        return 1;
    return ns < (double)dft_limit(rules, DFT_LIMIT_RANDOM_LATENCY) ||
           (double)metrics->bytes / (double)metrics->dur_sum * 1e9 >= (double)rate;
}

static void add_group(const struct dft_rules *rules, struct file *file, const struct dft_group *group)
{
    const struct dft_metrics *metrics = &group->metrics;
    struct order *order = &file->orders[group->key.class == DFT_IO_WRITE];

    if (!metrics->data || dft_facets_err(group->key.facets))
        return;
    order->data += metrics->data;
    order->back += metrics->random;
    order->forth += metrics->sequential - metrics->consecutive;
    if (!has_no_order(rules, metrics)) {
        uint64_t jumps = metrics->random + metrics->sequential - metrics->consecutive;

        order->jumps += jumps;
        order->ns += dft_uint_of((double)metrics->dur_sum * (double)jumps / (double)metrics->data);
        order->bytes += metrics->bytes / metrics->data * jumps;
    }
    if (group->key.class != DFT_IO_READ || !group->has_distinct || !group->distinct_bytes)
        return;
    file->reads += metrics->data;
    file->read_bytes += metrics->bytes;
    file->read_ns += metrics->dur_sum;
    file->distinct += group->distinct_bytes;
}

static int collect(const struct dft_rules *rules, struct files *files)
{
    const struct dft_answer *answer = &rules->facts->answers[DFT_FACT_FILES];
    struct dft_map numbers = {0};
    int rc = 0;

    for (uint32_t i = 0; i < answer->count && !rc; i++) {
        const struct dft_group *group = &answer->groups[i];
        uint64_t *number;

        if (!group->key.file || dft_rules_reported(rules, group->key.file) != DFT_FINDINGS || is_no_file(answer, group))
            continue;
        number = dft_map_put(&numbers, group->key.file);
        rc = number ? 0 : -ENOMEM;
        if (number && !*number) {
            rc = DFT_ARRAY_PUSH(files->list, files->capacity, files->count, (struct file){.group = group});
            *number = files->count;
        }
        if (!rc)
            add_group(rules, &files->list[*number - 1], group);
    }
    dft_map_fini(&numbers);
    return rc;
}

static void count_opens(const struct dft_facts *facts, struct file *file)
{
    const struct dft_answer *opens = &facts->answers[DFT_FACT_OPENS];

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_OPENS) && i < opens->count; i++)
        if (opens->groups[i].key.file == file->group->key.file) {
            file->processes++;
            file->opens += opens->groups[i].metrics.count - opens->groups[i].metrics.errors;
        }
}

static int by_cost(const void *left, const void *right)
{
    const struct file *a = left, *b = right;

    DFT_ORDER(b->cost_ns, a->cost_ns);
    DFT_ORDER(a->group->key.file, b->group->key.file);
    return 0;
}

/* Sorts files by cost. Returns how many cost time. */
static size_t sort_files(struct files *files, uint64_t *cost_ns)
{
    size_t count = 0;

    qsort(files->list, files->count, sizeof *files->list, by_cost);
    for (*cost_ns = 0; count < files->count && files->list[count].cost_ns; count++)
        *cost_ns += files->list[count].cost_ns;
    return count;
}

static int add(struct dft_rules *rules, enum dft_finding_code code, struct files *files, struct dft_finding **finding)
{
    const struct dft_answer *answer = &rules->facts->answers[DFT_FACT_FILES];
    struct dft_map keys = {0};
    uint64_t cost_ns;
    size_t count = sort_files(files, &cost_ns);
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++)
        rc = dft_map_put(&keys, files->list[i].group->key.file) ? 0 : -ENOMEM;
    if (!rc && count)
        rc = dft_rules_add_reported(rules, code, &keys, cost_ns, finding);
    dft_map_fini(&keys);
    if (rc <= 0)
        return rc;
    (*finding)->files = count;
    (*finding)->where = dft_facts_text(answer, files->list[0].group, DFT_BY_FILE);
    (*finding)->line = dft_facts_line(rules->facts, DFT_BY_FILE, files->list[0].group->key.file, 0);
    return (*finding)->where ? 1 : -ENOMEM;
}

/* What begins the evidence. */
static const char *name_of(const struct dft_rules *rules, const struct dft_finding *finding)
{
    return dft_facts_short(rules->facts, finding->where);
}

static int say_others(struct dft_finding *finding, const struct file *top)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    return finding->files > 1 && finding->cost_ns - top->cost_ns >= finding->cost_ns / 100
               ? dft_finding_say(&finding->evidence, "; %s; and %s more file%s", dft_text_ns(a, top->cost_ns),
                                 dft_text_count(b, finding->files - 1), finding->files > 2 ? "s" : "")
               : 0;
}

/* --- random access ---------------------------------------------------------------------------- */

/* Places at random are as often behind the last one as before it. What goes back alone does so to where it was: a
 * block is read, and written again. Reads between writes that are in order do not make the writes random. */
static void judge_order(const struct dft_rules *rules, struct file *file)
{
    const uint64_t back = file->orders[0].back + file->orders[1].back,
                   forth = file->orders[0].forth + file->orders[1].forth;

    for (unsigned i = 0; i < 2 && forth * 4 >= back; i++) {
        const struct order *order = &file->orders[i];

        if (order->back * 1000 < order->data * dft_limit(rules, DFT_LIMIT_RANDOM_SHARE))
            continue;
        file->random.data += order->data;
        file->random.jumps += order->jumps;
        file->random.ns += order->ns;
        file->random.bytes += order->bytes;
    }
    file->cost_ns = file->random.jumps >= dft_limit(rules, DFT_LIMIT_RANDOM_CALLS) ? file->random.ns : 0;
}

static int find_random(struct dft_rules *rules, struct files *files)
{
    struct dft_finding *finding;
    const struct file *top = files->list;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    int rc;

    for (size_t i = 0; i < files->count; i++)
        judge_order(rules, &files->list[i]);
    rc = add(rules, DFT_FINDING_RANDOM, files, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = top->random.jumps;
    finding->bytes = top->random.bytes;
    rc = dft_finding_say(&finding->title, "random access");
    if (!rc)
        rc = dft_finding_say(
            &finding->evidence, "%s: %s of %s accesses neither follow the last one nor stride, %s and %s each",
            name_of(rules, finding), dft_text_count(a, top->random.jumps), dft_text_count(b, top->random.data),
            dft_text_bytes(c, top->random.bytes / top->random.jumps),
            dft_text_ns(d, top->random.ns / top->random.jumps));
    if (!rc)
        rc = say_others(finding, top);
    return rc ? rc : dft_finding_say(&finding->why_sure, "too slow to have come from memory");
}

/* --- data that are read again ----------------------------------------------------------------- */

static int is_from_memory(const struct dft_rules *rules, const struct file *file)
{
    double rate = (double)file->read_bytes / (double)(file->read_ns + 1) * 1e9;

    return rate >= (double)dft_limit(rules, DFT_LIMIT_RANDOM_RATE);
}

/* Within a tenth: opens that read nothing, and those that read all several times, are not "all of it each time". */
static int is_about(uint64_t bytes, uint64_t expected)
{
    return bytes / 9 >= expected / 10 && bytes / 11 <= expected / 10;
}

static int say_reread(struct dft_rules *rules, struct dft_finding *finding, struct file *top)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int is_whole, memory = is_from_memory(rules, top);
    int rc;

    finding->sure = memory ? DFT_SURE_LOW : DFT_SURE_MEDIUM;
    count_opens(rules->facts, top);
    is_whole = top->opens > top->processes && is_about(top->read_bytes, top->opens * top->distinct);
    rc = dft_finding_say(&finding->title, is_whole ? "a whole file read again and again" : "the same data read again");
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s: %s read, but at most %s of it differ (%s)",
                             name_of(rules, finding), dft_text_bytes(a, top->read_bytes),
                             dft_text_bytes(b, top->distinct),
                             dft_text_ratio(c, (double)top->read_bytes / (double)top->distinct));
    if (!rc && is_whole)
        rc = dft_finding_say(&finding->evidence, ", all of it each of the %s times that it is opened",
                             dft_text_count(c, top->opens));
    if (!rc && top->processes > 1)
        rc = dft_finding_say(&finding->evidence, " by %s processes", dft_text_count(c, top->processes));
    if (!rc)
        rc = say_others(finding, top);
    if (!rc && is_whole)
        rc = dft_finding_advise(finding, "Read it once and keep what it says, or read the part alone that is needed.");
    if (rc)
        return rc;
    return dft_finding_say(&finding->why_sure, memory ? "it came from memory: only copying it can be saved"
                                                      : "what was read stayed the same, as far as is known");
}

static int find_reread(struct dft_rules *rules, struct files *files)
{
    struct dft_finding *finding;
    int rc;

    for (size_t i = 0; i < files->count; i++) {
        struct file *file = &files->list[i];
        double factor = file->distinct ? (double)file->read_bytes / (double)file->distinct : 0;

        file->cost_ns = 0;
        if (factor * 1000 > (double)dft_limit(rules, DFT_LIMIT_REREAD_FACTOR))
            file->cost_ns = dft_uint_of((double)file->read_ns * (1 - 1 / factor));
        if (is_from_memory(rules, file) &&
            file->cost_ns < rules->facts->total_ns / 1000 * dft_limit(rules, DFT_LIMIT_REREAD_MEMORY))
            file->cost_ns = 0;
    }
    rc = add(rules, DFT_FINDING_REREAD, files, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = files->list[0].reads;
    finding->bytes = files->list[0].read_bytes;
    return say_reread(rules, finding, &files->list[0]);
}

static int look(struct dft_rules *rules, enum dft_finding_code code,
                int (*find)(struct dft_rules *rules, struct files *files))
{
    struct files files = {0};
    int rc = dft_rules_need(rules, DFT_FACT_FILES, UINT64_C(1) << code);

    if (rc <= 0)
        return rc;
    rc = collect(rules, &files);
    if (!rc && files.count)
        rc = find(rules, &files);
    free(files.list);
    return rc;
}

int dft_rule_random(struct dft_rules *rules)
{
    if (dft_facts_has(rules->facts, DFT_FACT_FILES) && !rules->facts->answers[DFT_FACT_FILES].has_accesses)
        return dft_rules_skip(rules, UINT64_C(1) << DFT_FINDING_RANDOM,
                              "aggregates do not say which call was on which file (record events)");
    return look(rules, DFT_FINDING_RANDOM, find_random);
}

int dft_rule_reread(struct dft_rules *rules)
{
    return look(rules, DFT_FINDING_REREAD, find_reread);
}
