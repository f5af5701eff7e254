/* SPDX-License-Identifier: MIT */
/* Owns the blocks of memory that libyaml has: cut from chunks, and used again by their size. */
#include "settings/yaml_memory.h"

#include <string.h>

#include "os/sys.h"

#define LEAST   16u /* bytes of the smallest block */
#define SIZES   12u /* each size twice the one before; larger blocks are mappings of their own */
#define CHUNK   (256u << 10)
#define LARGEST ((size_t)LEAST << (SIZES - 1))

/* What stands before the bytes of a block. It keeps them aligned to 16. */
struct block {
    size_t capacity;
    struct block *next; /* of those of its size that are free; of a chunk: the chunk before */
};
_Static_assert(sizeof(struct block) == LEAST, "blocks stay aligned");

static struct block *unused[SIZES], *chunks;
static char *at; /* the rest of the newest chunk */
static size_t left;
static unsigned documents;

void dft_yaml_memory_begin(void)
{
    documents++;
}

void dft_yaml_memory_end(void)
{
    if (--documents)
        return;
    while (chunks) {
        struct block *chunk = chunks;

        chunks = chunk->next;
        DFT_SYS(munmap, chunk, CHUNK, 0, 0, 0, 0);
    }
    memset(unused, 0, sizeof unused);
    left = 0;
}

static unsigned index_of(size_t size)
{
    unsigned i = 0;

    while (i < SIZES && (size_t)LEAST << i < size)
        i++;
    return i;
}

static struct block *cut(size_t capacity)
{
    struct block *block;

    if (left < sizeof *block + capacity) {
        struct block *chunk = dft_sys_map(CHUNK);

        if (!chunk)
            return NULL;
        chunk->next = chunks;
        chunks = chunk;
        at = (char *)(chunk + 1);
        left = CHUNK - sizeof *chunk;
    }
    block = (struct block *)at;
    block->capacity = capacity;
    at += sizeof *block + capacity;
    left -= sizeof *block + capacity;
    return block;
}

void *dft_yaml_malloc(size_t size)
{
    unsigned i = index_of(size);
    struct block *block;

    if (i == SIZES) {
        block = dft_sys_map(sizeof *block + size);
        if (block)
            block->capacity = size;
    } else if (unused[i]) {
        block = unused[i];
        unused[i] = block->next;
    } else {
        block = cut((size_t)LEAST << i);
    }
    return block ? block + 1 : NULL;
}

void dft_yaml_free(void *memory)
{
    struct block *block;

    if (!memory)
        return;
    block = (struct block *)memory - 1;
    if (block->capacity > LARGEST) {
        DFT_SYS(munmap, block, sizeof *block + block->capacity, 0, 0, 0, 0);
        return;
    }
    block->next = unused[index_of(block->capacity)];
    unused[index_of(block->capacity)] = block;
}

void *dft_yaml_realloc(void *memory, size_t size)
{
    size_t had = ((struct block *)memory - 1)->capacity;
    void *larger;

    if (size <= had)
        return memory;
    larger = dft_yaml_malloc(size);
    if (!larger)
        return NULL;
    memcpy(larger, memory, had);
    dft_yaml_free(memory);
    return larger;
}

char *dft_yaml_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = dft_yaml_malloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}
