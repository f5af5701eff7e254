/* SPDX-License-Identifier: MIT */
/* Which patterns of the first run and of another one mean the same files although they lie in
 * different directories.
 *
 * Patterns that both runs have are the same. For the others, a directory of A and one of B are
 * taken for each other when below them the most patterns are the same: every pair of patterns
 * with the same last part votes for the pair of directories that is left when the parts at their
 * ends that agree are taken away. Then the patterns below are, and it goes on with the rest,
 * until nobody votes. */
#include "compare/compare_match.h"
#include "base/names.h"
#include "base/array.h"
#include "compare/comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "format/hash.h"

#define ROUNDS_MAX 64
#define VOTES_MAX  (1u << 20) /* in a round; beyond it no more are heard */

struct path {
    uint64_t id;
    struct dft_text text;
    uint32_t base; /* where its last part begins */
    uint8_t taken;
};

/* A list is sorted by last part, then text. */
struct matching {
    struct dft_comparison *comparison;
    uint32_t run; /* whose patterns are matched with those of runs[0] */
    struct path *paths[2];
    uint32_t counts[2];
    struct dft_group_map candidates; /* cat, name: ids of two directories */
    struct candidate {
        struct dft_same_directory directories;
        uint32_t votes;
    } * of_candidate;
    uint32_t capacity, votes;
};

static int compare_bytes(const char *a, uint32_t n, const char *b, uint32_t m)
{
    int order = memcmp(a, b, n < m ? n : m);

    return order ? order : n < m ? -1 : n > m;
}

static int compare_base(const struct path *a, const struct path *b)
{
    return compare_bytes(a->text.bytes + a->base, a->text.length - a->base, b->text.bytes + b->base,
                         b->text.length - b->base);
}

static int by_base(const void *left, const void *right)
{
    const struct path *a = left, *b = right;
    int order = compare_base(a, b);

    return order ? order : compare_bytes(a->text.bytes, a->text.length, b->text.bytes, b->text.length);
}

/* --- the patterns that one run alone has ------------------------------------------------------ */

static int collect_all(struct dft_group_map *map, const struct dft_answer *answer)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < answer->count; i++) {
        struct dft_group_key key = {.file = answer->groups[i].key.file};
        uint32_t number;

        rc = dft_group_map_get(map, &key, &number);
    }
    return rc;
}

static int collect(struct matching *matching, int side, const struct dft_group_map *maps)
{
    const struct dft_group_map *own = &maps[side], *other = &maps[!side];
    const struct dft_names *names = dft_source_names_table(matching->comparison->runs[side ? matching->run : 0].source);
    struct path *paths = matching->paths[side] = calloc(own->count + 1u, sizeof *paths);
    uint32_t n = 0;

    if (!paths)
        return -ENOMEM;
    for (uint32_t i = 0; i < own->count; i++) {
        struct dft_text text = dft_names_text(names, own->keys[i].file);
        const char *slash = text.length ? memrchr(text.bytes, '/', text.length) : NULL;

        if (!slash || dft_group_map_find(other, &own->keys[i]) >= 0)
            continue;
        paths[n++] = (struct path){.id = own->keys[i].file, .text = text, .base = (uint32_t)(slash - text.bytes)};
    }
    qsort(paths, n, sizeof *paths, by_base);
    matching->counts[side] = n;
    return 0;
}

/* --- votes ------------------------------------------------------------------------------------ */

/* Bytes at the end of both that are the same, from a '/' on. */
static uint32_t common_end(struct dft_text a, struct dft_text b)
{
    uint32_t n = 0, whole = 0, limit = a.length < b.length ? a.length : b.length;

    for (; n < limit && a.bytes[a.length - 1 - n] == b.bytes[b.length - 1 - n]; n++)
        if (a.bytes[a.length - 1 - n] == '/')
            whole = n + 1;
    return whole;
}

static int vote(struct matching *matching, const struct path *a, const struct path *b)
{
    uint32_t end = common_end(a->text, b->text), before = matching->candidates.count, number;
    struct dft_same_directory pair = {{{a->text.bytes, a->text.length - end}, {b->text.bytes, b->text.length - end}}};
    struct dft_group_key key = {.cat = dft_name_id(pair.text[0].bytes, pair.text[0].length),
                                .name = dft_name_id(pair.text[1].bytes, pair.text[1].length)};

    if (dft_group_map_get(&matching->candidates, &key, &number))
        return -ENOMEM;
    if (DFT_ARRAY_RESERVE(matching->of_candidate, matching->capacity, number + (size_t)1))
        return -ENOMEM;
    if (number == before)
        matching->of_candidate[number].votes = 0;
    matching->of_candidate[number].directories = pair;
    matching->of_candidate[number].votes++;
    matching->votes++;
    return 0;
}

static int vote_all(struct matching *matching)
{
    const struct path *a = matching->paths[0], *b = matching->paths[1];
    uint32_t i = 0, j = 0;
    int rc = 0;

    matching->votes = 0;
    while (!rc && i < matching->counts[0] && j < matching->counts[1] && matching->votes < VOTES_MAX) {
        int order = compare_base(&a[i], &b[j]);

        if (order || a[i].taken) {
            order <= 0 ? i++ : j++;
            continue;
        }
        for (uint32_t k = j; !rc && k < matching->counts[1] && !compare_base(&a[i], &b[k]); k++)
            if (!b[k].taken)
                rc = vote(matching, &a[i], &b[k]);
        i++;
    }
    return rc;
}

/* The pair with the most votes; of equals the deeper, then the first by name. */
static const struct candidate *best_of(const struct matching *matching)
{
    const struct candidate *best = NULL;

    for (uint32_t i = 0; i < matching->candidates.count; i++) {
        const struct candidate *one = &matching->of_candidate[i];
        const struct dft_text *x = one->directories.text, *y = best ? best->directories.text : NULL;
        int order = best ? one->votes < best->votes ? -1 : one->votes > best->votes : 1;

        if (!order)
            order = x[0].length + x[1].length < y[0].length + y[1].length
                        ? -1
                        : x[0].length + x[1].length > y[0].length + y[1].length;
        if (!order)
            order = compare_bytes(y[0].bytes, y[0].length, x[0].bytes, x[0].length);
        if (!order)
            order = compare_bytes(y[1].bytes, y[1].length, x[1].bytes, x[1].length);
        if (order > 0)
            best = one;
    }
    return best;
}

/* --- what follows from it --------------------------------------------------------------------- */

static int begins_with(struct dft_text text, struct dft_text head)
{
    return text.length > head.length && text.bytes[head.length] == '/' && !memcmp(text.bytes, head.bytes, head.length);
}

static struct path *find(const struct matching *matching, struct dft_text head, struct dft_text end)
{
    char *text = malloc(head.length + end.length + 1u);
    struct path key, *found;

    if (!text)
        return NULL;
    memcpy(text, head.bytes, head.length);
    memcpy(text + head.length, end.bytes, end.length);
    key.text = (struct dft_text){text, head.length + end.length};
    key.base = (uint32_t)((char *)memrchr(text, '/', key.text.length) - text);
    found = bsearch(&key, matching->paths[1], matching->counts[1], sizeof key, by_base);
    free(text);
    return found;
}

/* The label of a pattern is what the first run that has it elsewhere says. */
static int move(struct matching *matching, const struct path *a, const struct path *b, uint32_t cut)
{
    struct dft_comparison *comparison = matching->comparison;
    struct dft_compared_run *run = &comparison->runs[matching->run];
    struct dft_group_key key = {.file = b->id};
    uint32_t number, before;

    if (dft_group_map_get(&run->moved, &key, &number))
        return -ENOMEM;
    run->of_moved[number] = (struct dft_moved){a->id, cut};
    key.file = a->id;
    before = comparison->labels.count;
    if (dft_group_map_get(&comparison->labels, &key, &number) ||
        DFT_ARRAY_RESERVE(comparison->cut_of_label, comparison->nlabels_max, number + (size_t)1))
        return -ENOMEM;
    if (number == before)
        comparison->cut_of_label[number] = cut;
    return 0;
}

/* Takes what lies below the pair. Returns how many, or -ENOMEM. */
static int take(struct matching *matching, const struct dft_same_directory *pair)
{
    int n = 0;

    for (uint32_t i = 0; i < matching->counts[0]; i++) {
        struct path *a = &matching->paths[0][i], *b;
        uint32_t cut = pair->text[0].length;

        if (a->taken || !begins_with(a->text, pair->text[0]))
            continue;
        b = find(matching, pair->text[1], (struct dft_text){a->text.bytes + cut, a->text.length - cut});
        if (!b || b->taken)
            continue;
        a->taken = b->taken = 1;
        if (move(matching, a, b, cut))
            return -ENOMEM;
        n++;
    }
    return n;
}

static int match_all(struct matching *matching)
{
    struct dft_comparison *comparison = matching->comparison;
    const struct candidate *best;
    int rc = 0;

    for (int round = 0; round < ROUNDS_MAX && !rc; round++) {
        dft_group_map_fini(&matching->candidates);
        if (matching->of_candidate)
            memset(matching->of_candidate, 0, matching->capacity * sizeof *matching->of_candidate);
        rc = vote_all(matching);
        best = rc ? NULL : best_of(matching);
        if (!best)
            break;
        if (matching->run == 1)
            comparison->directories[comparison->ndirectories++] = best->directories;
        rc = take(matching, &best->directories);
        rc = rc < 0 ? rc : 0;
    }
    return rc;
}

static int match_run(struct dft_comparison *comparison, uint32_t run)
{
    struct matching matching = {.comparison = comparison, .run = run};
    struct dft_group_map maps[2] = {{0}};
    uint32_t most;
    int rc = collect_all(&maps[0], &comparison->runs[0].files);

    if (!rc)
        rc = collect_all(&maps[1], &comparison->runs[run].files);
    for (int side = 0; side < 2 && !rc; side++)
        rc = collect(&matching, side, maps);
    most = matching.counts[0] < matching.counts[1] ? matching.counts[0] : matching.counts[1];
    comparison->runs[run].of_moved = calloc(most + 1u, sizeof *comparison->runs[run].of_moved);
    if (!comparison->runs[run].of_moved)
        rc = -ENOMEM;
    if (!rc)
        rc = match_all(&matching);
    for (int side = 0; side < 2; side++) {
        dft_group_map_fini(&maps[side]);
        free(matching.paths[side]);
    }
    dft_group_map_fini(&matching.candidates);
    free(matching.of_candidate);
    return rc;
}

int dft_compare_match(struct dft_comparison *comparison)
{
    int rc = 0;

    comparison->directories = calloc(ROUNDS_MAX, sizeof *comparison->directories);
    if (!comparison->directories)
        return -ENOMEM;
    for (uint32_t run = 1; !rc && run < comparison->nruns; run++)
        rc = match_run(comparison, run);
    return rc;
}

int dft_compare_pattern(const struct dft_comparison *comparison, uint64_t file, char **text, uint32_t *length)
{
    const struct dft_group_key key = {.file = file};
    int64_t moved = dft_group_map_find(&comparison->labels, &key);
    uint32_t cut = moved < 0 ? 0 : comparison->cut_of_label[moved];
    char buffer[18];
    struct dft_text whole = dft_compare_text(comparison, file, buffer);

    *text = malloc(whole.length + 4u);
    if (!*text)
        return -ENOMEM;
    *length = whole.length - cut + (moved < 0 ? 0 : 3);
    memcpy(*text, "...", 3);
    memcpy(*text + (moved < 0 ? 0 : 3), whole.bytes + cut, whole.length - cut);
    return 0;
}
