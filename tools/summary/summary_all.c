/* SPDX-License-Identifier: MIT */
/* The whole page for programs: findings, and the groups of all its sections. */
#include <stdlib.h>

#include "base/write_json.h"
#include "format/ops.h"
#include "summary/job_rows.h"
#include "summary/page.h"

#define TOP 1000u /* groups of a section, unless --top says more */

enum { CALLS, CLASSES, SIZES, RANKS, FILES, PATTERNS, REGIONS, SECTIONS };

static const struct {
    const char *name;
    struct dft_query query;
} sections[SECTIONS] = {
    [CALLS] = {"calls", {.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_CLASS}, .nby = 3, .percentiles = 1, .accesses = 1}},
    [CLASSES] = {"classes", {.by = {DFT_BY_CLASS}, .nby = 1, .percentiles = 1, .accesses = 1}},
    [SIZES] = {"sizes", {.by = {DFT_BY_SIZE, DFT_BY_CLASS}, .nby = 2, .classes = DFT_CLASSES_IO}},
    [RANKS] = {"by_rank", {.by = {DFT_BY_RANK}, .nby = 1, .classes = DFT_CLASSES_IO}},
    [FILES] = {"files", {.by = {DFT_BY_FILE}, .nby = 1, .accesses = 1, .patterns = 1}},
    [PATTERNS] = {"patterns", {.by = {DFT_BY_PATTERN}, .nby = 1, .accesses = 1, .patterns = 1}},
    [REGIONS] = {"regions",
                 {.by = {DFT_BY_CAT, DFT_BY_NAME}, .nby = 2, .ops = UINT64_C(1) << DFT_OP_REGION, .percentiles = 1}},
};

static void put_questions(const struct dft_summary *summary, struct dft_query_request *requests,
                          struct dft_answer *answers)
{
    uint64_t top = summary->options->top ? summary->options->top : TOP;

    for (unsigned i = 0; i < SECTIONS; i++) {
        requests[i] =
            (struct dft_query_request){sections[i].query,
                                       {.column = summary->options->sort, .top = top, .at_once = DFT_SUMMARY_LINES},
                                       &answers[i]};
        requests[i].query.events = summary->query.events;
        requests[i].query.members = 1;
        if (dft_order_check(&requests[i].order, &sections[i].query))
            requests[i].order.column = NULL;
    }
}

static int put_section(struct dft_json *json, const char *name, struct dft_answer *answer)
{
    int rc;

    dft_json_array(json, name);
    do
        for (uint32_t i = 0; i < answer->count; i++)
            dft_summary_json_group(json, answer, &answer->groups[i]);
    while ((rc = dft_answer_next(answer)) > 0);
    dft_json_end_array(json);
    return rc;
}

static void put_found(struct dft_json *json, const struct dft_answer *answers)
{
    dft_json_object(json, "found");
    for (unsigned i = 0; i < SECTIONS; i++)
        dft_json_uint(json, sections[i].name, answers[i].found);
    dft_json_end_object(json);
}

int dft_summary_json_all(struct dft_json *json, struct dft_summary *summary, struct dft_unseen *unseen,
                         void (*head)(void *, const struct dft_answer *), void *context)
{
    struct dft_query_request requests[SECTIONS + 1];
    struct dft_answer answers[SECTIONS] = {{.count = 0}};
    struct dft_findings findings = {0};
    struct dft_job_rows rows;
    int rc = dft_job_rows_make(&rows, summary);

    if (rc)
        goto out;
    put_questions(summary, requests, answers);
    rc = dft_summary_findings(summary, requests, dft_unseen_put(unseen, requests, SECTIONS), &findings);
    if (!rc)
        rc = dft_unseen_take(unseen);
    if (!rc) {
        head(context, &answers[CALLS]);
        dft_job_rows_json(json, &rows);
        dft_findings_json(json, &findings);
        put_found(json, answers);
    }
    for (unsigned i = 0; !rc && i < SECTIONS; i++)
        rc = put_section(json, sections[i].name, &answers[i]);
    for (unsigned i = 0; i < SECTIONS; i++)
        dft_answer_fini(&answers[i]);
    dft_findings_fini(&findings);
out:
    dft_job_rows_free(&rows);
    return rc;
}
