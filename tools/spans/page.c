/* SPDX-License-Identifier: MIT */
/* Makes what the page of dftmerge report shows of a database of spans. */
#include "spans/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/write_json.h"
#include "spans/distribution.h"
#include "spans/orderings.h"
#include "spans/picture.h"
#include "spans/states.h"

#define STEPS 200u /* lines of the table of the most common ordering */

struct page {
    struct dft_spans_model model;
    struct dft_spans_walk walk;
    struct dft_spans_asked asked; /* the size of the pictures */
    uint32_t type;
    struct dft_spans_orderings orderings;
    struct dft_spans_states states;
    struct dft_spans_point *points; /* of each root, from its first own event to the last one */
    size_t count;
    struct dft_spans_distribution distribution;
    struct dft_json json;
};

int dft_spans_is_same_file(const char *a, const char *b)
{
    struct stat first, second;

    return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static int measure(struct page *page)
{
    const struct dft_spans_model *model = &page->model;

    page->points = malloc((page->walk.nroots + 1) * sizeof *page->points);
    if (!page->points)
        return -ENOMEM;
    for (size_t i = 0; i < page->walk.nroots; i++) {
        uint64_t at = model->first_event[page->walk.roots[i]], end = model->first_event[page->walk.roots[i] + 1];
        int64_t first = INT64_MAX, last = INT64_MIN;

        for (; at < end; at++) {
            first = model->events[at].ns < first ? model->events[at].ns : first;
            last = model->events[at].ns > last ? model->events[at].ns : last;
        }
        if (first <= last)
            page->points[page->count++] = (struct dft_spans_point){first, last - first};
    }
    return dft_spans_distribution_make(&page->distribution, page->points, page->count);
}

/* Puts one picture. Returns 0 or -ENOMEM. */
static int put_picture(struct page *page, const char *title, int (*draw)(void *context, FILE *out), void *context)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = out ? draw(context, out) : -ENOMEM;

    if (out && fclose(out))
        rc = -ENOMEM;
    if (!rc) {
        dft_json_object(&page->json, NULL);
        dft_json_string(&page->json, "title", title);
        dft_json_text(&page->json, "svg", text, length);
        dft_json_end_object(&page->json);
    }
    free(text);
    return rc;
}

static int put_pictures(struct page *page)
{
    const char *root = page->model.types[page->type].name;
    char sentence[DFT_SPANS_SENTENCE], *titles[2] = {NULL, NULL};
    struct dft_spans_states_picture states = {&page->states, &page->asked, NULL};
    struct dft_spans_picture times = {DFT_SPANS_SCATTER, NULL,         sentence,    "start, since the first",
                                      "duration",        page->points, page->count, &page->asked};
    int rc = asprintf(&titles[0], "States of %s", root) < 0 ||
                     asprintf(&titles[1], "From the first to the last event of %s", root) < 0
                 ? -ENOMEM
                 : 0;

    states.title = titles[0];
    times.title = titles[1];
    dft_spans_distribution_text(sentence, &page->distribution);
    dft_json_array(&page->json, "pictures");
    if (!rc && page->states.roots)
        rc = put_picture(page, titles[0], dft_spans_states_draw, &states);
    if (!rc && page->count)
        rc = put_picture(page, titles[1], dft_spans_picture_draw, &times);
    times.kind = DFT_SPANS_HISTOGRAM;
    if (!rc && page->count)
        rc = put_picture(page, titles[1], dft_spans_picture_draw, &times);
    dft_json_end_array(&page->json);
    free(titles[0]);
    free(titles[1]);
    return rc;
}

static int put_all(struct page *page, FILE *out)
{
    const struct dft_spans_orderings *orderings = &page->orderings;
    int rc;

    dft_json_init(&page->json, out, 0);
    dft_json_object(&page->json, NULL);
    dft_json_string(&page->json, "file",
                    strrchr(page->model.path, '/') ? strrchr(page->model.path, '/') + 1 : page->model.path);
    dft_json_string(&page->json, "root", page->model.types[page->type].name);
    dft_json_uint(&page->json, "roots", page->walk.nroots);
    dft_json_uint(&page->json, "different", orderings->count);
    dft_json_uint(&page->json, "count", orderings->count ? orderings->ordered[0]->roots : 0);
    dft_json_uint(&page->json, "length", orderings->count ? orderings->ordered[0]->length : 0);
    dft_spans_steps_json(&page->json, &page->model, orderings, STEPS);
    rc = put_pictures(page);
    dft_json_end_object(&page->json);
    return rc;
}

static int make(struct page *page, char **text)
{
    size_t length;
    FILE *out;
    int rc = dft_spans_walk_init(&page->walk, &page->model, page->type);

    if (!rc)
        rc = dft_spans_orderings_make(&page->orderings, &page->walk);
    if (!rc)
        rc = dft_spans_states_make(&page->states, &page->walk, &page->asked);
    if (!rc)
        rc = measure(page);
    out = rc ? NULL : open_memstream(text, &length);
    if (!rc && !out)
        rc = -ENOMEM;
    if (!rc)
        rc = put_all(page, out);
    if (out && fclose(out))
        rc = -ENOMEM;
    if (rc == -ENOMEM)
        fputs("dftmerge spans: no memory\n", stderr);
    return rc ? -1 : 0;
}

int dft_spans_page_make(char **text, const char *path, const char *root, int quiet)
{
    struct page *page = calloc(1, sizeof *page);
    int rc = -1;

    *text = NULL;
    if (!page)
        return rc;
    page->asked = (struct dft_spans_asked){.verb = &dft_spans_states, .width = 800, .height = 360};
    if (!dft_spans_model_read(&page->model, path)) {
        if (!quiet)
            dft_spans_model_note(&page->model);
        page->type = dft_spans_model_type(&page->model, "--spans-root", root ? root : DFT_SPANS_ROOT);
        rc = page->type == DFT_SPANS_NONE ? -1 : make(page, text);
    }
    dft_spans_orderings_fini(&page->orderings);
    dft_spans_states_fini(&page->states);
    dft_spans_walk_fini(&page->walk);
    dft_spans_model_fini(&page->model);
    free(page->points);
    free(page);
    return rc;
}
