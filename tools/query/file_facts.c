/* SPDX-License-Identifier: MIT */
/* Directories, patterns and --file of files, by id. */
#include "query/file_facts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/names.h"
#include "mpi/comm.h"
#include "mpi/pack.h"
#include "views/filter.h"
#include "intake/source_names.h"
#include "format/hash.h"
#include "object/object.h"
#include "symbols/symbols.h"

struct dft_file_facts {
    struct dft_source *source;
    const struct dft_filter *filter;
    struct dft_file_grouping grouping;
    struct dft_map groups; /* id -> that of its directory or pattern */
    struct dft_map passes; /* id -> 1, or 2: it passes */
    struct dft_map folded; /* id -> 1: it stands for files that were not distinguished */
    pthread_mutex_t lock;  /* of all three, while they are made */
};

/* --- all files -------------------------------------------------------------------------------- */

static int take_id(void *context, struct dft_text group)
{
    *(uint64_t *)context = dft_name_id(group.bytes, group.length);
    return 0;
}

/* Where two texts have one id, which should not be, it must not matter which came first. */
static int keep(struct dft_map *map, uint64_t id, uint64_t value)
{
    uint64_t *place = id && value ? dft_map_put(map, id) : &value;

    if (!place)
        return -ENOMEM;
    if (value > *place)
        *place = value;
    return 0;
}

static int look_at(void *context, uint64_t id, struct dft_text text)
{
    struct dft_file_facts *files = context;
    uint64_t group = 0, passes = 0;
    int rc = 0;

    if (files->grouping.by != DFT_FILES_ALONE)
        rc = dft_file_grouping_text(&files->grouping, text, take_id, &group);
    if (dft_filter_has_files(files->filter))
        passes = 1u + (unsigned)dft_filter_path(files->filter, text);
    pthread_mutex_lock(&files->lock);
    if (!rc)
        rc = keep(&files->groups, id, group);
    if (!rc)
        rc = keep(&files->passes, id, passes);
    if (!rc)
        rc = keep(&files->folded, id, (uint64_t)dft_file_is_folded(text));
    pthread_mutex_unlock(&files->lock);
    return rc;
}

/* --- between ranks ---------------------------------------------------------------------------- */

static int take_pairs(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int rc = 0;

    while (!rc && rank != dft_comm_rank() && unpack.at < unpack.end) {
        uint64_t pair[2];

        dft_unpack_get(&unpack, pair, sizeof pair);
        rc = keep(context, pair[0], pair[1]);
    }
    return rc;
}

static int share(struct dft_map *map)
{
    struct dft_pack pack = {0};

    if (dft_comm_size() == 1)
        return 0;
    for (size_t i = 0; i < map->capacity; i++) {
        const uint64_t pair[2] = {map->slots[i].key, map->slots[i].value};

        if (pair[0])
            dft_pack_put(&pack, pair, sizeof pair);
    }
    return dft_pack_exchange(&pack, take_pairs, map);
}

int dft_file_facts_create(struct dft_file_facts **result, struct dft_source *source, const struct dft_filter *filter,
                          enum dft_file_facts_by by, unsigned depth)
{
    struct dft_file_facts *files = *result = calloc(1, sizeof *files);
    int rc = dft_comm_agree(files ? 0 : -ENOMEM);

    if (rc)
        return rc;
    files->source = source;
    files->filter = filter;
    pthread_mutex_init(&files->lock, NULL);
    rc = dft_comm_agree(dft_file_grouping_init(&files->grouping, by, depth, source));
    if (!rc)
        rc = dft_comm_agree(dft_source_names_each(source, look_at, files));
    if (!rc)
        rc = share(&files->groups);
    if (!rc)
        rc = share(&files->folded);
    return rc ? rc : share(&files->passes);
}

void dft_file_facts_destroy(struct dft_file_facts *files)
{
    if (!files)
        return;
    dft_map_fini(&files->groups);
    dft_map_fini(&files->passes);
    dft_map_fini(&files->folded);
    dft_file_grouping_fini(&files->grouping);
    pthread_mutex_destroy(&files->lock);
    free(files);
}

int dft_file_facts_passes(const struct dft_file_facts *files, uint64_t file)
{
    const uint64_t *known = dft_map_find(&files->passes, file);

    return known ? *known == 2 : dft_filter_file(files->filter, file);
}

int dft_file_facts_is_folded(const struct dft_file_facts *files, uint64_t file)
{
    return dft_map_find(&files->folded, file) != NULL;
}

struct dft_text dft_file_facts_type(const struct dft_file_facts *files, struct dft_text point)
{
    return dft_mount_type(&files->grouping.mounts, point);
}

int dft_file_facts_has_mounts(const struct dft_file_facts *files)
{
    return files->grouping.mounts.count != 0;
}

/* --- texts of groups -------------------------------------------------------------------------- */

struct naming {
    struct dft_names *into;
    uint64_t group;
};

static int add_group(void *context, struct dft_text group)
{
    struct naming *naming = context;

    naming->group = dft_name_id(group.bytes, group.length);
    return dft_names_add(naming->into, naming->group, group.bytes, group.length, NULL);
}

int dft_file_facts_group(const struct dft_file_facts *files, uint64_t file, uint64_t *group)
{
    struct naming naming = {dft_source_names_table(files->source), 0};
    const uint64_t *known = dft_map_find(&files->groups, file);
    char buffer[18];
    int rc = 0;

    if (!known) { /* its text is in the table, or it is "#id", which has few groups, whose texts are nowhere else */
        rc = dft_file_grouping_text(&files->grouping, dft_names_show(naming.into, file, buffer), add_group, &naming);
        known = &naming.group;
    }
    *group = *known;
    return rc;
}

struct emitting {
    const struct dft_file_grouping *grouping;
    int (*emit)(void *context, uint64_t id, struct dft_text text);
    void *context;
};

static int emit_group(void *context, struct dft_text group)
{
    const struct emitting *emitting = context;

    return emitting->emit(emitting->context, dft_name_id(group.bytes, group.length), group);
}

static int emit_group_of(void *context, uint64_t id, struct dft_text text)
{
    const struct emitting *emitting = context;

    (void)id;
    return dft_file_grouping_text(emitting->grouping, text, emit_group, context);
}

int dft_file_facts_each_text(const struct dft_file_facts *files, struct dft_source *source,
                             int (*emit)(void *context, uint64_t id, struct dft_text text), void *context)
{
    struct emitting emitting = {.emit = emit, .context = context};

    if (!files || files->grouping.by == DFT_FILES_ALONE)
        return dft_source_names_each(source, emit, context);
    emitting.grouping = &files->grouping;
    return dft_source_names_each(source, emit_group_of, &emitting);
}

/* A file of each group without a text; the smallest, so that it is always the same. Returns how
 * many, or -1: no memory. */
static int64_t choose_files(const struct dft_file_facts *files, const struct dft_names *into, const uint64_t *groups,
                            size_t count, uint64_t *chosen)
{
    struct dft_map file_of = {0};
    int64_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (groups[i] && !dft_names_text(into, groups[i]).bytes &&
            !dft_names_text(dft_source_names_table(files->source), groups[i]).bytes &&
            !dft_map_put(&file_of, groups[i])) {
            dft_map_fini(&file_of);
            return -1;
        }
    for (size_t i = 0; file_of.count && i < files->groups.capacity; i++) {
        const struct dft_map_slot *slot = &files->groups.slots[i];
        uint64_t *file = slot->key ? dft_map_find(&file_of, slot->value) : NULL;

        if (file && (!*file || slot->key < *file))
            *file = slot->key;
    }
    for (size_t i = 0; i < file_of.capacity; i++)
        if (file_of.slots[i].key && file_of.slots[i].value)
            chosen[n++] = file_of.slots[i].value;
    dft_map_fini(&file_of);
    return n;
}

int dft_file_facts_texts(const struct dft_file_facts *files, struct dft_names *into, const uint64_t *groups,
                         size_t count)
{
    struct dft_names *texts = dft_names_create(dft_symbols_show);
    uint64_t *chosen = malloc((count + 1) * sizeof *chosen);
    int64_t n = texts && chosen ? choose_files(files, into, groups, count, chosen) : -1;
    int rc = dft_comm_agree(n < 0 ? -ENOMEM : 0);

    if (!rc)
        rc = dft_source_names_into(files->source, texts, chosen, (size_t)n);
    for (int64_t i = 0; !rc && i < n; i++) {
        struct naming naming = {into, 0};
        struct dft_text text = dft_names_text(texts, chosen[i]);

        if (!text.bytes)
            text = dft_names_text(dft_source_names_table(files->source), chosen[i]);
        if (text.bytes)
            rc = dft_file_grouping_text(&files->grouping, text, add_group, &naming);
    }
    dft_names_destroy(texts);
    free(chosen);
    return dft_comm_agree(rc);
}
