/* SPDX-License-Identifier: MIT */
/* The graph as PROV-JSON of W3C: regions are activities, processes are agents. What PROV has no
 * word for are attributes of the prefix dftrace. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/write_json.h"
#include "lineage/lineage_find.h"
#include "lineage/lineage_output.h"
#include "lineage/lineage_words.h"

struct prov {
    struct dft_json json;
    const struct dft_lineage_answer *answer;
    const struct dft_lineage *lineage;
    struct dft_lineage_part part;
    uint64_t relations; /* each has an id of its own */
};

static void entity_id(const struct prov *prov, uint32_t place, char id[40])
{
    snprintf(id, 40, "dftrace:entity-%016" PRIx64, prov->lineage->entities[place].id);
}

static void activity_id(uint32_t number, char id[40])
{
    snprintf(id, 40, "dftrace:region-%u", number + 1);
}

static void agent_id(const struct prov *prov, uint32_t process, char id[40])
{
    snprintf(id, 40, "dftrace:process-%016" PRIx64, prov->answer->processes[process].key);
}

static void put_text(struct prov *prov, const char *key, struct dft_text text)
{
    if (text.length)
        dft_json_text(&prov->json, key, text.bytes, text.length);
}

/* A name of PROV's or of ours, as PROV writes names in values. */
static void put_name(struct prov *prov, const char *key, const char *name)
{
    dft_json_object(&prov->json, key);
    dft_json_string(&prov->json, "$", name);
    dft_json_string(&prov->json, "type", "prov:QUALIFIED_NAME");
    dft_json_end_object(&prov->json);
}

static void put_time(struct prov *prov, const char *key, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm parts;
    char text[64], date[32];

    if (!gmtime_r(&seconds, &parts) || !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts))
        return;
    snprintf(text, sizeof text, "%s.%09uZ", date, (unsigned)(ns % 1000000000u));
    dft_json_string(&prov->json, key, text);
}

/* --- things ----------------------------------------------------------------------------------- */

static int put_entity(struct prov *prov, uint32_t place)
{
    const struct dft_lineage *lineage = prov->lineage;
    const struct dft_lineage_entity *entity = &lineage->entities[place];
    const uint64_t *at = entity->type ? dft_map_find(&lineage->type_places, entity->type) : NULL;
    size_t length;
    char id[40], *name = dft_lineage_name(lineage, place, &length);

    if (!name)
        return -ENOMEM;
    entity_id(prov, place, id);
    dft_json_object(&prov->json, id);
    dft_json_text(&prov->json, "prov:label", name, length);
    free(name);
    put_text(prov, "prov:type", dft_names_text(lineage->texts, entity->type));
    put_text(prov, "prov:location", dft_names_text(lineage->texts, entity->uri));
    put_text(prov, "dftrace:key", dft_names_text(lineage->texts, entity->key));
    if (dft_lineage_store_name(entity->store))
        dft_json_string(&prov->json, "dftrace:store", dft_lineage_store_name(entity->store));
    if (at && dft_lineage_role_name(lineage->types[*at - 1].role))
        dft_json_string(&prov->json, "dftrace:role", dft_lineage_role_name(lineage->types[*at - 1].role));
    if (at)
        put_text(prov, "dftrace:description", dft_names_text(lineage->texts, lineage->types[*at - 1].description));
    dft_json_bool(&prov->json, "dftrace:declared", entity->declared != 0);
    if (place == prov->answer->entity)
        dft_json_bool(&prov->json, "dftrace:asked", 1);
    dft_json_end_object(&prov->json);
    return 0;
}

static void put_activity(struct prov *prov, uint32_t number)
{
    const struct dft_lineage_activity *activity = &prov->lineage->activities[number];
    struct dft_text category, name;
    char id[40], text[18];

    activity_id(number, id);
    dft_names_call(prov->answer->names, activity->call, &category, &name, text);
    dft_json_object(&prov->json, id);
    put_time(prov, "prov:startTime", activity->first_ns);
    put_time(prov, "prov:endTime", activity->last_ns);
    put_text(prov, "prov:label", name);
    put_text(prov, "dftrace:category", category);
    dft_json_uint(&prov->json, "dftrace:count", activity->count);
    dft_json_uint(&prov->json, "dftrace:time_ns", activity->time_ns);
    dft_json_end_object(&prov->json);
}

static void put_agent(struct prov *prov, uint32_t number)
{
    const struct dft_process *process = &prov->answer->processes[number].process;
    char id[40];

    agent_id(prov, number, id);
    dft_json_object(&prov->json, id);
    put_name(prov, "prov:type", "prov:SoftwareAgent");
    dft_json_uint(&prov->json, "dftrace:pid", process->pid);
    if (process->rank >= 0)
        dft_json_int(&prov->json, "dftrace:rank", process->rank);
    put_text(prov, "dftrace:host", process->host);
    put_text(prov, "dftrace:program", process->exe);
    put_text(prov, "dftrace:role", process->role);
    dft_json_end_object(&prov->json);
}

/* --- relations -------------------------------------------------------------------------------- */

static void begin_relation(struct prov *prov, const char *left_key, const char *left, const char *right_key,
                           const char *right)
{
    char id[32];

    snprintf(id, sizeof id, "_:r%" PRIu64, ++prov->relations);
    dft_json_object(&prov->json, id);
    dft_json_string(&prov->json, left_key, left);
    dft_json_string(&prov->json, right_key, right);
}

/* Relations of regions are the same but for who comes first; an update is a use and a making. */
static void put_uses(struct prov *prov, const char *section, int (*wanted)(uint8_t relation), int activity_first)
{
    const struct dft_lineage *lineage = prov->lineage;
    char left[40], right[40];

    dft_json_object(&prov->json, section);
    for (uint32_t a = 0; a < lineage->nactivities; a++) {
        const struct dft_lineage_activity *activity = &lineage->activities[a];

        for (uint32_t i = activity->from; prov->part.activities[a] && i < activity->from + activity->uses; i++) {
            const struct dft_lineage_use *use = &lineage->uses[i];

            if (!wanted(use->relation) || !prov->part.entities[use->entity])
                continue;
            activity_id(a, left);
            entity_id(prov, use->entity, right);
            if (activity_first)
                begin_relation(prov, "prov:activity", left, "prov:entity", right);
            else
                begin_relation(prov, "prov:entity", right, "prov:activity", left);
            if (use->relation == DFT_LINEAGE_UPDATED)
                dft_json_string(&prov->json, "dftrace:relation", "updated");
            dft_json_end_object(&prov->json);
        }
    }
    dft_json_end_object(&prov->json);
}

static int is_invalidated(uint8_t relation)
{
    return relation == DFT_LINEAGE_INVALIDATED;
}

static void put_association(struct prov *prov)
{
    char left[40], right[40];

    dft_json_object(&prov->json, "wasAssociatedWith");
    for (uint32_t a = 0; a < prov->lineage->nactivities; a++) {
        if (!prov->part.activities[a])
            continue;
        activity_id(a, left);
        agent_id(prov, prov->lineage->activities[a].process, right);
        begin_relation(prov, "prov:activity", left, "prov:agent", right);
        dft_json_end_object(&prov->json);
    }
    dft_json_end_object(&prov->json);
}

/* What a relation of entities is to PROV, with the names of its ends: the subject first. */
static const struct {
    const char *section, *subject, *object;
    uint8_t relation;
    uint8_t is_named; /* PROV has no word that is as narrow */
} links[] = {
    {"wasDerivedFrom", "prov:generatedEntity", "prov:usedEntity", DFT_LINEAGE_DERIVED_FROM, 0},
    {"wasDerivedFrom", "prov:generatedEntity", "prov:usedEntity", DFT_LINEAGE_REVISION_OF, 0},
    {"hadMember", "prov:collection", "prov:entity", DFT_LINEAGE_CONTAINS, 0},
    {"hadMember", "prov:entity", "prov:collection", DFT_LINEAGE_PART_OF, 1},
    {"specializationOf", "prov:specificEntity", "prov:generalEntity", DFT_LINEAGE_SPECIALIZATION_OF, 0},
    {"alternateOf", "prov:alternate1", "prov:alternate2", DFT_LINEAGE_ALTERNATE_OF, 0},
    {"wasInfluencedBy", "prov:influencee", "prov:influencer", DFT_LINEAGE_DEPENDS_ON, 1},
};

static void put_link(struct prov *prov, const struct dft_lineage_link *link, size_t kind)
{
    char subject[40], object[40];

    entity_id(prov, link->subject, subject);
    entity_id(prov, link->object, object);
    begin_relation(prov, links[kind].subject, subject, links[kind].object, object);
    if (link->relation == DFT_LINEAGE_REVISION_OF)
        put_name(prov, "prov:type", "prov:Revision");
    if (links[kind].is_named)
        dft_json_string(&prov->json, "dftrace:relation", dft_lineage_relation_name(link->relation));
    dft_json_end_object(&prov->json);
}

static void put_links(struct prov *prov)
{
    const size_t kinds = sizeof links / sizeof *links;

    for (size_t kind = 0; kind < kinds; kind++) {
        if (!kind || strcmp(links[kind].section, links[kind - 1].section))
            dft_json_object(&prov->json, links[kind].section);
        for (uint32_t i = 0; i < prov->lineage->nlinks; i++)
            if (prov->part.links[i] && prov->lineage->links[i].relation == links[kind].relation)
                put_link(prov, &prov->lineage->links[i], kind);
        if (kind + 1 == kinds || strcmp(links[kind].section, links[kind + 1].section))
            dft_json_end_object(&prov->json);
    }
}

/* --- all -------------------------------------------------------------------------------------- */

static int put_things(struct prov *prov)
{
    const struct dft_lineage *lineage = prov->lineage;
    int rc = 0;

    dft_json_object(&prov->json, "prefix");
    dft_json_string(&prov->json, "dftrace", "urn:dftrace:");
    dft_json_end_object(&prov->json);
    dft_json_object(&prov->json, "entity");
    for (uint32_t i = 0; !rc && i < lineage->nentities; i++)
        rc = prov->part.entities[i] ? put_entity(prov, i) : 0;
    dft_json_end_object(&prov->json);
    dft_json_object(&prov->json, "activity");
    for (uint32_t i = 0; i < lineage->nactivities; i++)
        if (prov->part.activities[i])
            put_activity(prov, i);
    dft_json_end_object(&prov->json);
    dft_json_object(&prov->json, "agent");
    for (uint32_t i = 0; i < prov->answer->nprocesses; i++)
        if (prov->part.processes[i])
            put_agent(prov, i);
    dft_json_end_object(&prov->json);
    return rc;
}

static int takes(uint8_t relation)
{
    return dft_lineage_takes(relation);
}

static int makes(uint8_t relation)
{
    return dft_lineage_makes(relation);
}

int dft_lineage_prov(const struct dft_lineage_answer *answer)
{
    struct prov prov = {.answer = answer, .lineage = answer->lineage};
    int rc = dft_lineage_part(answer, &prov.part);

    if (rc) {
        dft_lineage_part_fini(&prov.part);
        return rc;
    }
    dft_json_init(&prov.json, stdout, 1);
    dft_json_object(&prov.json, NULL);
    rc = put_things(&prov);
    put_uses(&prov, "used", takes, 1);
    put_uses(&prov, "wasGeneratedBy", makes, 0);
    put_uses(&prov, "wasInvalidatedBy", is_invalidated, 0);
    put_association(&prov);
    put_links(&prov);
    dft_json_end_object(&prov.json);
    putchar('\n');
    dft_lineage_part_fini(&prov.part);
    return rc;
}
