/* SPDX-License-Identifier: MIT */
/* Calls, regions, files and stacks of the page: those with the most time have a value of their
 * own, all others the first or the last one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/like_paths.h"
#include "base/pattern.h"
#include "base/write_text.h"
#include "format/hash.h"
#include "format/ops.h"
#include "query/answer_pages.h"
#include "query/query.h"
#include "report/report_dimensions.h"
#include "report/report_make.h"

#define FILES   5000u
#define REGIONS 1000u
#define CALLS   1000u
#define STACKS  3000u

#define OTHER_CALLS "(other calls)"

enum { TOP_FILES, TOP_REGIONS, TOP_CALLS, TOP_STACKS, TOPS };

static int name_value(struct dft_map *map, uint64_t id, uint32_t *next)
{
    uint64_t *value = dft_map_put(map, id);

    if (!value)
        return -ENOMEM;
    if (!*value)
        *value = ++*next;
    return 0;
}

static struct dft_text text_of(const struct dft_answer *answer, uint32_t i, enum dft_by by, struct dft_key_value *value)
{
    dft_group_value(answer, &answer->groups[i], by, value);
    return value->type == DFT_KEY_TEXT ? value->text : (struct dft_text){"", 0};
}

/* Says that the others of a table have no row of their own, where there are any. */
static int say_part(struct dft_report *report, const char *table, const char *noun, const struct dft_answer *answer)
{
    char shown[DFT_TEXT_ROOM], all[DFT_TEXT_ROOM];

    if (answer->found <= answer->count)
        return 0;
    return dft_report_thinned(report, table, answer->count, answer->found,
                              "%s of %s %s, with the most time, have a row", dft_text_count(shown, answer->count),
                              dft_text_count(all, answer->found), noun);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* A column of the texts of a key, of the groups that are the first of their call. */
static void put_call_texts(struct dft_report *report, const struct dft_answer *answer, const char *name, enum dft_by by,
                           const uint8_t *is_first)
{
    struct dft_key_value value;

    dft_data_begin_column(&report->data, name, DFT_DATA_TEXT);
    for (unsigned class = 0; class < DFT_IO_COUNT; class ++)
        dft_data_text(&report->data, by == DFT_BY_NAME ? OTHER_CALLS : "", by == DFT_BY_NAME ? strlen(OTHER_CALLS) : 0);
    for (uint32_t i = 0; i < answer->count; i++)
        if (is_first[i]) {
            struct dft_text text = text_of(answer, i, by, &value);

            dft_data_text(&report->data, text.bytes, text.length);
        }
}

/* A call of several operations has a group for each, and one value. The first values are all other
 * calls of each class. */
static int put_calls(struct dft_report *report, const struct dft_answer *answer)
{
    uint8_t *class_of = report->class_of_call, is_region[DFT_CALLS_MAX] = {0}; /* by value of the dimension */
    uint8_t *is_first = calloc(answer->count + 1u, 1);
    int rc = is_first ? 0 : -ENOMEM;

    report->calls = DFT_IO_COUNT;
    for (unsigned io = 0; io < DFT_IO_COUNT; io++)
        class_of[io] = (uint8_t)io;
    for (uint32_t i = 0; !rc && i < answer->count; i++) {
        const struct dft_group_key *key = &answer->groups[i].key;
        uint32_t before = report->calls;

        rc = name_value(&report->call_of, dft_report_call_key(key->cat, key->name, key->class), &report->calls);
        is_first[i] = report->calls > before;
        if (is_first[i]) {
            class_of[before] = key->class;
            is_region[before] = key->op == DFT_OP_REGION;
        }
    }
    if (!rc) {
        dft_data_begin_table(&report->data, "calls", report->calls);
        put_call_texts(report, answer, "cat", DFT_BY_CAT, is_first);
        put_call_texts(report, answer, "name", DFT_BY_NAME, is_first);
        DFT_DATA_COLUMN(&report->data, "class", DFT_DATA_BYTE, report->calls, class_of[i]);
        DFT_DATA_COLUMN(&report->data, "is_region", DFT_DATA_BYTE, report->calls, is_region[i]);
    }
    free(is_first);
    return rc ? rc : say_part(report, "calls", "calls", answer);
}

/* --- regions ---------------------------------------------------------------------------------- */

/* A column of texts, of each group with a region. `other` is that of the value of all others. */
static void put_region_texts(struct dft_report *report, const struct dft_answer *answer, int is_category,
                             const char *other)
{
    dft_data_begin_column(&report->data, is_category ? "cat" : "name", DFT_DATA_TEXT);
    dft_data_text(&report->data, "", 0);
    for (uint32_t i = 0; i < answer->count; i++) {
        uint64_t id = answer->groups[i].key.region;
        struct dft_text category, name;
        char text[18];

        if (!id)
            continue;
        dft_names_call(dft_answer_names(answer, id), id, &category, &name, text);
        dft_data_text(&report->data, is_category ? category.bytes : name.bytes,
                      is_category ? category.length : name.length);
    }
    if (report->other_region)
        dft_data_text(&report->data, other, strlen(other));
}

/* Value 0 is no region; the last one, where not all have a value, is all other regions. */
static int put_regions(struct dft_report *report, const struct dft_answer *answer)
{
    int rc = 0;

    report->regions = 1;
    for (uint32_t i = 0; !rc && i < answer->count; i++)
        if (answer->groups[i].key.region)
            rc = name_value(&report->region_of, answer->groups[i].key.region, &report->regions);
    if (rc)
        return rc;
    report->other_region = answer->found > answer->count ? report->regions++ : 0;
    dft_data_begin_table(&report->data, "regions", report->regions);
    put_region_texts(report, answer, 1, "");
    put_region_texts(report, answer, 0, "(other regions)");
    return say_part(report, "regions", "regions", answer);
}

/* --- files ------------------------------------------------------------------------------------ */

/* The patterns of the files, and which one each file has. */
struct patterns {
    struct dft_map numbers;
    struct dft_like_paths *likes;
    uint32_t *of; /* by file */
    char **paths;
    uint32_t count;
};

static int add_file(struct patterns *patterns, uint32_t i, struct dft_text path)
{
    char *pattern = malloc(path.length + 1u);
    uint64_t *number;
    int rc = -ENOMEM;

    patterns->paths[i] = pattern ? strndup(path.bytes, path.length) : NULL;
    number = patterns->paths[i] ? dft_map_put(&patterns->numbers,
                                              dft_name_id(pattern, dft_pattern_of(path.bytes, path.length, pattern)))
                                : NULL;
    if (number) {
        if (!*number)
            *number = ++patterns->count;
        patterns->of[i] = (uint32_t)*number;
        dft_like_paths_add(&patterns->likes[*number - 1], patterns->paths[i], (uint32_t)strlen(patterns->paths[i]));
        rc = 0;
    }
    free(pattern);
    return rc;
}

static void put_patterns(struct dft_report *report, const struct patterns *patterns)
{
    struct dft_page_data *data = &report->data;

    dft_data_begin_table(data, "patterns", patterns->count + 1u);
    dft_data_begin_column(data, "text", DFT_DATA_TEXT);
    dft_data_text(data, "", 0);
    for (uint32_t i = 0; i < patterns->count; i++) {
        char *text = dft_like_paths_text(&patterns->likes[i]);

        if (!text)
            data->error = -ENOMEM;
        else
            dft_data_text(data, text, strlen(text));
        free(text);
    }
    dft_data_begin_column(data, "files", DFT_DATA_UNSIGNED);
    dft_data_put(data, 0);
    for (uint32_t i = 0; i < patterns->count; i++)
        dft_data_put(data, patterns->likes[i].count);
}

/* Those that moved the most bytes have a picture of offsets. */
static void choose_offset_files(struct dft_report *report, const struct dft_answer *answer)
{
    for (uint32_t n = 0; n < DFT_REPORT_OFFSET_FILES; n++) {
        const struct dft_group *most = NULL;

        for (uint32_t i = 0; i < answer->count; i++) {
            const struct dft_group *group = &answer->groups[i];
            int is_chosen = 0;

            for (uint32_t k = 0; k < n; k++)
                is_chosen |= report->offset_files[k] == group->key.file;
            if (!is_chosen && group->metrics.data > 1 && (!most || group->metrics.bytes > most->metrics.bytes))
                most = group;
        }
        if (!most)
            return;
        report->offset_files[n] = most->key.file;
        report->offset_calls[n] = most->metrics.data;
        report->noffset_files = n + 1;
    }
}

static void put_files(struct dft_report *report, const struct dft_answer *answer, const struct patterns *patterns)
{
    struct dft_page_data *data = &report->data;
    struct dft_key_value value;

    dft_data_begin_table(data, "files", report->files);
    dft_data_begin_column(data, "path", DFT_DATA_TEXT);
    dft_data_text(data, "", 0);
    for (uint32_t i = 0; i < answer->count; i++) {
        struct dft_text text = text_of(answer, i, DFT_BY_FILE, &value);

        dft_data_text(data, text.bytes, text.length);
    }
    dft_data_begin_column(data, "pattern", DFT_DATA_UNSIGNED);
    dft_data_put(data, 0);
    for (uint32_t i = 0; i < answer->count; i++)
        dft_data_put(data, patterns->of[i]);
    dft_data_begin_column(data, "distinct", DFT_DATA_UNSIGNED);
    dft_data_put(data, 0);
    for (uint32_t i = 0; i < answer->count; i++)
        dft_data_put(data, answer->groups[i].has_distinct ? answer->groups[i].distinct_bytes + 1 : 0);
}

static int take_files(struct dft_report *report, const struct dft_answer *answer)
{
    struct patterns patterns = {.likes = calloc(answer->count + 1u, sizeof *patterns.likes),
                                .of = calloc(answer->count + 1u, sizeof *patterns.of),
                                .paths = calloc(answer->count + 1u, sizeof *patterns.paths)};
    struct dft_key_value value;
    int rc = patterns.likes && patterns.of && patterns.paths ? 0 : -ENOMEM;

    report->files = 1;
    for (uint32_t i = 0; !rc && i < answer->count; i++) {
        rc = name_value(&report->file_of, answer->groups[i].key.file, &report->files);
        if (!rc)
            rc = add_file(&patterns, i, text_of(answer, i, DFT_BY_FILE, &value));
    }
    if (!rc) {
        choose_offset_files(report, answer);
        put_patterns(report, &patterns);
        put_files(report, answer, &patterns);
        rc = say_part(report, "files", "files", answer);
    }
    for (uint32_t i = 0; patterns.paths && i < answer->count; i++)
        free(patterns.paths[i]);
    free(patterns.paths);
    free(patterns.of);
    free(patterns.likes);
    dft_map_fini(&patterns.numbers);
    return rc;
}

/* --- stacks ----------------------------------------------------------------------------------- */

static int put_stacks(struct dft_report *report, const struct dft_answer *answer)
{
    struct dft_key_value value;
    int rc = 0;

    report->stacks = 1; /* value 0: no stack, or one without a value of its own */
    for (uint32_t i = 0; !rc && i < answer->count; i++)
        if (answer->groups[i].key.stack)
            rc = name_value(&report->stack_of, answer->groups[i].key.stack, &report->stacks);
    if (rc || report->stacks == 1)
        return rc;
    dft_data_begin_table(&report->data, "stacks", report->stacks);
    dft_data_begin_column(&report->data, "text", DFT_DATA_TEXT);
    dft_data_text(&report->data, "", 0);
    for (uint32_t i = 0; i < answer->count; i++)
        if (answer->groups[i].key.stack) {
            struct dft_text text = text_of(answer, i, DFT_BY_STACK, &value);

            dft_data_text(&report->data, text.bytes, text.length);
        }
    return say_part(report, "stacks", "call stacks", answer);
}

int dft_report_tops(struct dft_report *report)
{
    struct dft_answer answers[TOPS] = {{.count = 0}};
    const struct dft_query_request requests[TOPS] = {
        [TOP_FILES] = {{.by = {DFT_BY_FILE}, .nby = 1, .patterns = 1},
                       {.top = FILES, .at_once = FILES},
                       &answers[TOP_FILES]},
        [TOP_REGIONS] = {{.by = {DFT_BY_REGION}, .nby = 1},
                         {.top = REGIONS, .at_once = REGIONS},
                         &answers[TOP_REGIONS]},
        [TOP_CALLS] = {{.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_CLASS, DFT_BY_OP}, .nby = 4},
                       {.top = CALLS, .at_once = CALLS},
                       &answers[TOP_CALLS]},
        [TOP_STACKS] = {{.by = {DFT_BY_STACK}, .nby = 1}, {.top = STACKS, .at_once = STACKS}, &answers[TOP_STACKS]},
    };
    /* Aggregates have no call stacks. */
    unsigned asked = dft_source_kept(report->source) == DFT_KEPT_NONE ? TOP_STACKS : TOPS;
    int rc = dft_query_many(report->source, &report->options->filter, requests, asked);

    if (rc)
        return rc;
    rc = put_calls(report, &answers[TOP_CALLS]);
    if (!rc)
        rc = put_regions(report, &answers[TOP_REGIONS]);
    if (!rc)
        rc = take_files(report, &answers[TOP_FILES]);
    if (!rc)
        rc = put_stacks(report, &answers[TOP_STACKS]);
    for (unsigned i = 0; i < TOPS; i++)
        dft_answer_fini(&answers[i]);
    return rc;
}
