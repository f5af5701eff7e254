/* SPDX-License-Identifier: MIT */
/* dftmerge lineage: what an entity came from, and what was made of it. The command. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "lineage/lineage_find.h"
#include "lineage/lineage_graph.h"
#include "lineage/lineage_output.h"
#include "lineage/lineage_read.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

#define TREE_TOP   10u
#define LIST_TOP   20u
#define TREE_DEPTH 10u

struct asked {
    const char *entity; /* NULL: none */
    uint64_t depth;     /* 0: not specified */
    int up, down, dot;
};

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);

    return length >= end && !strcmp(text + length - end, ending);
}

/* A URI may be the path of a file, so a file alone does not make a word a PATH. */
static int is_path(const char *word)
{
    static const char *const endings[] = {".dft", ".dft.live", ".pfw", ".pfw.gz"};
    struct stat status;

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(word, endings[i]))
            return 1;
    return !stat(word, &status) && S_ISDIR(status.st_mode);
}

/* The first word is the entity, unless it is a PATH. Returns 0 after an error. */
static int take_entity(struct dft_options *options, struct asked *asked)
{
    struct dft_source_options *source = &options->source;

    if (source->npaths < 1 || is_path(source->paths[0]))
        return 1;
    asked->entity = source->paths[0];
    source->paths++;
    source->npaths--;
    if (source->npaths)
        return 1;
    fprintf(stderr,
            "dftmerge lineage: %s is neither a folder nor a trace. With an entity the traces come behind it:\n"
            "dftmerge lineage: `dftmerge lineage ENTITY PATH`; `dftmerge lineage PATH` lists the entities\n",
            asked->entity);
    return 0;
}

static int parse_depth(const char *depth, struct asked *asked)
{
    if (!depth)
        return 1;
    if (*depth && strspn(depth, "0123456789") == strlen(depth) && strlen(depth) < 5)
        asked->depth = strtoull(depth, NULL, 10);
    if (asked->depth && asked->depth <= DFT_LINEAGE_DEPTH_MAX)
        return 1;
    fprintf(stderr, "dftmerge lineage: --depth %s: not a number of steps from 1 to %u\n", depth, DFT_LINEAGE_DEPTH_MAX);
    return 0;
}

/* The texts of the regions' names. */
static int fetch_names(struct dft_source *source, const struct dft_lineage *lineage)
{
    uint64_t *ids = malloc((lineage->nactivities + 1u) * sizeof *ids);
    uint32_t count = 0;
    int rc = ids ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < lineage->nactivities; i++)
        if (!count || ids[count - 1] != lineage->activities[i].call)
            ids[count++] = lineage->activities[i].call;
    if (!rc && count)
        rc = dft_source_names(source, ids, count);
    free(ids);
    return rc;
}

static int print(const struct dft_options *options, const struct asked *asked, struct dft_lineage_answer *answer)
{
    int is_list = answer->entity == DFT_LINEAGE_ALL;

    if (options->json || asked->dot) {
        answer->depth = asked->depth ? (uint32_t)asked->depth : UINT32_MAX;
        return options->json ? dft_lineage_prov(answer) : dft_lineage_dot(answer);
    }
    answer->depth = asked->depth ? (uint32_t)asked->depth : TREE_DEPTH;
    answer->top = options->top ? options->top : is_list ? LIST_TOP : TREE_TOP;
    return is_list ? dft_lineage_list(answer) : dft_lineage_print(answer);
}

static int answer_from(const struct dft_options *options, const struct asked *asked, struct dft_source *source,
                       struct dft_lineage *lineage)
{
    struct dft_lineage_answer answer = {.lineage = lineage, .entity = DFT_LINEAGE_ALL};
    int rc = dft_lineage_read(lineage, source, &options->filter);

    if (!rc && asked->entity)
        rc = dft_lineage_find(lineage, asked->entity, &answer.entity);
    if (!rc)
        rc = fetch_names(source, lineage);
    if (rc)
        return rc;
    if (!lineage->nentities && !options->json)
        dft_source_note(source, DFT_BAD_OTHER,
                        "the traces know no entity; programs declare them with dftrace_entity, DFTRACE_USES and "
                        "DFTRACE_GENERATES (dftrace/entity.h), or with DFTracer's macros");
    answer.names = dft_source_names_table(source);
    answer.processes = dft_source_processes(source, &answer.nprocesses);
    answer.up = asked->up || !asked->down;
    answer.down = asked->down || !asked->up;
    return lineage->nentities || options->json || asked->dot ? print(options, asked, &answer) : 0;
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct dft_source *source;
    struct dft_lineage lineage;
    struct asked asked = {0};
    const char *depth = NULL;
    int code, rc;
    const struct dft_option own[] = {
        {"up", 'u', NULL, NULL, &asked.up, "Only what the entity came from"},
        {"down", 'd', NULL, NULL, &asked.down, "Only what was made of the entity"},
        {"depth", 0, "N", &depth, NULL, "At most N steps (text: 10, else all)"},
        {"dot", 0, NULL, NULL, &asked.dot, "For Graphviz: DOT"},
        {0},
    };

    if (dft_options_parse(&options, &dft_command_lineage, own, argc, argv, &code))
        return code;
    if (!take_entity(&options, &asked) || !parse_depth(depth, &asked)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    options.only_queries = 1;
    if (dft_command_begin(&options, &source, &code))
        return code;
    rc = answer_from(&options, &asked, source, &lineage);
    if (rc && rc != -ENOENT && rc != -EEXIST)
        fprintf(stderr, "dftmerge lineage: %s\n", strerror(-rc));
    dft_lineage_fini(&lineage);
    return dft_command_end(&options, source, rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_lineage = {
    .name = "lineage",
    .arguments = "[ENTITY] PATH...",
    .brief = "Entities: what one came from, and what was made of it",
    .details =
        "Programs say which entities (samples, shards, checkpoints) their regions use and make, and how entities "
        "relate. ENTITY is TYPE:KEY, a KEY that only one type has, an id of 16 hex digits, or a URI. Without "
        "ENTITY: the types and entities that there are. A first word that is a folder, or ends as traces do, is a "
        "PATH. --json is PROV-JSON of W3C: regions are activities, and processes are agents.",
    .example = "dftmerge lineage checkpoint:epoch-3 traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_PART | DFT_TAKES_TOP,
    .run = run,
};
