/* SPDX-License-Identifier: MIT */
/* The types and entities that traces tell of, for people: so users find names. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "lineage/lineage_find.h"
#include "lineage/lineage_output.h"
#include "lineage/lineage_words.h"

#define NAME_WIDTH 120u

static int add_count(struct dft_grid *grid, uint64_t count)
{
    char text[DFT_TEXT_ROOM];

    return dft_grid_cell(grid, count ? dft_text_count(text, count) : "-");
}

static int add_text(struct dft_grid *grid, struct dft_text text)
{
    char *escaped = text.length ? dft_text_escaped(text.bytes, text.length) : strdup("-");
    int rc = escaped ? dft_grid_cell(grid, escaped) : -ENOMEM;

    free(escaped);
    return rc;
}

static const char *word_or_dash(const char *word)
{
    return word ? word : "-";
}

static int print_types(const struct dft_lineage_answer *answer)
{
    static const struct dft_grid_column columns[] = {
        {"Type", 1, 1, 0}, {"Entities", 0, 0, 0}, {"Role", 1, 0, 2}, {"Description", 1, 1, DFT_GRID_NICE}};
    const struct dft_lineage *lineage = answer->lineage;
    struct dft_grid *grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    uint32_t lines = lineage->ntypes < answer->top ? lineage->ntypes : (uint32_t)answer->top;
    int rc = grid ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < lines; i++) {
        const struct dft_lineage_type *type = &lineage->types[i];

        rc = add_text(grid, dft_names_text(lineage->texts, type->name));
        rc = rc ? rc : add_count(grid, type->entities);
        rc = rc ? rc : dft_grid_cell(grid, word_or_dash(dft_lineage_role_name(type->role)));
        rc = rc ? rc : add_text(grid, dft_names_text(lineage->texts, type->description));
    }
    if (!rc && lines)
        dft_grid_print(grid, stdout);
    if (!rc && lines < lineage->ntypes)
        printf("... and %u more types (--top)\n", lineage->ntypes - lines);
    dft_grid_destroy(grid);
    return rc;
}

static uint64_t weight(const struct dft_lineage *lineage, uint32_t place)
{
    const struct dft_lineage_entity *entity = &lineage->entities[place];
    uint64_t sum = lineage->of_links.from[place + 1] - lineage->of_links.from[place];

    for (int i = 0; i <= DFT_LINEAGE_REGION_LAST; i++)
        sum += entity->uses[i];
    return sum;
}

static int compare_weights(const void *left, const void *right, void *context)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    DFT_ORDER(weight(context, b), weight(context, a));
    DFT_ORDER(a, b);
    return 0;
}

static int add_entity(struct dft_grid *grid, const struct dft_lineage *lineage, uint32_t place)
{
    const struct dft_lineage_entity *entity = &lineage->entities[place];
    char *name = dft_lineage_shown(lineage, place, NAME_WIDTH);
    int rc = name ? dft_grid_cell(grid, name) : -ENOMEM;

    free(name);
    rc = rc ? rc : add_count(grid, entity->uses[DFT_LINEAGE_USED]);
    rc = rc ? rc : add_count(grid, entity->uses[DFT_LINEAGE_GENERATED]);
    rc = rc ? rc : add_count(grid, entity->uses[DFT_LINEAGE_UPDATED]);
    rc = rc ? rc : add_count(grid, entity->uses[DFT_LINEAGE_INVALIDATED]);
    rc = rc ? rc : add_count(grid, lineage->of_links.from[place + 1] - lineage->of_links.from[place]);
    rc = rc ? rc
            : dft_grid_cell(grid,
                            entity->declared ? word_or_dash(dft_lineage_store_name(entity->store)) : "never declared");
    return rc ? rc : add_text(grid, dft_names_text(lineage->texts, entity->uri));
}

static int print_entities(const struct dft_lineage_answer *answer)
{
    static const struct dft_grid_column columns[] = {
        {"Entity", 1, 1, 0}, {"Used", 0, 0, 0},  {"Made", 0, 0, 0},  {"Updated", 0, 0, 3},
        {"Ended", 0, 0, 4},  {"Links", 0, 0, 2}, {"Store", 1, 0, 5}, {"URI", 1, DFT_GRID_PATH, DFT_GRID_NICE}};
    const struct dft_lineage *lineage = answer->lineage;
    struct dft_grid *grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    uint32_t *order = malloc((lineage->nentities + 1u) * sizeof *order);
    uint32_t lines = lineage->nentities < answer->top ? lineage->nentities : (uint32_t)answer->top;
    int rc = grid && order ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < lineage->nentities; i++)
        order[i] = i;
    if (!rc)
        qsort_r(order, lineage->nentities, sizeof *order, compare_weights, (void *)(uintptr_t)lineage);
    for (uint32_t i = 0; !rc && i < lines; i++)
        rc = add_entity(grid, lineage, order[i]);
    if (!rc)
        dft_grid_print(grid, stdout);
    if (!rc && lines < lineage->nentities)
        printf("... and %u more entities (--top)\n", lineage->nentities - lines);
    free(order);
    dft_grid_destroy(grid);
    return rc;
}

int dft_lineage_list(const struct dft_lineage_answer *answer)
{
    const struct dft_lineage *lineage = answer->lineage;
    uint64_t regions = 0, unknown = 0;
    char text[4][DFT_TEXT_ROOM];
    int rc;

    for (uint32_t i = 0; i < lineage->nactivities; i++)
        regions += lineage->activities[i].count;
    for (uint32_t i = 0; i < lineage->nentities; i++)
        unknown += !lineage->entities[i].declared;
    dft_print_wrapped("%s entit%s of %s type%s; %s region%s used or made them; %s of them never declared",
                      dft_text_count(text[0], lineage->nentities), lineage->nentities == 1 ? "y" : "ies",
                      dft_text_count(text[1], lineage->ntypes), lineage->ntypes == 1 ? "" : "s",
                      dft_text_count(text[2], regions), regions == 1 ? "" : "s",
                      unknown ? dft_text_count(text[3], unknown) : "none");
    if (lineage->ntypes)
        putchar('\n');
    rc = print_types(answer);
    if (rc)
        return rc;
    putchar('\n');
    rc = print_entities(answer);
    if (!rc)
        puts("\n`dftmerge lineage ENTITY PATH` shows what one came from, and what was made of it");
    return rc;
}
