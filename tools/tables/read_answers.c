/* SPDX-License-Identifier: MIT */
/* Reads the tables that are answers to queries: files and regions. Rank 0 gives them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "format/hash.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/query.h"
#include "tables/columns.h"
#include "tables/reading.h"

/* A column of the table, and the number of a group that it shows. */
struct shown {
    unsigned column;
    enum dft_column number;
};

static void put_numbers(struct dft_maker *maker, const struct dft_answer *answer, const struct dft_group *group,
                        const struct shown *shown, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value;

        if (dft_column_value(answer, group, shown[i].number, &value))
            dft_maker_set(maker, shown[i].column, value);
    }
}

static int put_key(struct dft_maker *maker, unsigned column, const struct dft_answer *answer,
                   const struct dft_group *group, enum dft_by by)
{
    struct dft_key_value value;

    dft_group_value(answer, group, by, &value);
    return value.type == DFT_KEY_TEXT ? dft_maker_set_text(maker, column, value.text) : 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static const struct shown of_files[] = {
    {DFT_FILES_CALLS, DFT_COLUMN_COUNT},
    {DFT_FILES_ERRORS, DFT_COLUMN_ERRORS},
    {DFT_FILES_DUR, DFT_COLUMN_TIME},
    {DFT_FILES_DUR_MIN, DFT_COLUMN_TIME_MIN},
    {DFT_FILES_DUR_MAX, DFT_COLUMN_TIME_MAX},
    {DFT_FILES_SIZE, DFT_COLUMN_ASKED},
    {DFT_FILES_BYTES, DFT_COLUMN_BYTES},
    {DFT_FILES_BYTES_MIN, DFT_COLUMN_SIZE_MIN},
    {DFT_FILES_BYTES_MAX, DFT_COLUMN_SIZE_MAX},
    {DFT_FILES_DISTINCT, DFT_COLUMN_DISTINCT},
    {DFT_FILES_OFFSET_MAX, DFT_COLUMN_OFFSET_MAX},
    {DFT_FILES_FIRST, DFT_COLUMN_FIRST},
    {DFT_FILES_LAST, DFT_COLUMN_LAST},
    {DFT_FILES_PROCESSES, DFT_COLUMN_PROCESSES},
};

/* The text may be found later only. */
static int put_file(struct dft_maker *maker, const struct dft_answer *answer, uint64_t id)
{
    struct dft_text text = dft_names_text(dft_answer_names(answer, id), id);
    uint32_t code;
    int rc;

    if (text.bytes || !dft_maker_wants(maker, DFT_FILES_FILE))
        return dft_maker_set_text(maker, DFT_FILES_FILE, text);
    rc = dft_maker_name(maker, DFT_FILES_FILE, id, &code);
    dft_maker_set_code(maker, DFT_FILES_FILE, code);
    return rc;
}

static int take_files(void *context, const struct dft_answer *answer)
{
    struct dft_reading *reading = context;
    struct dft_maker *maker = &reading->makers[0];
    int rc = 0;

    for (uint32_t i = 0; i < answer->count && !rc; i++) {
        const struct dft_group *group = &answer->groups[i];

        rc = dft_maker_row(maker);
        if (rc)
            return rc;
        put_numbers(maker, answer, group, of_files, sizeof of_files / sizeof *of_files);
        rc = put_file(maker, answer, group->key.file);
        if (!rc)
            rc = put_key(maker, DFT_FILES_CLASS, answer, group, DFT_BY_CLASS);
        if (!rc)
            rc = dft_reading_give_full(reading, 0, 0);
    }
    return rc;
}

int dft_read_files(struct dft_reading *reading)
{
    const struct dft_query query = {.by = {DFT_BY_FILE, DFT_BY_CLASS}, .nby = 2, .patterns = 1, .members = 1};
    struct dft_answer answer = {0};
    int rc = dft_comm_agree(dft_reading_begin(reading, 1, reading->request->columns));

    if (!rc) {
        rc = dft_query_each(reading->source, reading->filter, &query, take_files, reading, &answer);
        dft_answer_fini(&answer);
    }
    if (!rc)
        rc = dft_reading_give_full(reading, 0, 1);
    dft_reading_end(reading);
    return rc;
}

/* --- regions ---------------------------------------------------------------------------------- */

static const struct shown of_regions[] = {
    {DFT_REGIONS_CALLS, DFT_COLUMN_COUNT},      {DFT_REGIONS_DUR, DFT_COLUMN_TIME},
    {DFT_REGIONS_DUR_MIN, DFT_COLUMN_TIME_MIN}, {DFT_REGIONS_DUR_MAX, DFT_COLUMN_TIME_MAX},
    {DFT_REGIONS_FIRST, DFT_COLUMN_FIRST},      {DFT_REGIONS_LAST, DFT_COLUMN_LAST},
};

static const struct shown of_insides[] = {
    {DFT_REGIONS_IO_CALLS, DFT_COLUMN_COUNT},
    {DFT_REGIONS_IO_DUR, DFT_COLUMN_TIME},
    {DFT_REGIONS_IO_BYTES, DFT_COLUMN_BYTES},
};

/* The regions, and the I/O by innermost region. */
struct regions {
    struct dft_answer entered, inside;
    struct dft_map places; /* process and region -> position in `inside` + 1; 0: it has its row */
};

static const struct dft_source_process *process_of(const struct dft_answer *answer, const struct dft_group *group)
{
    return answer->process_group[group->key.process_group - 1];
}

static int place_insides(struct regions *regions)
{
    const struct dft_answer *inside = &regions->inside;

    for (uint32_t i = 0; i < inside->count; i++) {
        const struct dft_group *group = &inside->groups[i];
        uint64_t key = dft_map_join(process_of(inside, group)->number, group->key.region), *at;

        if (!group->key.region)
            continue;
        at = dft_map_put(&regions->places, key);
        if (!at)
            return -ENOMEM;
        *at = (uint64_t)i + 1;
    }
    return 0;
}

/* The id of a region: that of its category, NUL, and name. 0: no memory. */
static uint64_t region_of(const struct dft_answer *answer, const struct dft_group *group)
{
    struct dft_key_value category, name;
    uint64_t id = 0;
    char *text;

    dft_group_value(answer, group, DFT_BY_CAT, &category);
    dft_group_value(answer, group, DFT_BY_NAME, &name);
    text = malloc((size_t)category.text.length + name.text.length + 1);
    if (text) {
        memcpy(text, category.text.bytes, category.text.length);
        text[category.text.length] = 0;
        memcpy(text + category.text.length + 1, name.text.bytes, name.text.length);
        id = dft_name_id(text, (size_t)category.text.length + name.text.length + 1);
    }
    free(text);
    return id;
}

static void put_process(struct dft_maker *maker, const struct dft_source_process *process)
{
    dft_maker_set(maker, DFT_REGIONS_PROCESS, process->number);
    if (process->process.rank >= 0)
        dft_maker_set(maker, DFT_REGIONS_RANK, process->process.rank);
    for (size_t i = 0; i < sizeof of_insides / sizeof *of_insides; i++)
        dft_maker_set(maker, of_insides[i].column, 0);
}

static int put_entered(struct dft_reading *reading, struct regions *regions, const struct dft_group *group)
{
    struct dft_maker *maker = &reading->makers[0];
    const struct dft_answer *entered = &regions->entered, *inside = &regions->inside;
    const struct dft_source_process *process = process_of(entered, group);
    uint64_t region = region_of(entered, group), *at;
    int rc = region ? dft_maker_row(maker) : -ENOMEM;

    if (rc)
        return rc;
    put_process(maker, process);
    put_numbers(maker, entered, group, of_regions, sizeof of_regions / sizeof *of_regions);
    at = dft_map_find(&regions->places, dft_map_join(process->number, region));
    if (at && *at) {
        put_numbers(maker, inside, &inside->groups[*at - 1], of_insides, sizeof of_insides / sizeof *of_insides);
        *at = 0;
    }
    rc = put_key(maker, DFT_REGIONS_CAT, entered, group, DFT_BY_CAT);
    return rc ? rc : put_key(maker, DFT_REGIONS_NAME, entered, group, DFT_BY_NAME);
}

/* A region that was never left has I/O inside all the same. */
static int put_open(struct dft_reading *reading, const struct regions *regions, const struct dft_group *group)
{
    struct dft_maker *maker = &reading->makers[0];
    const struct dft_answer *inside = &regions->inside;
    struct dft_text category, name;
    char text[18];
    int rc = dft_maker_row(maker);

    if (rc)
        return rc;
    put_process(maker, process_of(inside, group));
    dft_maker_set(maker, DFT_REGIONS_CALLS, 0);
    put_numbers(maker, inside, group, of_insides, sizeof of_insides / sizeof *of_insides);
    dft_names_call(dft_answer_names(inside, group->key.region), group->key.region, &category, &name, text);
    rc = dft_maker_set_text(maker, DFT_REGIONS_CAT, category);
    return rc ? rc : dft_maker_set_text(maker, DFT_REGIONS_NAME, name);
}

static int put_regions(struct dft_reading *reading, struct regions *regions)
{
    const struct dft_answer *inside = &regions->inside;
    int rc = place_insides(regions);

    for (uint32_t i = 0; i < regions->entered.count && !rc; i++) {
        rc = put_entered(reading, regions, &regions->entered.groups[i]);
        rc = rc ? rc : dft_reading_give_full(reading, 0, 0);
    }
    for (uint32_t i = 0; i < inside->count && !rc; i++) {
        const struct dft_group *group = &inside->groups[i];
        const uint64_t *at =
            dft_map_find(&regions->places, dft_map_join(process_of(inside, group)->number, group->key.region));

        if (at && *at)
            rc = put_open(reading, regions, group);
        rc = rc ? rc : dft_reading_give_full(reading, 0, 0);
    }
    return rc ? rc : dft_reading_give_full(reading, 0, 1);
}

int dft_read_regions(struct dft_reading *reading)
{
    struct regions regions = {0};
    const struct dft_query entered = {
        .by = {DFT_BY_PROCESS, DFT_BY_CAT, DFT_BY_NAME}, .nby = 3, .ops = UINT64_C(1) << DFT_OP_REGION};
    const struct dft_query inside = {.by = {DFT_BY_PROCESS, DFT_BY_REGION}, .nby = 2, .classes = DFT_CLASSES_IO};
    int rc = dft_comm_agree(dft_reading_begin(reading, 1, reading->request->columns));

    if (!rc)
        rc = dft_query_run(reading->source, reading->filter, &entered, &regions.entered);
    if (!rc)
        rc = dft_query_run(reading->source, reading->filter, &inside, &regions.inside);
    if (!rc)
        rc = put_regions(reading, &regions);
    dft_answer_fini(&regions.entered);
    dft_answer_fini(&regions.inside);
    dft_map_fini(&regions.places);
    dft_reading_end(reading);
    return rc;
}
