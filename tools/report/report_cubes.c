/* SPDX-License-Identifier: MIT */
/* The cubes of the page.
 *
 * Two or three queries go over all calls once, by all keys that the page may filter by. A run of
 * usual size fits into the first cube of its query, which answers everything. When that cube
 * passes its limit, its cells go to cubes of fewer dimensions, and so does all that follows. Each of
 * these has a limit, too. Their sizes are products of their dimensions, whatever the number of
 * calls. */
#include "report/report_cubes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/answer_pages.h"
#include "query/query.h"
#include "report/report_make.h"

#define WHOLE      250000u  /* cells of a cube with all dimensions */
#define PART       120000u  /* ... of one with some */
#define HEAT       4000000u /* cells of the heat map */
#define LISTS      12u
#define HEAT_STEPS 4.0 /* of an octave */

#define T (1u << DFT_DIMENSION_TIME)
#define P (1u << DFT_DIMENSION_WHO)
#define C (1u << DFT_DIMENSION_CALL)
#define G (1u << DFT_DIMENSION_REGION)
#define F (1u << DFT_DIMENSION_FILE)
#define K (1u << DFT_DIMENSION_STACK)
#define S (1u << DFT_DIMENSION_SIZE)
#define I (1u << DFT_DIMENSION_CLASS)

/* A query, and its cubes: the first one has all dimensions. */
struct list {
    struct dft_query query;
    struct dft_cube cubes[LISTS];
    unsigned count;
};

enum { OF_CALLS, OF_FILES, OF_STACKS, QUESTIONS };

struct counting {
    struct dft_report *report;
    struct list lists[QUESTIONS], *list; /* list: of the answer that is taken */
    int has_base;
    int lacks_busy; /* some calls stand with all of their time where they start */
};

static void add_cube(struct list *list, unsigned dimensions, uint32_t limit)
{
    list->cubes[list->count++] = (struct dft_cube){.dimensions = dimensions, .limit = limit};
}

static void add_cubes(struct list *list, const unsigned *dimensions, unsigned count)
{
    add_cube(list, dimensions[0], WHOLE);
    for (unsigned i = 1; i < count; i++)
        add_cube(list, dimensions[i], PART);
}

/* Aggregates know the class of calls on files, and no times as fine as the page's. */
static void choose(struct counting *counting)
{
    static const unsigned of_calls[] = {T | P | C | G | S, T | C | S, P | C | S, T | P | I, P | C, P | I,
                                        T | G | C,         P | G | C, C | S,     T | I,     G | I, C | G};
    static const unsigned of_files[] = {T | P | C | G | F | S, F | C | S, T | F | I, P | F | I, G | F | I, F | I};
    static const unsigned of_rows[] = {P | G | F | I, F | I};
    static const unsigned of_stacks[] = {T | P | K | I, T | K | I, P | K | I, K | I};
    struct list *lists = counting->lists;
    int all = dft_source_kept(counting->report->source) == DFT_KEPT_ALL;

    lists[OF_CALLS].query = (struct dft_query){
        .by = {DFT_BY_TIME, DFT_BY_PROCESS, DFT_BY_CAT, DFT_BY_NAME, DFT_BY_CLASS, DFT_BY_REGION, DFT_BY_SIZE},
        .nby = 7,
        .busy = 1};
    add_cubes(&lists[OF_CALLS], of_calls, sizeof of_calls / sizeof *of_calls);
    if (all) {
        lists[OF_FILES].query = lists[OF_CALLS].query;
        lists[OF_FILES].query.by[lists[OF_FILES].query.nby++] = DFT_BY_FILE;
        add_cubes(&lists[OF_FILES], of_files, sizeof of_files / sizeof *of_files);
    } else {
        lists[OF_FILES].query =
            (struct dft_query){.by = {DFT_BY_PROCESS, DFT_BY_CLASS, DFT_BY_REGION, DFT_BY_FILE}, .nby = 4};
        add_cubes(&lists[OF_FILES], of_rows, sizeof of_rows / sizeof *of_rows);
    }
    if (counting->report->stacks > 1) {
        lists[OF_STACKS].query =
            (struct dft_query){.by = {DFT_BY_TIME, DFT_BY_PROCESS, DFT_BY_CLASS, DFT_BY_STACK}, .nby = 4, .busy = 1};
        add_cubes(&lists[OF_STACKS], of_stacks, sizeof of_stacks / sizeof *of_stacks);
    }
    for (unsigned i = 0; i < QUESTIONS; i++)
        lists[i].query.width_ns =
            memchr(lists[i].query.by, DFT_BY_TIME, lists[i].query.nby) ? counting->report->width_ns : 0;
}

/* --- counting --------------------------------------------------------------------------------- */

/* The bins begin at that of --from. */
static void take_base(struct counting *counting, const struct dft_query *query)
{
    struct dft_report *report = counting->report;

    if (counting->has_base)
        return;
    counting->has_base = 1;
    report->base_ns = query->base_ns;
    report->width_ns = query->width_ns;
    if (report->from_ns > report->base_ns)
        report->base_ns += (report->from_ns - report->base_ns) / report->width_ns * report->width_ns;
}

static uint32_t bin_of(const struct dft_report *report, const struct dft_answer *answer, const struct dft_group *group)
{
    uint64_t time = answer->query.base_ns + group->key.time * answer->query.width_ns;
    uint64_t bin = time > report->base_ns ? (time - report->base_ns) / report->width_ns : 0;

    return bin < DFT_TIMES_MAX ? (uint32_t)bin : DFT_TIMES_MAX - 1;
}

void dft_report_values(const struct dft_report *report, const struct dft_answer *answer, const struct dft_group *group,
                       uint32_t at[DFT_DIMENSIONS])
{
    const struct dft_group_key *key = &group->key;
    uint32_t process = key->process_group ? answer->process_group[key->process_group - 1]->number : 0;

    memset(at, 0, DFT_DIMENSIONS * sizeof *at);
    at[DFT_DIMENSION_TIME] = answer->query.width_ns ? bin_of(report, answer, group) : 0;
    at[DFT_DIMENSION_WHO] = key->process_group ? report->who_of[process] : 0;
    at[DFT_DIMENSION_CALL] = dft_report_call(report, key->cat, key->name, key->class);
    at[DFT_DIMENSION_REGION] = dft_report_region(report, key->region);
    at[DFT_DIMENSION_FILE] = dft_report_value(&report->file_of, key->file);
    at[DFT_DIMENSION_STACK] = dft_report_value(&report->stack_of, key->stack);
    at[DFT_DIMENSION_SIZE] = key->facets >> 16 & 15;
    at[DFT_DIMENSION_CLASS] = key->class;
}

static void add_heat(struct dft_report *report, const uint32_t at[DFT_DIMENSIONS], uint64_t ns)
{
    uint32_t column = at[DFT_DIMENSION_TIME] / report->heat_fold;

    if (column < report->heat_columns && dft_is_io(at[DFT_DIMENSION_CLASS]))
        report->heat[(size_t)at[DFT_DIMENSION_WHO] * report->heat_columns + column] += ns;
}

/* The values of a cell of the cube with all dimensions. */
static void values_of(const struct dft_report *report, const struct dft_cube *whole, uint64_t key,
                      uint32_t at[DFT_DIMENSIONS])
{
    memset(at, 0, DFT_DIMENSIONS * sizeof *at);
    for (unsigned d = 0; d < DFT_DIMENSIONS; d++)
        if (whole->dimensions >> d & 1)
            at[d] = dft_cell_value(whole->dimensions, key, (enum dft_dimension)d);
    if (whole->dimensions & C)
        at[DFT_DIMENSION_CLASS] = report->class_of_call[at[DFT_DIMENSION_CALL]];
}

static int add_to_parts(struct list *list, const uint32_t at[DFT_DIMENSIONS], const struct dft_cube_cell *cell)
{
    int rc = 0;

    for (unsigned k = 1; k < list->count && !rc; k++) {
        rc = dft_cube_add(&list->cubes[k], at, cell);
        if (list->cubes[k].is_over)
            dft_cube_fini(&list->cubes[k]);
    }
    return rc;
}

/* The first cube has all, until that is too much: then what it has goes to the others. */
static int add(const struct dft_report *report, struct list *list, const uint32_t at[DFT_DIMENSIONS],
               const struct dft_cube_cell *cell)
{
    struct dft_cube *whole = &list->cubes[0];
    int rc = dft_cube_add(whole, at, cell);

    for (size_t i = 0; whole->is_over && i < whole->count && !rc; i++) {
        uint32_t of_cell[DFT_DIMENSIONS];

        values_of(report, whole, whole->cells[i].key, of_cell);
        rc = add_to_parts(list, of_cell, &whole->cells[i]);
    }
    if (whole->is_over)
        dft_cube_fini(whole);
    return rc || !whole->is_over ? rc : add_to_parts(list, at, cell);
}

static int take(void *context, const struct dft_answer *answer)
{
    struct counting *counting = context;
    struct list *list = counting->list;
    struct dft_report *report = counting->report;
    int has_time = list->query.width_ns != 0, rc = 0;

    if (has_time)
        take_base(counting, &answer->query);
    counting->lacks_busy |= has_time && answer->count && !answer->has_busy;
    for (uint32_t i = 0; i < answer->count && !rc; i++) {
        const struct dft_group *group = &answer->groups[i];
        const struct dft_metrics *metrics = &group->metrics;
        struct dft_cube_cell cell = {.calls = metrics->count,
                                     .errors = metrics->errors,
                                     .time_ns = metrics->dur_sum,
                                     .bytes = metrics->bytes,
                                     .busy_ns = answer->has_busy ? metrics->edge : metrics->dur_sum};
        uint32_t at[DFT_DIMENSIONS];

        dft_report_values(report, answer, group, at);
        if (at[DFT_DIMENSION_WHO] == DFT_WHO_MAX)
            continue;
        if (has_time && report->bins <= at[DFT_DIMENSION_TIME])
            report->bins = at[DFT_DIMENSION_TIME] + 1;
        if (list == counting->lists)
            add_heat(report, at, cell.busy_ns);
        rc = add(report, list, at, &cell);
    }
    return rc;
}

static int count(struct counting *counting)
{
    struct dft_answer answers[QUESTIONS] = {{.count = 0}};
    struct dft_query_request requests[QUESTIONS];
    unsigned asked = 0;
    int rc;

    for (; asked < QUESTIONS && counting->lists[asked].count; asked++)
        requests[asked] = (struct dft_query_request){counting->lists[asked].query, {.in_parts = 1}, &answers[asked]};
    rc = dft_query_many(counting->report->source, &counting->report->options->filter, requests, asked);
    if (rc)
        return rc;
    for (unsigned i = 0; i < asked; i++) {
        counting->list = &counting->lists[i];
        if (!rc)
            rc = dft_answer_each(&answers[i], take, counting);
        dft_answer_fini(&answers[i]);
    }
    return rc;
}

/* --- the heat map ----------------------------------------------------------------------------- */

static int begin_heat(struct dft_report *report)
{
    uint64_t bins = (report->to_ns - report->from_ns) / report->width_ns + 2;

    report->heat_fold = 1;
    while ((bins / report->heat_fold + 1) * report->whos > HEAT)
        report->heat_fold++;
    report->heat_columns = (uint32_t)(bins / report->heat_fold + 1);
    report->heat = calloc((size_t)report->heat_columns * report->whos + 1, sizeof *report->heat);
    return report->heat ? 0 : -ENOMEM;
}

/* A step of HEAT_STEPS for an octave; 0: nothing. */
static unsigned heat_step(uint64_t ns)
{
    double step = 0;

    if (!ns)
        return 0;
    for (; ns >= 2 * 1024; ns >>= 1)
        step += HEAT_STEPS;
    return (unsigned)(step + log2((double)ns) * HEAT_STEPS + 1.5);
}

/* Has a cube what the heat map shows? */
static int has_times_of_who(const struct dft_report *report)
{
    for (uint32_t i = 0; i < report->ncubes; i++)
        if ((report->cubes[i].dimensions & (T | P)) == (T | P) && !(report->cubes[i].dimensions & (F | K)))
            return 1;
    return 0;
}

static void put_heat(struct dft_report *report)
{
    size_t cells = (size_t)report->heat_columns * report->whos;

    report->has_heat = 1;
    dft_data_begin_table(&report->data, "heat", cells);
    dft_data_begin_column(&report->data, "q", DFT_DATA_BYTE);
    for (size_t i = 0; i < cells; i++)
        dft_data_put(&report->data, heat_step(report->heat[i]));
}

/* --- the whole -------------------------------------------------------------------------------- */

static void put_cube(struct dft_report *report, struct dft_cube *cube)
{
    struct dft_report_part *part = &report->cubes[report->ncubes];

    part->dimensions = cube->dimensions;
    snprintf(part->table, sizeof part->table, "cube%u", report->ncubes++);
    dft_cube_put(cube, &report->data, part->table);
}

static int put_list(struct dft_report *report, struct list *list, const char *what)
{
    if (!list->cubes[0].is_over) {
        put_cube(report, &list->cubes[0]);
        return 0;
    }
    for (unsigned i = 1; i < list->count; i++)
        if (!list->cubes[i].is_over)
            put_cube(report, &list->cubes[i]);
    return dft_report_thinned(
        report, what, WHOLE, 0,
        "there are more than %u combinations of time, process, call and %s: some pictures cannot be narrowed by all of "
        "them at once",
        WHOLE, what);
}

int dft_report_cubes(struct dft_report *report)
{
    static const char *const words[QUESTIONS] = {"region", "file", "stack"};
    struct counting counting = {.report = report};
    int rc = begin_heat(report);

    report->base_ns = report->from_ns;
    choose(&counting);
    if (!rc)
        rc = count(&counting);
    if (!report->bins || report->base_ns + report->bins * report->width_ns < report->to_ns)
        report->bins = (uint32_t)((report->to_ns - report->base_ns - 1) / report->width_ns + 1);
    for (unsigned i = 0; i < QUESTIONS && !rc; i++)
        if (counting.lists[i].count)
            rc = put_list(report, &counting.lists[i], words[i]);
    if (!rc && counting.lacks_busy)
        rc = dft_report_thinned(report, "times", 0, 0,
                                "it is not known how long calls went on: all of their time stands where they start");
    if (!rc && !has_times_of_who(report))
        put_heat(report);
    for (unsigned i = 0; i < QUESTIONS; i++)
        for (unsigned k = 0; k < counting.lists[i].count; k++)
            dft_cube_fini(&counting.lists[i].cubes[k]);
    return rc;
}
