/* SPDX-License-Identifier: MIT */
/* The section of the page about files: those with the most time, and many like ones as one line. */
#include "summary/page_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/like_paths.h"
#include "base/map.h"
#include "base/pattern.h"
#include "base/write_cut.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "format/hash.h"
#include "views/file_groups.h"
#include "summary/page_paths.h"
#include "summary/page_table.h"

#define LIKE    20u  /* so many like files are one line */
#define SINGLE  100u /* a file with more than one part in so many of the time has a line in spite of its directory */
#define CUT_MIN 20u  /* columns of a directory in the title */
#define PLACE   33u  /* a directory whose files have more than one part in so many of the time is a line */

struct fold {
    struct dft_like_paths like;
    struct dft_group group;
};

/* A directory, with what is below it that has no line of its own. */
struct place {
    struct dft_group group;
    const char *path; /* of any file in it, whose first `length` bytes are its name */
    uint32_t length, count;
    uint32_t above;         /* place + 1; 0: none */
    int is_line, has_lines; /* it is one, or some below it are */
};

struct files {
    const struct dft_answer *answer;
    uint64_t share_ns;
    struct dft_group *groups; /* those of all pages of the answer */
    char **paths;             /* escaped, of each group */
    size_t count, ngroups, npaths;
    struct fold *folds;
    uint32_t *of; /* fold + 1 of each group; 0: none */
    uint32_t nfolds;
    struct place *places;
    size_t nplaces, capacity;
    uint32_t *place; /* + 1 of each group without a fold; 0: none */
    struct dft_page_line *lines;
    char **labels; /* of each line, owned */
    uint32_t nlines;
};

/* --- which are alike -------------------------------------------------------------------------- */

static void add_to_fold(struct files *files, uint32_t number, uint32_t file)
{
    struct fold *fold = &files->folds[number - 1];

    if (!fold->like.count)
        dft_metrics_clear(&fold->group.metrics);
    dft_like_paths_add(&fold->like, files->paths[file], (uint32_t)strlen(files->paths[file]));
    dft_page_add_group(&fold->group, &files->groups[file]);
    files->of[file] = number;
}

/* By the pattern of their names. */
static int fold_by_pattern(struct files *files)
{
    struct dft_map map = {0};
    int rc = 0;

    for (uint32_t i = 0; !rc && i < files->count; i++) {
        uint32_t length = (uint32_t)strlen(files->paths[i]);
        char *pattern = malloc(length + 1u);
        uint64_t *number =
            pattern ? dft_map_put(&map, dft_name_id(pattern, dft_pattern_of(files->paths[i], length, pattern))) : NULL;

        if (number && !*number)
            *number = ++files->nfolds;
        if (number)
            add_to_fold(files, (uint32_t)*number, i);
        free(pattern);
        rc = number ? 0 : -ENOMEM;
    }
    dft_map_fini(&map);
    return rc;
}

static int is_folded(const struct files *files, uint32_t i)
{
    return files->folds[files->of[i] - 1].like.count >= LIKE;
}

/* A directory and those above it, from the top down. Returns its number, 0 without memory. */
static uint32_t add_place(struct files *files, struct dft_map *map, const char *path, uint32_t length)
{
    uint64_t hash = dft_map_join(0, (unsigned char)*path);
    uint32_t above = 0;

    for (uint32_t i = 1; i <= length; hash = dft_map_join(hash, (unsigned char)path[i++])) {
        uint64_t *number = path[i] == '/' ? dft_map_put(map, hash) : NULL;

        if (path[i] != '/')
            continue;
        if (!number)
            return 0;
        if (!*number) {
            struct place place = {.path = path, .length = i, .above = above};

            dft_metrics_clear(&place.group.metrics);
            if (DFT_ARRAY_PUSH(files->places, files->capacity, files->nplaces, place))
                return 0;
            *number = files->nplaces;
        }
        above = (uint32_t)*number;
    }
    return above;
}

static int longer_first(const void *left, const void *right, void *places)
{
    const struct place *list = places;
    uint32_t a = list[*(const uint32_t *)left].length, b = list[*(const uint32_t *)right].length;

    return a > b ? -1 : a < b;
}

/* From the deepest on: a directory becomes a line, or is a part of the one above it. */
static int choose_places(struct files *files)
{
    uint32_t *order = calloc(files->nplaces + 1, sizeof *order);

    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < files->nplaces; i++)
        order[i] = i;
    qsort_r(order, files->nplaces, sizeof *order, longer_first, files->places);
    for (uint32_t i = 0; i < files->nplaces; i++) {
        struct place *place = &files->places[order[i]];

        place->is_line = place->count >= LIKE && place->group.metrics.dur_sum > files->share_ns / PLACE;
        if (place->above)
            files->places[place->above - 1].has_lines |= place->is_line || place->has_lines;
        if (place->is_line || !place->above)
            continue;
        dft_page_add_group(&files->places[place->above - 1].group, &place->group);
        files->places[place->above - 1].count += place->count;
    }
    free(order);
    return 0;
}

/* What is left, by directory. */
static int fold_by_place(struct files *files)
{
    struct dft_map map = {0};
    int rc = 0;

    for (uint32_t i = 0; !rc && i < files->count; i++) {
        const char *path = files->paths[i], *slash = strrchr(path, '/');
        uint32_t number;

        if (is_folded(files, i) || !slash || slash == path ||
            files->groups[i].metrics.dur_sum > files->share_ns / SINGLE)
            continue;
        number = add_place(files, &map, path, (uint32_t)(slash - path));
        if (number) {
            files->place[i] = number;
            files->places[number - 1].count++;
            dft_page_add_group(&files->places[number - 1].group, &files->groups[i]);
        }
        rc = number ? 0 : -ENOMEM;
    }
    dft_map_fini(&map);
    return rc ? rc : choose_places(files);
}

/* --- lines ------------------------------------------------------------------------------------ */

static int add_line(struct files *files, struct dft_group *group, char *label, uint64_t count)
{
    if (!label)
        return -ENOMEM;
    if (count > 1)
        group->p50 = DFT_PERCENTILE_UNKNOWN;
    files->labels[files->nlines] = label;
    files->lines[files->nlines++] = (struct dft_page_line){files->answer, group, label, count};
    return 0;
}

static char *place_label(const struct place *place)
{
    char *label;

    if (asprintf(&label, "%.*s/%s", (int)place->length, place->path, place->has_lines ? "(rest)" : "") < 0)
        return NULL;
    return label;
}

static int has_line(const struct files *files, uint32_t i)
{
    for (uint32_t p = files->place[i]; p; p = files->places[p - 1].above)
        if (files->places[p - 1].is_line)
            return 1;
    return is_folded(files, i);
}

static int make_lines(struct files *files)
{
    int rc = 0;

    for (uint32_t f = 0; !rc && f < files->nfolds; f++)
        if (files->folds[f].like.count >= LIKE)
            rc = add_line(files, &files->folds[f].group, dft_like_paths_text(&files->folds[f].like),
                          files->folds[f].like.count);
    for (uint32_t p = 0; !rc && p < files->nplaces; p++)
        if (files->places[p].is_line)
            rc = add_line(files, &files->places[p].group, place_label(&files->places[p]), files->places[p].count);
    for (uint32_t i = 0; !rc && i < files->count; i++)
        if (!has_line(files, i))
            rc = add_line(files, &files->groups[i], strdup(files->paths[i]), 1);
    return rc;
}

/* How lines are compared: as the groups of the answer were. */
static int compare_lines(const void *left, const void *right, void *sorting)
{
    const struct dft_page_line *a = left, *b = right;
    const struct dft_sorting *order = sorting;
    int by = order->key >= 0 ? strcmp(a->label, b->label) : dft_group_compare(a->group, b->group, sorting);

    return by ? by : strcmp(a->label, b->label);
}

/* --- the section ------------------------------------------------------------------------------ */

/* Copies groups and the texts of their paths, page by page. */
static int take_groups(struct files *files, struct dft_answer *answer)
{
    enum dft_by by = (enum dft_by)answer->query.by[0];
    int rc = 1;

    for (; rc > 0; rc = dft_answer_next(answer))
        for (uint32_t i = 0; i < answer->count; i++) {
            struct dft_key_value value;
            int is_folded;
            char *path, *label;

            dft_group_value(answer, &answer->groups[i], by, &value);
            is_folded = by == DFT_BY_FILE && value.type == DFT_KEY_TEXT && dft_file_is_folded(value.text);
            path = value.type == DFT_KEY_TEXT ? dft_text_escaped(value.text.bytes, value.text.length) : strdup("-");
            if (is_folded && path) {
                label = asprintf(&label, "%s (files not told apart)", path) < 0 ? NULL : label;
                free(path);
                path = label;
            }
            if (!path || DFT_ARRAY_PUSH(files->groups, files->ngroups, files->count, answer->groups[i]) ||
                DFT_ARRAY_RESERVE(files->paths, files->npaths, files->count)) {
                free(path);
                return -ENOMEM;
            }
            files->paths[files->count - 1] = path;
        }
    return rc;
}

static int alloc(struct files *files, struct dft_answer *answer)
{
    int rc = take_groups(files, answer);

    if (rc)
        return rc;
    files->folds = calloc(files->count + 1, sizeof *files->folds);
    files->place = calloc(files->count + 1, sizeof *files->place);
    files->of = calloc(files->count + 1, sizeof *files->of);
    files->lines = calloc(files->count + 1, sizeof *files->lines);
    files->labels = calloc(files->count + 1, sizeof *files->labels);
    return files->folds && files->of && files->place && files->lines && files->labels ? 0 : -ENOMEM;
}

static void release(struct files *files)
{
    for (size_t i = 0; i < files->npaths && i < files->count; i++)
        free(files->paths[i]);
    for (uint32_t i = 0; i < files->nlines; i++)
        free(files->labels[i]);
    free(files->paths);
    free(files->groups);
    free(files->folds);
    free(files->of);
    free(files->place);
    free(files->places);
    free(files->lines);
    free(files->labels);
}

/* The directory is cut to what is left of the line, or to a line of its own. */
static int print_title(const char *sort, const char *directory)
{
    size_t width = dft_terminal_width(), taken = strlen("Files by , below ") + strlen(sort);
    struct dft_sentence text;
    char *cut;
    FILE *out;

    width = width > taken + CUT_MIN ? width - taken : width;
    cut = directory ? dft_text_fit(directory, width, 1) : NULL;
    if (directory && !cut)
        return -ENOMEM;
    out = dft_sentence_begin(&text);
    if (out) {
        fprintf(out, "Files by %s%s%s", sort, directory ? ", below " : "", cut ? cut : "");
        putchar('\n');
        dft_sentence_end(&text, out, "", 0);
    }
    free(cut);
    return 0;
}

/* Takes out of the labels what many have in common, and prints the title. */
static int take_base(struct files *files, uint32_t shown, const struct dft_job *job, const char *sort)
{
    const char **labels = calloc(shown + 1u, sizeof *labels);
    char *home = dft_text_escaped(job->cwd.bytes, job->cwd.length), *directory = NULL;
    uint32_t of = 0;
    size_t base = 0;
    int rc = labels && home ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < shown; i++)
        labels[i] = files->lines[i].label;
    if (!rc)
        base = dft_page_base(labels, shown, home, &of);
    if (base) {
        directory = strndup(labels[of], base);
        rc = directory ? 0 : -ENOMEM;
    }
    if (!rc)
        rc = print_title(sort ? sort : "time", directory);
    for (uint32_t i = 0; directory && i < shown; i++)
        if (!strncmp(labels[i], directory, base) && labels[i][base] == '/' && labels[i][base + 1])
            files->lines[i].label += base + 1;
    free(directory);
    free(labels);
    free(home);
    return rc;
}

static int print_lines(const struct dft_page *page, struct files *files, uint32_t shown)
{
    char rest[64], number[DFT_TEXT_ROOM];
    struct dft_page_table table = {.answer = files->answer,
                                   .label_title = "file",
                                   .lines = files->lines,
                                   .count = shown,
                                   .share_ns = page->io.time_ns,
                                   .wall_ns = page->lives_ns,
                                   .processes = page->processes,
                                   .span_ns = page->span_ns,
                                   .all = &files->answer->all,
                                   .rest = rest};
    uint64_t others = files->answer->found;

    for (uint32_t i = 0; i < shown; i++)
        others -= files->lines[i].files;
    snprintf(rest, sizeof rest, "%s other file%s", dft_text_count(number, others), others == 1 ? "" : "s");
    return dft_page_table(&table);
}

int dft_page_files(const struct dft_page *page, struct dft_answer *answer, uint64_t top)
{
    struct files files = {.answer = answer, .share_ns = page->io.time_ns};
    const struct dft_options *options = page->summary->options;
    const char *column = answer->query.by[0] == DFT_BY_FILE ? options->sort : NULL;
    struct dft_sorting sorting;
    uint32_t shown = 0;
    int rc = alloc(&files, answer);

    if (!rc && !files.count)
        goto out;
    rc = rc ? rc : fold_by_pattern(&files);
    rc = rc ? rc : fold_by_place(&files);
    rc = rc ? rc : make_lines(&files);
    if (rc)
        goto out;
    if (dft_order_find(answer, column, &sorting))
        dft_order_find(answer, column = NULL, &sorting);
    qsort_r(files.lines, files.nlines, sizeof *files.lines, compare_lines, &sorting);
    while (shown < files.nlines && shown < top &&
           (options->top || column || files.lines[shown].group->metrics.dur_sum >= page->io.time_ns / 1000))
        shown++;
    shown = shown ? shown : 1;
    rc = take_base(&files, shown, &page->summary->job, column);
    rc = rc ? rc : print_lines(page, &files, shown);
out:
    release(&files);
    return rc;
}
