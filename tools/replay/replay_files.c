/* SPDX-License-Identifier: MIT */
/* The namespace of a trace: paths in normal form, and a file for each. */
#include "replay/replay_files.h"

#include <stdlib.h>
#include <string.h>

#include "format/hash.h"
#include "replay/replay_left.h"

#define CHUNK          1024u
#define NAME_MAX_BYTES 255u

/* --- paths ------------------------------------------------------------------------------------ */

/* Appends one component. Returns the new length, 0: it is too long. */
static size_t add_component(char *to, size_t length, const char *from, size_t bytes)
{
    if (bytes == 1 && from[0] == '.')
        return length;
    if (bytes == 2 && from[0] == '.' && from[1] == '.') {
        while (length > 1 && to[length - 1] != '/')
            length--;
        return length > 1 ? length - 1 : length;
    }
    if (bytes > NAME_MAX_BYTES || length + bytes + 2 > DFT_REPLAY_PATH_MAX)
        return 0;
    if (length > 1)
        to[length++] = '/';
    memcpy(to + length, from, bytes);
    return length + bytes;
}

size_t dft_replay_path(char *to, struct dft_text text)
{
    size_t length = 1, at = 0;

    if (!text.length || text.bytes[0] != '/' || memchr(text.bytes, 0, text.length))
        return 0;
    to[0] = '/';
    while (length && at < text.length) {
        const char *from = text.bytes + at, *slash = memchr(from, '/', text.length - at);
        size_t bytes = slash ? (size_t)(slash - from) : text.length - at;

        if (bytes)
            length = add_component(to, length, from, bytes);
        at += bytes + 1;
    }
    if (length == 0)
        return 0;
    if (length > 1 && to[length - 1] == '/')
        length--;
    to[length] = 0;
    return length;
}

static int is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

static enum dft_replay_reason reason_of(const char *path)
{
    return is_below(path, "/proc") || is_below(path, "/sys") || is_below(path, "/dev") ? DFT_LEFT_KERNEL : DFT_LEFT_NOT;
}

/* --- files ------------------------------------------------------------------------------------ */

struct dft_replay_file *dft_replay_file_at(const struct dft_replay_files *files, size_t number)
{
    return &files->chunks[number / CHUNK][number % CHUNK];
}

static struct dft_replay_file *make(struct dft_replay_files *files)
{
    if (files->count == files->capacity) {
        struct dft_replay_file **chunks = realloc(files->chunks, (files->capacity / CHUNK + 1) * sizeof *chunks);

        if (!chunks)
            return NULL;
        files->chunks = chunks;
        chunks[files->capacity / CHUNK] = calloc(CHUNK, sizeof **chunks);
        if (!chunks[files->capacity / CHUNK])
            return NULL;
        files->capacity += CHUNK;
    }
    return dft_replay_file_at(files, files->count++);
}

static uint64_t *slot_of(struct dft_replay_files *files, uint64_t id)
{
    return dft_map_put(&files->by_name, id);
}

/* The file of a normal path, with its folder, and the folder's folder. */
static struct dft_replay_file *file_of_path(struct dft_replay_files *files, const char *path, size_t length)
{
    uint64_t id = dft_name_id(path, length);
    uint64_t *slot = slot_of(files, id);
    struct dft_replay_file *file, *parent = NULL;
    size_t above = length;

    if (!slot)
        return NULL;
    if (*slot)
        return (struct dft_replay_file *)(uintptr_t)*slot;
    while (above > 1 && path[above - 1] != '/')
        above--;
    if (length > 1) {
        parent = file_of_path(files, path, above > 1 ? above - 1 : 1);
        if (!parent)
            return NULL;
    }
    file = make(files);
    slot = file ? slot_of(files, id) : NULL; /* the map may have moved */
    if (!slot)
        return NULL;
    file->parent = parent;
    *slot = (uintptr_t)file;
    return file;
}

/* A file that cannot be made. */
static struct dft_replay_file *file_left(struct dft_replay_files *files, enum dft_replay_reason reason)
{
    struct dft_replay_file *file = make(files);

    if (file)
        file->left = (uint8_t)reason;
    return file;
}

struct dft_replay_file *dft_replay_file_of(struct dft_replay_files *files, uint64_t name, struct dft_text text)
{
    const uint64_t *known = dft_map_find(&files->by_name, name);
    struct dft_replay_file *file;
    char path[DFT_REPLAY_PATH_MAX];
    uint64_t *slot;
    size_t length;

    if (known && *known) {
        file = (struct dft_replay_file *)(uintptr_t)*known;
        if (file->name || file->left)
            return file;
    }
    length = dft_replay_path(path, text);
    if (!text.bytes || !length)
        file = file_left(files, !text.bytes                           ? DFT_LEFT_NO_NAME
                                : text.length && text.bytes[0] == '/' ? DFT_LEFT_PATH
                                                                      : DFT_LEFT_NO_FILE);
    else
        file = file_of_path(files, path, length);
    slot = file ? slot_of(files, name) : NULL;
    if (!slot)
        return NULL;
    if (length && !file->left)
        file->left = (uint8_t)reason_of(path);
    file->name = file->name ? file->name : name;
    *slot = (uintptr_t)file;
    return file;
}

struct dft_replay_file *dft_replay_file_find(const struct dft_replay_files *files, const char *path, size_t length)
{
    const uint64_t *known = dft_map_find(&files->by_name, dft_name_id(path, length));

    return known ? (struct dft_replay_file *)(uintptr_t)*known : NULL;
}

void dft_replay_files_restart(struct dft_replay_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct dft_replay_file *file = dft_replay_file_at(files, i);

        file->exists = file->start == DFT_START_FILE || file->start == DFT_START_FOLDER;
        memset(file->given, 0, sizeof file->given);
        for (int k = 0; k < DFT_ORDERS; k++)
            atomic_store_explicit(&file->done[k], 0, memory_order_relaxed);
    }
}

void dft_replay_files_fini(struct dft_replay_files *files)
{
    for (size_t i = 0; i < files->capacity / CHUNK; i++)
        free(files->chunks[i]);
    free(files->chunks);
    dft_map_fini(&files->by_name);
    memset(files, 0, sizeof *files);
}
