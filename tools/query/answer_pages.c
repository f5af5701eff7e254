/* SPDX-License-Identifier: MIT */
/* Answers with more groups than memory holds: given page by page, in order.
 *
 * The groups come in batches (query_spill.c). Each is sorted with its texts, cut to the first few where no more are
 * wanted, and written into the spill file: a run. Then the runs are merged, and a page is what comes next of them. So
 * memory holds one batch with its texts, later a page with its texts and a buffer of each run. Rank 0 alone has runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "format/leb128.h"
#include "mpi/comm.h"
#include "query/query_inside.h"
#include "symbols/symbols.h"

#define PAGE_SHARE 800u /* bytes of the budget for each group: 280 for itself, and texts */
#define PAGE_MIN   16u
#define BUFFER_MAX 65536u
#define WORDS      (offsetof(struct dft_group, bins)) /* what a run has of a group */

_Static_assert(WORDS % sizeof(uint64_t) == 0, "groups are words");

/* Groups in order, one after the other in the spill file. */
struct run {
    uint64_t next, end; /* what has not been read */
    uint8_t *buffer;
    size_t at, filled, capacity;
    struct dft_group group; /* the first that has not been given */
    struct dft_text texts[2];
};

struct dft_pages {
    struct dft_asking *asking;
    struct dft_answer *answer;
    char *column; /* to sort by, or NULL */
    uint64_t top;
    uint32_t size;  /* groups of a page */
    uint64_t given; /* groups of all pages so far */
    struct dft_spilled_texts
        *texts; /* of files, when they are keys; NULL with many ranks, which fetch them batch by batch */
    struct run *runs;
    uint32_t *heap; /* numbers of runs, the one with the first group on top */
    uint32_t nruns, nheap;
    struct dft_sorting sorting;
};

/* --- writing a run ------------------------------------------------------------------------------------------------ */

struct writer {
    struct dft_pages *pages;
    uint8_t *bytes;
    size_t used, capacity;
};

static int write_out(struct writer *writer)
{
    struct dft_spill_file *file = &writer->pages->asking->file;
    uint64_t offset;
    int rc = writer->used ? dft_spill_file_append(file, writer->bytes, writer->used, &offset) : 0;

    writer->used = 0;
    return dft_spill_failed(writer->pages->asking, rc);
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

static int write_run(struct dft_pages *pages, const struct dft_answer *part)
{
    struct run *runs = realloc(pages->runs, (pages->nruns + 1u) * sizeof *runs);
    struct writer writer = {.pages = pages};
    int rc = runs ? 0 : -ENOMEM;

    if (!runs)
        return rc;
    pages->runs = runs;
    runs[pages->nruns] = (struct run){.next = pages->asking->file.end};
    for (uint32_t i = 0; !rc && i < part->count; i++)
        rc = write_group(&writer, part, &part->groups[i]);
    if (!rc)
        rc = write_out(&writer);
    free(writer.bytes);
    runs[pages->nruns].end = pages->asking->file.end;
    pages->nruns += !rc && part->count;
    return rc;
}

/* The groups of a batch in order, as a run. Collective. */
static int take_batch(struct dft_pages *pages)
{
    struct dft_answer part = *pages->answer;
    int rc;

    part.groups = NULL;
    part.count = 0;
    part.found = part.all_ns = 0;
    part.texts = dft_names_create(dft_symbols_show);
    part.spilled_texts = pages->texts;
    if (pages->texts)
        dft_spilled_texts_choose(pages->texts, pages->asking->batch, pages->asking->next_partition);
    rc = dft_comm_agree(part.texts ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_query_finish(pages->asking, &part);
    pages->answer->found += part.found;
    pages->answer->all_ns += part.all_ns;
    if (!rc && part.has_union && dft_column_is_swept(pages->sorting.column))
        rc = dft_count_union(pages->asking, &part);
    if (!rc)
        rc = dft_answer_sort(&part, pages->column, pages->top);
    if (!rc)
        rc = dft_comm_agree(write_run(pages, &part));
    dft_names_destroy(part.texts);
    free(part.groups);
    return rc;
}

/* --- merging the runs --------------------------------------------------------------------------------------------- */

/* At least `bytes` of the run from its place on. */
static int fill(struct dft_pages *pages, struct run *run, size_t bytes)
{
    size_t left = run->filled - run->at, more;
    int rc;

    if (left >= bytes)
        return 0;
    if (bytes > run->capacity) {
        size_t capacity = pages->asking->budget / 2 / pages->nruns;
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
    rc = dft_spill_file_read(&pages->asking->file, run->buffer + left, more, run->next);
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
static int add_texts(const struct dft_pages *pages, const struct run *run)
{
    const uint64_t ids[2] = {run->group.key.file, run->group.key.region};
    int rc = 0;

    for (unsigned i = 0; !rc && i < 2; i++)
        if (run->texts[i].bytes)
            rc = dft_names_add(pages->answer->texts, ids[i], run->texts[i].bytes, run->texts[i].length, NULL);
    return rc;
}

/* On to the next group of a run. Returns 1, 0: there is none, or -errno. */
static int advance(struct dft_pages *pages, struct run *run)
{
    const uint8_t *at, *end;
    uint32_t length;
    int rc;

    if (run->at == run->filled && run->next == run->end)
        return 0;
    rc = fill(pages, run, sizeof length);
    if (rc)
        return rc;
    memcpy(&length, run->buffer + run->at, sizeof length);
    run->at += sizeof length;
    rc = fill(pages, run, length);
    if (rc)
        return rc;
    at = run->buffer + run->at;
    end = at + length;
    run->at += length;
    at = dft_words_get(at, end, &run->group, WORDS);
    at = get_text(get_text(at, end, &run->texts[0]), end, &run->texts[1]);
    rc = at ? add_texts(pages, run) : -EIO;
    return rc ? rc : 1;
}

static int is_before(struct dft_pages *pages, uint32_t a, uint32_t b)
{
    return dft_group_compare(&pages->runs[a].group, &pages->runs[b].group, &pages->sorting) < 0;
}

/* The run on top of the heap has another group now. */
static void sift_down(struct dft_pages *pages, uint32_t at)
{
    uint32_t *heap = pages->heap;

    for (;;) {
        uint32_t least = at, child = 2 * at + 1, swap;

        for (uint32_t end = child + 2; child < end && child < pages->nheap; child++)
            if (is_before(pages, heap[child], heap[least]))
                least = child;
        if (least == at)
            return;
        swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

static int begin_merge(struct dft_pages *pages)
{
    pages->heap = malloc((pages->nruns + 1u) * sizeof *pages->heap);
    if (!pages->heap)
        return -ENOMEM;
    for (uint32_t i = 0; i < pages->nruns; i++) {
        int rc = advance(pages, &pages->runs[i]);

        if (rc < 0)
            return rc;
        pages->heap[pages->nheap++] = i;
    }
    for (uint32_t i = pages->nheap; i-- > 0;)
        sift_down(pages, i);
    return 0;
}

/* --- pages -------------------------------------------------------------------------------------------------------- */

/* Texts of what comes next alone. */
static int forget_texts(struct dft_pages *pages)
{
    struct dft_names *texts = dft_names_create(dft_symbols_show);
    int rc = texts ? 0 : -ENOMEM;

    if (rc)
        return rc;
    dft_names_destroy(pages->answer->texts);
    pages->answer->texts = texts;
    for (uint32_t i = 0; !rc && i < pages->nheap; i++)
        rc = add_texts(pages, &pages->runs[pages->heap[i]]);
    return rc;
}

/* Fills the answer with the groups that come next. */
static int fill_page(struct dft_pages *pages)
{
    struct dft_answer *answer = pages->answer;
    uint64_t left = pages->top ? pages->top - pages->given : UINT64_MAX;
    uint32_t count = left < pages->size ? (uint32_t)left : pages->size;

    answer->count = 0;
    while (pages->nheap && answer->count < count) {
        struct run *run = &pages->runs[pages->heap[0]];
        int rc;

        answer->groups[answer->count++] = run->group;
        rc = advance(pages, run);
        if (rc < 0)
            return dft_spill_failed(pages->asking, rc);
        if (!rc)
            pages->heap[0] = pages->heap[--pages->nheap];
        sift_down(pages, 0);
    }
    pages->given += answer->count;
    return 0;
}

static int next(struct dft_pages *pages)
{
    int rc = forget_texts(pages);

    if (!rc)
        rc = fill_page(pages);
    rc = dft_comm_agree(rc);
    return !rc && pages->answer->has_union && !dft_column_is_swept(pages->sorting.column)
               ? dft_count_union(pages->asking, pages->answer)
               : rc;
}

int dft_answer_next(struct dft_answer *answer)
{
    struct dft_pages *pages = answer->pages;
    int more = pages && pages->nheap && (!pages->top || pages->given < pages->top);
    int rc;

    dft_comm_broadcast(&more, sizeof more);
    if (!more)
        return 0;
    pages->answer = answer; /* the caller may have moved it */
    pages->sorting.answer = answer;
    rc = next(pages);
    return rc ? rc : 1;
}

static uint32_t size_of(const struct dft_asking *asking, const struct dft_order *order)
{
    uint64_t size = asking->budget / PAGE_SHARE;

    if (size < PAGE_MIN)
        size = PAGE_MIN;
    if (order->at_once)
        size = order->at_once;
    return (uint32_t)(order->top && order->top < size ? order->top : size);
}

static int pages_init(struct dft_pages *pages, const struct dft_order *order, struct dft_answer *answer)
{
    answer->pages = pages;
    pages->answer = answer;
    pages->top = order->top;
    pages->size = size_of(pages->asking, order);
    pages->column = order->column ? strdup(order->column) : NULL;
    answer->groups = calloc(pages->size, sizeof *answer->groups);
    answer->texts = dft_names_create(dft_symbols_show);
    if (!answer->groups || !answer->texts || (order->column && !pages->column))
        return -ENOMEM;
    return dft_order_find(answer, pages->column, &pages->sorting);
}

int dft_pages_begin(struct dft_asking *asking, const struct dft_order *order, struct dft_answer *answer)
{
    struct dft_pages *pages = calloc(1, sizeof *pages);
    int rc = pages ? 0 : -ENOMEM;

    if (pages) {
        pages->asking = asking;
        rc = pages_init(pages, order, answer);
    }
    if (!rc && DFT_HAS_FILES(asking) && dft_comm_size() == 1)
        rc = dft_spill_failed(
            asking, dft_spilled_texts_create(&pages->texts, asking->source, answer->files, &asking->partitions));
    rc = dft_comm_agree(rc);
    while (!rc && (rc = dft_next_groups(asking)) > 0)
        rc = take_batch(pages);
    if (!rc) {
        dft_spilled_texts_destroy(pages->texts);
        pages->texts = NULL;
        pages->sorting.with_keys = 1;
        rc = dft_comm_agree(begin_merge(pages));
    }
    if (!rc)
        rc = next(pages);
    if (rc && pages)
        pages->asking = NULL; /* the caller ends it */
    return rc;
}

void dft_pages_end(struct dft_answer *answer)
{
    struct dft_pages *pages = answer->pages;

    if (!pages)
        return;
    if (pages->asking)
        dft_asking_end(pages->asking);
    for (uint32_t i = 0; i < pages->nruns; i++)
        free(pages->runs[i].buffer);
    dft_spilled_texts_destroy(pages->texts);
    free(pages->runs);
    free(pages->heap);
    free(pages->column);
    free(pages);
    answer->pages = NULL;
}
