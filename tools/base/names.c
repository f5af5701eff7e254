/* SPDX-License-Identifier: MIT */
/* Names: a lock-free table of id -> text over liburcu's rculfhash. */
#include "base/names.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <urcu.h>
#include <urcu/rculfhash.h>

struct entry {
    struct entry *next; /* links all entries, for freeing */
    uint32_t length;
    char bytes[];
};

struct node {
    struct cds_lfht_node hash;
    struct node *next; /* links all nodes, for freeing */
    uint64_t id;
    struct entry *_Atomic entry;
    /* functions: the name in the symbols of their module; NULL: not looked up yet */
    struct entry *_Atomic shown;
};

struct dft_names {
    struct cds_lfht *table;
    struct node *_Atomic nodes;
    struct entry *_Atomic entries;
    struct dft_names *lent;
    dft_names_show_fn *show;
    _Atomic uint64_t bytes;
};

/* A count, because a thread may have two sources open. */
static _Thread_local unsigned entered;

void dft_names_enter(void)
{
    if (!entered++)
        rcu_register_thread();
}

void dft_names_leave(void)
{
    if (!--entered)
        rcu_unregister_thread();
}

struct dft_names *dft_names_create(dft_names_show_fn *show)
{
    struct dft_names *names = calloc(1, sizeof *names);

    if (!names)
        return NULL;
    names->show = show;
    /* With a count of its nodes, the table grows as they do. Without it, the table grows for its
     * longest chain, without end: a million names took 2 GB. */
    names->table = cds_lfht_new(4096, 4096, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING, NULL);
    if (!names->table) {
        free(names);
        return NULL;
    }
    return names;
}

/* Deletes nodes in the order of the table. Each node is then the first of its bucket. The table
 * therefore need not search for nodes while it shrinks. */
void dft_names_destroy(struct dft_names *names)
{
    struct node *node, *next_node;
    struct entry *entry, *next_entry;
    struct cds_lfht_iter iter;

    if (!names)
        return;
    rcu_read_lock();
    for (cds_lfht_first(names->table, &iter); cds_lfht_iter_get_node(&iter); cds_lfht_next(names->table, &iter))
        cds_lfht_del(names->table, cds_lfht_iter_get_node(&iter));
    rcu_read_unlock();
    cds_lfht_destroy(names->table, NULL);
    for (node = names->nodes; node; node = next_node) {
        next_node = node->next;
        free(node);
    }
    for (entry = names->entries; entry; entry = next_entry) {
        next_entry = entry->next;
        free(entry);
    }
    free(names);
}

/* Ids are hashes already. The fold guards against forged ids that differ in the upper half only. */
static unsigned long hash_of(uint64_t id)
{
    return (unsigned long)(id ^ id >> 32);
}

static int node_matches(struct cds_lfht_node *node, const void *key)
{
    return caa_container_of(node, struct node, hash)->id == *(const uint64_t *)key;
}

/* The caller is in a read-side section. */
static struct node *find(const struct dft_names *names, uint64_t id)
{
    struct cds_lfht_iter iter;
    struct cds_lfht_node *hash;

    cds_lfht_lookup(names->table, hash_of(id), node_matches, &id, &iter);
    hash = cds_lfht_iter_get_node(&iter);
    return hash ? caa_container_of(hash, struct node, hash) : NULL;
}

static int less(const char *a, uint32_t a_length, const struct entry *b)
{
    int order = memcmp(a, b->bytes, a_length < b->length ? a_length : b->length);

    return order ? order < 0 : a_length < b->length;
}

static struct entry *entry_create(struct dft_names *names, const char *bytes, uint32_t length)
{
    struct entry *entry = malloc(sizeof *entry + length);

    if (!entry)
        return NULL;
    /* Relaxed: nothing depends on this sum. The sum counts the table's slot with the node. */
    atomic_fetch_add_explicit(&names->bytes, sizeof *entry + sizeof(struct node) + 2 * sizeof(void *) + length,
                              memory_order_relaxed);
    entry->length = length;
    memcpy(entry->bytes, bytes, length);
    entry->next = atomic_load_explicit(&names->entries, memory_order_relaxed);
    /* Release: a thread that walks the list (destroy, after joining) sees the whole entry. */
    while (!atomic_compare_exchange_weak_explicit(&names->entries, &entry->next, entry, memory_order_release,
                                                  memory_order_relaxed))
        ;
    return entry;
}

/* Another block claims a text for an id that has a text. The smaller text stays. */
static int improve(struct dft_names *names, struct node *node, const char *bytes, uint32_t length)
{
    struct entry *old = atomic_load_explicit(&node->entry, memory_order_acquire), *entry = NULL;

    while (less(bytes, length, old)) {
        if (!entry && !(entry = entry_create(names, bytes, length)))
            return -ENOMEM;
        /* Release: a reader that sees the pointer sees the text. */
        if (atomic_compare_exchange_weak_explicit(&node->entry, &old, entry, memory_order_acq_rel,
                                                  memory_order_acquire))
            break;
    }
    return 0;
}

int dft_names_add(struct dft_names *names, uint64_t id, const char *bytes, uint32_t length, int *added)
{
    struct cds_lfht_node *hash;
    struct node *node, *there;
    struct entry *entry;

    if (added)
        *added = 0;
    rcu_read_lock();
    there = find(names, id);
    rcu_read_unlock(); /* nodes are never removed before destroy, so `there` stays valid */
    if (there)
        return improve(names, there, bytes, length);
    node = calloc(1, sizeof *node);
    if (!node || !(entry = entry_create(names, bytes, length))) {
        free(node);
        return -ENOMEM;
    }
    cds_lfht_node_init(&node->hash);
    node->id = id;
    /* published by the insertion */
    atomic_store_explicit(&node->entry, entry, memory_order_relaxed);
    rcu_read_lock();
    hash = cds_lfht_add_unique(names->table, hash_of(id), node_matches, &id, &node->hash);
    rcu_read_unlock();
    if (hash != &node->hash) {
        free(node);
        return improve(names, caa_container_of(hash, struct node, hash), bytes, length);
    }
    node->next = atomic_load_explicit(&names->nodes, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&names->nodes, &node->next, node, memory_order_release,
                                                  memory_order_relaxed))
        ;
    if (added)
        *added = 1;
    return 0;
}

uint64_t dft_names_bytes(const struct dft_names *names)
{
    return atomic_load_explicit(&names->bytes, memory_order_relaxed);
}

struct dft_names *dft_names_lend(struct dft_names *names, struct dft_names *texts)
{
    struct dft_names *before = names->lent;

    names->lent = texts;
    return before;
}

int dft_names_each(const struct dft_names *names, int (*emit)(void *context, uint64_t id, struct dft_text text),
                   void *context)
{
    int rc = 0;

    for (const struct node *node = names->nodes; node && !rc; node = node->next) {
        const struct entry *entry = atomic_load_explicit(&node->entry, memory_order_acquire);

        rc = emit(context, node->id, (struct dft_text){entry->bytes, entry->length});
    }
    return rc;
}

struct dft_text dft_names_text(const struct dft_names *names, uint64_t id)
{
    struct dft_text text = {NULL, 0};
    const struct entry *entry;
    struct node *node;

    rcu_read_lock();
    node = find(names, id);
    if (node) {
        entry = atomic_load_explicit(&node->entry, memory_order_acquire);
        text.bytes = entry->bytes;
        text.length = entry->length;
    }
    rcu_read_unlock();
    return text.bytes || !names->lent ? text : dft_names_text(names->lent, id);
}

struct dft_text dft_names_show(const struct dft_names *names, uint64_t id, char buffer[18])
{
    struct dft_text text = dft_names_text(names, id);

    if (!text.bytes) {
        snprintf(buffer, 18, "#%016llx", (unsigned long long)id);
        text.bytes = buffer;
        text.length = 17;
    }
    return text;
}

/* Shows a function by the name that people read. Any other text stays as it is. */
static void show_function(const struct dft_names *names, uint64_t id, struct dft_text *name)
{
    struct entry *shown = NULL, *none = NULL;
    const char *found;
    struct node *node;
    char buffer[4096];

    rcu_read_lock();
    node = find(names, id);
    rcu_read_unlock(); /* nodes stay valid */
    if (!node && names->lent) {
        show_function(names->lent, id, name);
        return;
    }
    if (node)
        shown = atomic_load_explicit(&node->shown, memory_order_acquire);
    if (node && !shown) {
        found = names->show(name->bytes, name->length, buffer, sizeof buffer);
        if (!found || !(shown = entry_create((struct dft_names *)(uintptr_t)names, found, (uint32_t)strlen(found))))
            return;
        /* Release: a reader that sees the pointer sees the text. The first writer has written the
         * same text. */
        if (!atomic_compare_exchange_strong_explicit(&node->shown, &none, shown, memory_order_acq_rel,
                                                     memory_order_acquire))
            shown = none;
    }
    if (shown)
        *name = (struct dft_text){shown->bytes, shown->length};
}

/* Is it an instrumented function, or a C++ name that a compiler's plug-in gave? */
static int is_function(struct dft_text category, struct dft_text name)
{
    if (name.length > 2 && name.bytes[0] == '_')
        return name.bytes[1] == 'Z';
    return category.length == 4 && !memcmp(category.bytes, "FUNC", 4) && name.length && name.bytes[0] == '/';
}

void dft_names_call(const struct dft_names *names, uint64_t id, struct dft_text *category, struct dft_text *name,
                    char buffer[18])
{
    struct dft_text text = dft_names_show(names, id, buffer);
    const char *nul = memchr(text.bytes, 0, text.length);

    category->bytes = text.bytes;
    category->length = 0;
    *name = text;
    if (nul) {
        category->length = (uint32_t)(nul - text.bytes);
        name->bytes = nul + 1;
        name->length = text.length - category->length - 1;
        if (is_function(*category, *name))
            show_function(names, id, name);
    }
}
