/* SPDX-License-Identifier: MIT */
/* The graph as DOT, for Graphviz: entities are ellipses, regions boxes, and arrows follow the data. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "lineage/lineage_find.h"
#include "lineage/lineage_output.h"
#include "lineage/lineage_words.h"

#define NAME_WIDTH 60u

/* A text inside the quotes of DOT; it has no control characters any more. */
static void put_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static int put_entity(const struct dft_lineage_answer *answer, uint32_t place)
{
    const struct dft_lineage_entity *entity = &answer->lineage->entities[place];
    char *name = dft_lineage_shown(answer->lineage, place, NAME_WIDTH);

    if (!name)
        return -ENOMEM;
    printf("  \"%016" PRIx64 "\" [label=\"", entity->id);
    put_quoted(name);
    printf("\"%s%s];\n", entity->declared ? "" : ", style=dashed", place == answer->entity ? ", penwidth=3" : "");
    free(name);
    return 0;
}

static int put_activity(const struct dft_lineage_answer *answer, uint32_t number)
{
    const struct dft_lineage_activity *activity = &answer->lineage->activities[number];
    const struct dft_process *process = &answer->processes[activity->process].process;
    struct dft_text category, name;
    char buffer[18], *text;

    dft_names_call(answer->names, activity->call, &category, &name, buffer);
    text = dft_text_escaped(name.bytes, name.length < NAME_WIDTH ? name.length : NAME_WIDTH);
    if (!text)
        return -ENOMEM;
    printf("  r%u [shape=box, label=\"", number);
    put_quoted(text);
    printf("\\n%u time%s, ", activity->count, activity->count == 1 ? "" : "s");
    if (process->rank >= 0)
        printf("rank %d\"];\n", process->rank);
    else
        printf("process %u\"];\n", process->pid);
    free(text);
    return 0;
}

static void put_uses(const struct dft_lineage *lineage, const struct dft_lineage_part *part, uint32_t number)
{
    const struct dft_lineage_activity *activity = &lineage->activities[number];

    for (uint32_t i = activity->from; i < activity->from + activity->uses; i++) {
        const struct dft_lineage_use *use = &lineage->uses[i];
        uint64_t id = lineage->entities[use->entity].id;

        if (!part->entities[use->entity])
            continue;
        if (use->relation == DFT_LINEAGE_USED)
            printf("  \"%016" PRIx64 "\" -> r%u;\n", id, number);
        else if (use->relation == DFT_LINEAGE_GENERATED)
            printf("  r%u -> \"%016" PRIx64 "\";\n", number, id);
        else
            printf("  r%u -> \"%016" PRIx64 "\" [label=%s%s];\n", number, id, dft_lineage_relation_name(use->relation),
                   use->relation == DFT_LINEAGE_UPDATED ? ", dir=both" : ", style=dotted");
    }
}

/* From the object, which the subject came from, to the subject. */
static void put_link(const struct dft_lineage *lineage, const struct dft_lineage_link *link)
{
    int turned = link->relation == DFT_LINEAGE_PART_OF;
    uint64_t subject = lineage->entities[link->subject].id, object = lineage->entities[link->object].id;

    printf("  \"%016" PRIx64 "\" -> \"%016" PRIx64 "\" [style=dashed, label=%s%s];\n", turned ? subject : object,
           turned ? object : subject, dft_lineage_relation_name(link->relation),
           link->relation == DFT_LINEAGE_ALTERNATE_OF ? ", dir=none" : "");
}

int dft_lineage_dot(const struct dft_lineage_answer *answer)
{
    const struct dft_lineage *lineage = answer->lineage;
    struct dft_lineage_part part;
    int rc = dft_lineage_part(answer, &part);

    if (!rc)
        puts("digraph lineage {\n  rankdir=LR;");
    for (uint32_t i = 0; !rc && i < lineage->nentities; i++)
        rc = part.entities[i] ? put_entity(answer, i) : 0;
    for (uint32_t i = 0; !rc && i < lineage->nactivities; i++) {
        if (!part.activities[i])
            continue;
        rc = put_activity(answer, i);
        if (!rc)
            put_uses(lineage, &part, i);
    }
    for (uint32_t i = 0; !rc && i < lineage->nlinks; i++)
        if (part.links[i])
            put_link(lineage, &lineage->links[i]);
    if (!rc)
        puts("}");
    dft_lineage_part_fini(&part);
    return rc;
}
