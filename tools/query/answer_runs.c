/* SPDX-License-Identifier: MIT */
/* Runs of groups: as bytes in the spill file, and merged by a heap. */
#include "query/answer_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/leb128.h"
#include "query/partitions.h"

#define BUFFER_MAX 65536u
#define WORDS      (offsetof(struct dft_group, bins)) /* what a run has of a group */

_Static_assert(WORDS % sizeof(uint64_t) == 0, "groups are words");

/* --- writing a run ---------------------------------------------------------------------------- */

struct writer {
    struct dft_spill_file *file;
    uint8_t *bytes;
    size_t used, capacity;
};

static int write_out(struct writer *writer)
{
    uint64_t offset;
    int rc = writer->used ? dft_spill_file_append(writer->file, writer->bytes, writer->used, &offset) : 0;

    writer->used = 0;
    return rc;
}

static uint8_t *put_text(uint8_t *at, const struct dft_text *text)
{
    at = dft_leb_put(at, text->bytes ? text->length + UINT64_C(1) : 0);
    if (text->bytes)
        memcpy(at, text->bytes, text->length);
    return at + (text->bytes ? text->length : 0);
}

static int write_group(struct writer *writer, const struct dft_answer *part, const struct dft_group *group)
{
    const struct dft_text texts[2] = {dft_names_text(part->texts, group->key.file),
                                      dft_names_text(part->texts, group->key.region)};
    size_t most =
        sizeof(uint32_t) + WORDS / sizeof(uint64_t) * DFT_LEB_MAX + texts[0].length + texts[1].length + 2 * DFT_LEB_MAX;
    uint32_t length;
    uint8_t *at;
    int rc = 0;

    if (writer->used + most > writer->capacity)
        rc = write_out(writer);
    if (!rc && most > writer->capacity) {
        free(writer->bytes);
        writer->capacity = most > BUFFER_MAX ? most : BUFFER_MAX;
        writer->bytes = malloc(writer->capacity);
        if (!writer->bytes)
            writer->capacity = 0;
        rc = writer->bytes ? 0 : -ENOMEM;
    }
    if (rc)
        return rc;
    at = dft_words_put(writer->bytes + writer->used + sizeof length, group, WORDS);
    at = put_text(put_text(at, &texts[0]), &texts[1]);
    length = (uint32_t)(at - (writer->bytes + writer->used + sizeof length));
    memcpy(writer->bytes + writer->used, &length, sizeof length);
    writer->used += sizeof length + length;
    return 0;
}

int dft_runs_write(struct dft_runs *runs, const struct dft_answer *part)
{
    struct dft_group_run *bigger = realloc(runs->list, (runs->count + 1u) * sizeof *bigger);
    struct writer writer = {.file = runs->file};
    int rc = 0;

    if (!bigger)
        return -ENOMEM;
    runs->list = bigger;
    bigger[runs->count] = (struct dft_group_run){.next = runs->file->end};
    for (uint32_t i = 0; !rc && i < part->count; i++)
        rc = write_group(&writer, part, &part->groups[i]);
    if (!rc)
        rc = write_out(&writer);
    free(writer.bytes);
    bigger[runs->count].end = runs->file->end;
    runs->count += !rc && part->count;
    return rc;
}

/* --- merging the runs ------------------------------------------------------------------------- */

/* At least `bytes` of the run from its place on. */
static int fill(struct dft_runs *runs, struct dft_group_run *run, size_t bytes)
{
    size_t left = run->filled - run->at, more;
    int rc;

    if (left >= bytes)
        return 0;
    if (bytes > run->capacity) {
        size_t capacity = runs->memory / runs->count;
        uint8_t *bigger;

        capacity = capacity < BUFFER_MAX ? capacity : BUFFER_MAX;
        capacity = capacity > bytes ? capacity : bytes;
        bigger = malloc(capacity);
        if (!bigger)
            return -ENOMEM;
        if (left)
            memcpy(bigger, run->buffer + run->at, left);
        free(run->buffer);
        run->buffer = bigger;
        run->capacity = capacity;
    } else if (left) {
        memmove(run->buffer, run->buffer + run->at, left);
    }
    more = run->capacity - left;
    if (more > run->end - run->next)
        more = run->end - run->next;
    rc = dft_spill_file_read(runs->file, run->buffer + left, more, run->next);
    run->next += more;
    run->at = 0;
    run->filled = left + more;
    return rc ? rc : run->filled < bytes ? -EIO : 0;
}

static const uint8_t *get_text(const uint8_t *at, const uint8_t *end, struct dft_text *text)
{
    uint64_t length;

    *text = (struct dft_text){NULL, 0};
    at = at ? dft_leb_get(at, end, &length) : NULL;
    if (!at || !length)
        return at;
    if (length - 1 > (uint64_t)(end - at))
        return NULL;
    *text = (struct dft_text){(const char *)at, (uint32_t)(length - 1)};
    return at + length - 1;
}

/* Adds the texts of a run's group to those of the page. */
static int add_texts(const struct dft_runs *runs, const struct dft_group_run *run)
{
    const uint64_t ids[2] = {run->group.key.file, run->group.key.region};
    int rc = 0;

    for (unsigned i = 0; !rc && i < 2; i++)
        if (run->texts[i].bytes)
            rc = dft_names_add(runs->texts, ids[i], run->texts[i].bytes, run->texts[i].length, NULL);
    return rc;
}

/* On to the next group of a run. Returns 1, 0: there is none, or -errno. */
static int advance(struct dft_runs *runs, struct dft_group_run *run)
{
    const uint8_t *at, *end;
    uint32_t length;
    int rc;

    if (run->at == run->filled && run->next == run->end)
        return 0;
    rc = fill(runs, run, sizeof length);
    if (rc)
        return rc;
    memcpy(&length, run->buffer + run->at, sizeof length);
    run->at += sizeof length;
    rc = fill(runs, run, length);
    if (rc)
        return rc;
    at = run->buffer + run->at;
    end = at + length;
    run->at += length;
    at = dft_words_get(at, end, &run->group, WORDS);
    at = get_text(get_text(at, end, &run->texts[0]), end, &run->texts[1]);
    rc = at ? add_texts(runs, run) : -EIO;
    return rc ? rc : 1;
}

static int is_before(struct dft_runs *runs, uint32_t a, uint32_t b)
{
    return dft_group_compare(&runs->list[a].group, &runs->list[b].group, &runs->sorting) < 0;
}

/* The run on top of the heap has another group now. */
static void sift_down(struct dft_runs *runs, uint32_t at)
{
    uint32_t *heap = runs->heap;

    for (;;) {
        uint32_t least = at, child = 2 * at + 1, swap;

        for (uint32_t end = child + 2; child < end && child < runs->nheap; child++)
            if (is_before(runs, heap[child], heap[least]))
                least = child;
        if (least == at)
            return;
        swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

int dft_runs_merge(struct dft_runs *runs)
{
    runs->heap = malloc((runs->count + 1u) * sizeof *runs->heap);
    if (!runs->heap)
        return -ENOMEM;
    for (uint32_t i = 0; i < runs->count; i++) {
        int rc = advance(runs, &runs->list[i]);

        if (rc < 0)
            return rc;
        runs->heap[runs->nheap++] = i;
    }
    for (uint32_t i = runs->nheap; i-- > 0;)
        sift_down(runs, i);
    return 0;
}

int dft_runs_next(struct dft_runs *runs, struct dft_group *group)
{
    struct dft_group_run *run;
    int rc;

    if (!runs->nheap)
        return 0;
    run = &runs->list[runs->heap[0]];
    *group = run->group;
    rc = advance(runs, run);
    if (rc < 0)
        return rc;
    if (!rc)
        runs->heap[0] = runs->heap[--runs->nheap];
    sift_down(runs, 0);
    return 1;
}

int dft_runs_move_texts(struct dft_runs *runs, struct dft_names *texts)
{
    int rc = 0;

    runs->texts = texts;
    for (uint32_t i = 0; !rc && i < runs->nheap; i++)
        rc = add_texts(runs, &runs->list[runs->heap[i]]);
    return rc;
}

void dft_runs_fini(struct dft_runs *runs)
{
    for (uint32_t i = 0; i < runs->count; i++)
        free(runs->list[i].buffer);
    free(runs->list);
    free(runs->heap);
}
