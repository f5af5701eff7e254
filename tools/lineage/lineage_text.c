/* SPDX-License-Identifier: MIT */
/* The lineage of an entity for people: the verdict, the entity, the trees. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "lineage/lineage_find.h"
#include "lineage/lineage_output.h"
#include "lineage/lineage_walk.h"
#include "lineage/lineage_words.h"

static const char *plural(uint64_t count, const char *one, const char *several)
{
    return count == 1 ? one : several;
}

static int say_way(const struct dft_lineage_answer *answer, enum dft_lineage_way way, FILE *out)
{
    struct dft_lineage_walk walk;
    char entities[DFT_TEXT_ROOM], steps[DFT_TEXT_ROOM];
    int rc = dft_lineage_walk(answer->lineage, answer->entity, way, UINT32_MAX, &walk);

    if (!rc && !walk.nentities)
        fputs(way == DFT_LINEAGE_UP ? "came from nothing that the traces know" : "nothing was made of it", out);
    else if (!rc && way == DFT_LINEAGE_UP)
        fprintf(out, "came from %s %s in up to %s %s", dft_text_count(entities, walk.nentities),
                plural(walk.nentities, "entity", "entities"), dft_text_count(steps, walk.steps),
                plural(walk.steps, "step", "steps"));
    else if (!rc)
        fprintf(out, "%s %s made of it in up to %s %s", dft_text_count(entities, walk.nentities),
                plural(walk.nentities, "entity was", "entities were"), dft_text_count(steps, walk.steps),
                plural(walk.steps, "step", "steps"));
    dft_lineage_walk_fini(&walk);
    return rc;
}

static int print_verdict(const struct dft_lineage_answer *answer)
{
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);
    char *name = dft_lineage_shown(answer->lineage, answer->entity, 100);
    int rc = out && name ? 0 : -ENOMEM, ended;

    if (!rc)
        fprintf(out, "%s: ", name);
    if (!rc && answer->up)
        rc = say_way(answer, DFT_LINEAGE_UP, out);
    if (!rc && answer->up && answer->down)
        fputs("; ", out);
    if (!rc && answer->down)
        rc = say_way(answer, DFT_LINEAGE_DOWN, out);
    free(name);
    ended = dft_sentence_end(&sentence, out, "", 0);
    return rc ? rc : ended;
}

static void print_text(const char *title, struct dft_text text)
{
    if (!text.length)
        return;
    printf("%-9s ", title);
    dft_text_escape(stdout, text.bytes, text.length);
    putchar('\n');
}

static void print_type(const struct dft_lineage *lineage, const struct dft_lineage_entity *entity)
{
    const uint64_t *at = entity->type ? dft_map_find(&lineage->type_places, entity->type) : NULL;
    const struct dft_lineage_type *type = at ? &lineage->types[*at - 1] : NULL;
    struct dft_text name = dft_names_text(lineage->texts, entity->type), description;
    const char *role = type ? dft_lineage_role_name(type->role) : NULL;

    if (!type)
        return;
    printf("%-9s ", "type");
    dft_text_escape(stdout, name.bytes, name.length);
    if (role)
        printf(", %s", role);
    description = dft_names_text(lineage->texts, type->description);
    if (description.length) {
        fputs(": ", stdout);
        dft_text_escape(stdout, description.bytes, description.length);
    }
    putchar('\n');
}

static void print_facts(const struct dft_lineage *lineage, const struct dft_lineage_entity *entity)
{
    const char *store = dft_lineage_store_name(entity->store);
    char text[4][DFT_TEXT_ROOM];

    print_type(lineage, entity);
    print_text("key", dft_names_text(lineage->texts, entity->key));
    print_text("URI", dft_names_text(lineage->texts, entity->uri));
    printf("%-9s %016" PRIx64 "\n", "id", entity->id);
    if (store)
        printf("%-9s %s\n", "store", store);
    printf("%-9s used %s, made %s, updated %s, ended %s\n", "regions",
           dft_text_count(text[0], entity->uses[DFT_LINEAGE_USED]),
           dft_text_count(text[1], entity->uses[DFT_LINEAGE_GENERATED]),
           dft_text_count(text[2], entity->uses[DFT_LINEAGE_UPDATED]),
           dft_text_count(text[3], entity->uses[DFT_LINEAGE_INVALIDATED]));
    if (!entity->declared)
        printf("%-9s never: only its id is known\n", "declared");
}

int dft_lineage_print(const struct dft_lineage_answer *answer)
{
    uint64_t cycles = 0;
    int rc = print_verdict(answer);

    if (rc)
        return rc;
    print_facts(answer->lineage, &answer->lineage->entities[answer->entity]);
    if (answer->up) {
        puts("\nCame from");
        rc = dft_lineage_tree(answer, DFT_LINEAGE_UP, stdout, &cycles);
    }
    if (!rc && answer->down) {
        puts("\nMade of it");
        rc = dft_lineage_tree(answer, DFT_LINEAGE_DOWN, stdout, &cycles);
    }
    if (!rc && cycles)
        printf("\n%" PRIu64 " relation%s back to an entity on the way: cut there\n", cycles,
               plural(cycles, " leads", "s lead"));
    return rc;
}
