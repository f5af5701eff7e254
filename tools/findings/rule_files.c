/* SPDX-License-Identifier: MIT */
/* Files that are opened again and again, and many small files. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/reported.h"
#include "findings/rules.h"
#include "format/ops.h"
#include "query/file_facts.h"

#define OP(op)   (UINT64_C(1) << (op))
#define OPENS    (OP(DFT_OP_OPEN) | OP(DFT_OP_FOPEN) | OP(DFT_OP_CLOSE) | OP(DFT_OP_FCLOSE))
#define PATTERNS 3u /* findings of small files */

/* --- the same file opened again --------------------------------------------------------------- */

struct reopened {
    uint64_t file, opens, processes; /* that open it often */
    uint64_t all;                    /* opens, also by others, as what follows is */
    uint64_t calls, bytes, written, time_ns, opens_ns, slowest_ns, cost_ns; /* slowest_ns: of its opens */
    int64_t end;
};

/* Files that a process opened often: groups of the answer are of a file and a process. */
static int collect_reopened(struct dft_rules *rules, struct reopened **files, size_t *count)
{
    const struct dft_answer *opens = &rules->facts->answers[DFT_FACT_OPENS];
    struct dft_map numbers = {0};
    size_t capacity = 0;
    int rc = 0;

    for (uint32_t i = 0; i < opens->count && !rc; i++) {
        const struct dft_group *group = &opens->groups[i];
        uint64_t n = group->metrics.count - group->metrics.errors, *number;

        if (n <= dft_limit(rules, DFT_LIMIT_REOPENED_OPENS) || !group->key.file ||
            dft_rules_reported(rules, group->key.file) == DFT_FINDING_SAVES)
            continue;
        number = dft_map_put(&numbers, group->key.file);
        rc = number ? 0 : -ENOMEM;
        if (number && !*number) {
            rc = DFT_ARRAY_PUSH(*files, capacity, *count, (struct reopened){.file = group->key.file});
            *number = *count;
        }
        if (!rc) {
            (*files)[*number - 1].opens += n;
            (*files)[*number - 1].processes++;
        }
    }
    dft_map_fini(&numbers);
    return rc;
}

static void add_calls(const struct dft_facts *facts, struct reopened *file)
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];

    for (uint32_t i = 0; i < files->count; i++) {
        const struct dft_group *group = &files->groups[i];

        if (group->key.file != file->file || dft_facets_err(group->key.facets))
            continue;
        file->calls += group->metrics.count;
        file->all += (OP(DFT_OP_OPEN) | OP(DFT_OP_FOPEN)) >> group->key.op & 1 ? group->metrics.count : 0;
        file->bytes += group->metrics.bytes;
        file->time_ns += group->metrics.dur_sum;
        file->written += group->key.class == DFT_IO_WRITE ? group->metrics.count : 0;
        file->opens_ns += OPENS >> group->key.op & 1 ? group->metrics.dur_sum : 0;
        if (OPENS >> group->key.op & 1 && group->metrics.dur_max > file->slowest_ns)
            file->slowest_ns = group->metrics.dur_max;
        file->end = group->metrics.offset_max > file->end ? group->metrics.offset_max : file->end;
    }
}

/* All opens that are known; a file may be cut from the answer that counts them. */
static uint64_t most_of(const struct reopened *file)
{
    return file->all > file->opens ? file->all : file->opens;
}

/* What a small file says can be kept, so all calls but those of the first time cost. For another file, opening and
 * closing cost. */
static int can_stay_open(const struct dft_rules *rules, const struct reopened *file)
{
    return !file->written && file->bytes && file->end > 0 &&
           (uint64_t)file->end <= dft_limit(rules, DFT_LIMIT_SMALL_FILES_SIZE);
}

/* What opening it once a process would save. The first time stays, also where it is slow: then it is most of all. */
static uint64_t cost_of(const struct dft_rules *rules, const struct reopened *file)
{
    uint64_t time_ns = can_stay_open(rules, file) ? file->time_ns : file->opens_ns;
    struct dft_place_sum sum = {.time_ns = time_ns, .max_ns = file->slowest_ns};

    if (file->processes == 1 && dft_place_sum_cost(&sum) < time_ns)
        return dft_place_sum_cost(&sum);
    return time_ns / most_of(file) * (file->opens - file->processes);
}

/* A larger file that is read whole each time: reading it costs, and that is another finding. */
static int is_read_whole(const struct dft_rules *rules, const struct reopened *file)
{
    return !can_stay_open(rules, file) && !file->written && file->end > 0 && file->opens_ns * 2 < file->time_ns &&
           file->bytes / 9 * 10 >= most_of(file) * (uint64_t)file->end;
}

static int by_cost(const void *left, const void *right)
{
    const struct reopened *a = left, *b = right;

    DFT_ORDER(b->cost_ns, a->cost_ns);
    DFT_ORDER(a->file, b->file);
    return 0;
}

static char *text_of_file(const struct dft_facts *facts, uint64_t file)
{
    const struct dft_answer *opens = &facts->answers[DFT_FACT_OPENS];

    for (uint32_t i = 0; i < opens->count; i++)
        if (opens->groups[i].key.file == file)
            return dft_facts_text(opens, &opens->groups[i], DFT_BY_FILE);
    return dft_text_escaped("", 0);
}

static int say_reopened(struct dft_rules *rules, struct dft_finding *finding, const struct reopened *files,
                        size_t count)
{
    const struct reopened *top = &files[0];
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->title, count > 1 ? "the same files opened again" : "the same file opened again");

    finding->where = text_of_file(rules->facts, top->file);
    if (!rc)
        rc = finding->where ? 0 : -ENOMEM;
    if (!rc && top->processes > 1)
        rc = dft_finding_say(&finding->evidence, "%s: %s opens by %s processes",
                             dft_facts_short(rules->facts, finding->where), dft_text_count(a, top->opens),
                             dft_text_count(b, top->processes));
    else if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s: %s opens by one process",
                             dft_facts_short(rules->facts, finding->where), dft_text_count(a, top->opens));
    if (!rc && top->bytes)
        rc = dft_finding_say(&finding->evidence, ", %s each", dft_text_bytes(a, top->bytes / most_of(top)));
    if (!rc && !top->written && !(rules->facts->lacks & (DFT_LACKS_RANKS | DFT_LACKS_PROCESSES)))
        rc = dft_finding_say(&finding->evidence, ", never changed between");
    if (!rc && count > 1 && finding->cost_ns - top->cost_ns >= finding->cost_ns / 100)
        rc = dft_finding_say(&finding->evidence, "; %s; and %s more file%s", dft_text_ns(a, top->cost_ns),
                             dft_text_count(b, count - 1), count > 2 ? "s" : "");
    return rc ? rc : dft_finding_say_gain(finding);
}

static int add_reopened(struct dft_rules *rules, struct reopened *files, size_t count)
{
    struct dft_finding *finding;
    struct dft_map keys = {0};
    uint64_t cost_ns = 0, opens = 0;
    size_t all = count;
    int rc = 0;

    count = 0;
    for (size_t i = 0; i < all; i++) {
        struct reopened *file = &files[count];

        *file = files[i];
        add_calls(rules->facts, file);
        if (is_read_whole(rules, file))
            continue;
        count++;
        file->cost_ns = cost_of(rules, file);
        cost_ns += file->cost_ns;
        opens += file->opens;
    }
    if (count) // of none, files may be NULL
        qsort(files, count, sizeof *files, by_cost);
    for (size_t i = 0; i < count && !rc; i++)
        rc = dft_map_put(&keys, files[i].file) ? 0 : -ENOMEM;
    if (!rc && count)
        rc = dft_rules_add_reported(rules, DFT_FINDING_REOPENED, &keys, cost_ns, &finding);
    dft_map_fini(&keys);
    if (rc <= 0)
        return rc;
    finding->calls = opens;
    finding->files = count;
    finding->bytes = files[0].bytes;
    finding->sure = can_stay_open(rules, &files[0]) ? DFT_SURE_HIGH : DFT_SURE_MEDIUM;
    finding->line = dft_facts_line(rules->facts, DFT_BY_FILE, files[0].file, OP(DFT_OP_OPEN) | OP(DFT_OP_FOPEN));
    rc = dft_finding_say(&finding->why_sure, files[0].written ? "it was written, too" : "nothing wrote to it here");
    return rc ? rc : say_reopened(rules, finding, files, count);
}

int dft_rule_reopened(struct dft_rules *rules)
{
    struct reopened *files = NULL;
    size_t count = 0;
    int rc = dft_rules_need(rules, DFT_FACT_OPENS, UINT64_C(1) << DFT_FINDING_REOPENED);

    if (rc <= 0)
        return rc;
    rc = collect_reopened(rules, &files, &count);
    if (!rc)
        rc = add_reopened(rules, files, count);
    free(files);
    return rc;
}

/* --- many small files ------------------------------------------------------------------------- */

static int say_small(const struct dft_facts *facts, struct dft_finding *finding, const struct dft_place_sum *sum)
{
    const char *where = dft_facts_short(facts, finding->where);
    uint64_t cost_ns = dft_place_sum_cost(sum), meta_ns = sum->meta_ns < cost_ns ? sum->meta_ns : cost_ns;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    struct dft_place_kind_sum kinds[DFT_PLACE_CALLS];
    int are_many = sum->files >= facts->request->limits->values[DFT_LIMIT_SMALL_FILES_FILES];
    int rc = dft_finding_say(&finding->title, are_many ? "many small files" : "small files, many or again and again");

    if (!rc && !are_many) /* those that aggregates distinguish are few */
        rc = dft_finding_say(&finding->advice, " Where they are few: keep them open, or what they say.");
    if (!rc && sum->folded)
        rc =
            dft_finding_say(&finding->evidence, "%s: more than %s file%s (aggregates tell no more apart), %s calls, %s",
                            where, dft_text_count(c, sum->files), sum->files == 1 ? "" : "s",
                            dft_text_count(a, sum->calls), dft_text_bytes(b, sum->bytes));
    else if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s: %s files of %s, %s calls (%s a file)", where,
                             dft_text_count(a, sum->files), dft_text_bytes(b, sum->sizes / sum->files),
                             dft_text_count(c, sum->calls), dft_text_count(d, sum->calls / sum->files));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ", %s of the time metadata", dft_text_share(a, meta_ns, cost_ns));
    finding->sure = meta_ns * 2 > cost_ns && are_many ? DFT_SURE_HIGH : DFT_SURE_MEDIUM;
    if (!rc && !facts->has_file_ops) { /* names that files are renamed to are not known */
        dft_place_kinds_of_run(facts, kinds);
        if (kinds[DFT_PLACE_RENAMES].calls * 2 > sum->files)
            rc = dft_finding_say(&finding->advice, " Where they are all renamed to one name: save it less often.");
    }
    if (rc)
        return rc;
    if (!are_many)
        return dft_finding_say(&finding->why_sure, "aggregates do not say how many files these are");
    return dft_finding_say(&finding->why_sure, meta_ns * 2 > cost_ns
                                                   ? "opening and closing takes longer than reading and writing"
                                                   : "most of the time is reading and writing");
}

/* `where`: becomes the finding's, or is freed. */
static int add_small(struct dft_rules *rules, char *where, const struct dft_place_sum *sum, struct dft_finding **result)
{
    struct dft_finding *finding;
    uint64_t cost_ns = dft_place_sum_cost(sum);
    int rc = -ENOMEM;

    cost_ns -= cost_ns < rules->flushes_ns ? cost_ns : rules->flushes_ns;
    if (where)
        rc = dft_rules_add(rules, DFT_FINDING_SMALL_FILES, cost_ns, rules->facts->total_ns, result);

    if (rc <= 0) {
        free(where);
        return rc;
    }
    finding = *result;
    finding->where = where;
    finding->calls = sum->calls;
    finding->bytes = sum->bytes;
    finding->files = sum->files;
    rc = say_small(rules->facts, finding, sum);
    return rc ? rc : 1;
}

/* Rules behind this one leave out the small files of this pattern (0: of all below the
 * directory). */
static int tell_small(struct dft_rules *rules, uint64_t pattern, struct dft_text directory)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_map *listed = &facts->places.listed;
    int rc = 0;

    for (size_t i = 0; i < listed->capacity && !rc; i++) {
        uint64_t file = listed->slots[i].key, id = 0;
        const struct dft_file_place *dir;

        if (!file || listed->slots[i].value != DFT_LISTED_SMALL)
            continue;
        if (!pattern)
            rc = dft_file_facts_group(facts->answers[DFT_FACT_DIRS].files, file, &id);
        dir = id ? dft_places_find(&facts->places.dirs, id) : NULL;
        if (!rc &&
            (pattern ? dft_facts_pattern(facts, file) == pattern : dir && dft_place_is_below(dir->text, directory)))
            rc = dft_rules_report(rules, file, DFT_FINDING_SMALL_FILES);
    }
    return rc;
}

static int by_small_time(const void *left, const void *right)
{
    const struct dft_file_place *a = *(const struct dft_file_place *const *)left,
                                *b = *(const struct dft_file_place *const *)right;

    DFT_ORDER(b->small.time_ns, a->small.time_ns);
    DFT_ORDER(a->id, b->id);
    return 0;
}

static int is_many(const struct dft_rules *rules, const struct dft_place_sum *sum)
{
    return sum->folded || sum->files >= dft_limit(rules, DFT_LIMIT_SMALL_FILES_FILES);
}

/* Patterns of many small files, with the most time first. Returns how many, or -1: no memory. */
static int64_t sort_patterns(const struct dft_rules *rules, const struct dft_file_place ***sorted, uint64_t *time_ns)
{
    const struct dft_places *patterns = &rules->facts->places.patterns;
    int64_t n = 0;

    *sorted = malloc((patterns->count + 1) * sizeof(const struct dft_file_place *));
    if (!*sorted)
        return -1;
    for (size_t i = 0; i < patterns->count; i++)
        if (!patterns->list[i].small.folded && is_many(rules, &patterns->list[i].small)) {
            (*sorted)[n++] = &patterns->list[i];
            *time_ns += patterns->list[i].small.time_ns;
        }
    qsort(*sorted, (size_t)n, sizeof(const struct dft_file_place *), by_small_time);
    return n;
}

/* Where most of their time is; if that is in a few files, the directories above it. */
static int add_directory(struct dft_rules *rules)
{
    const struct dft_places *dirs = &rules->facts->places.dirs;
    struct dft_text common = dft_places_common(dirs, offsetof(struct dft_file_place, small.time_ns));
    struct dft_place_sum sum;
    struct dft_finding *finding;
    int rc;

    for (;;) {
        sum = (struct dft_place_sum){0};
        for (size_t i = 0; i < dirs->count; i++)
            if (dft_place_is_below(dirs->list[i].text, common))
                dft_place_sum_add(&sum, &dirs->list[i].small);
        if (is_many(rules, &sum) || common.length <= 1)
            break;
        while (common.length > 1 && common.bytes[--common.length] != '/')
            ;
    }
    if (!is_many(rules, &sum))
        return 0;
    rc = add_small(rules, dft_text_escaped(common.bytes, common.length), &sum, &finding);
    return rc > 0 ? tell_small(rules, 0, common) : rc;
}

/* Where patterns have half of the time of all small files, they say where these are; else, and
 * where files were not distinguished, the directory that has most of them does. */
int dft_rule_small_files(struct dft_rules *rules)
{
    const struct dft_places *patterns = &rules->facts->places.patterns;
    const struct dft_file_place **sorted;
    struct dft_finding *finding;
    uint64_t all_ns = 0, time_ns = 0, folded = 0;
    int64_t n;
    int rc = dft_rules_need(rules, DFT_FACT_PATTERNS, UINT64_C(1) << DFT_FINDING_SMALL_FILES);

    if (rc <= 0)
        return rc;
    rc = dft_rules_skip_folded(rules, UINT64_C(1) << DFT_FINDING_SMALL_FILES);
    if (rc)
        return rc;
    n = sort_patterns(rules, &sorted, &time_ns);
    rc = n < 0 ? -ENOMEM : 0;

    for (size_t i = 0; i < patterns->count; i++) {
        all_ns += patterns->list[i].small.time_ns;
        folded |= patterns->list[i].small.folded;
    }
    if (!rc && (folded || time_ns * 2 < all_ns))
        rc = add_directory(rules);
    else
        for (int64_t i = 0; i < n && i < PATTERNS && rc >= 0; i++) {
            rc = add_small(rules, dft_facts_pattern_text(rules->facts, sorted[i]->id), &sorted[i]->small, &finding);
            if (rc > 0) {
                finding->line = dft_facts_line(rules->facts, DFT_BY_PATTERN, sorted[i]->id, 0);
                rc = tell_small(rules, sorted[i]->id, (struct dft_text){0});
            }
        }
    free(sorted);
    return rc < 0 ? rc : 0;
}
