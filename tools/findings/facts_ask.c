/* SPDX-License-Identifier: MIT */
/* Asks for facts, some in one pass. */
#include "findings/facts_ask.h"

#include <string.h>

#include "query/plan_times.h"

void dft_facts_questions_init(struct dft_facts_questions *questions, const struct dft_findings_request *request)
{
    questions->count = request->nmore;
    if (request->nmore)
        memcpy(questions->requests, request->more, request->nmore * sizeof *request->more);
}

void dft_facts_put(struct dft_facts *facts, struct dft_facts_questions *questions, enum dft_fact fact,
                   struct dft_query query)
{
    questions->requests[questions->count++] = (struct dft_query_request){
        .query = query, .order = {.top = DFT_FACT_GROUPS, .at_once = DFT_FACT_GROUPS}, .answer = &facts->answers[fact]};
    facts->asked |= UINT64_C(1) << fact;
}

int dft_facts_ask(struct dft_facts *facts, struct dft_facts_questions *questions, const struct dft_filter *filter)
{
    int rc =
        questions->count ? dft_query_many(facts->request->source, filter, questions->requests, questions->count) : 0;

    for (unsigned fact = 0; rc && fact < DFT_FACTS; fact++) /* there is no answer then */
        for (unsigned i = 0; i < questions->count; i++)
            if (questions->requests[i].answer == &facts->answers[fact])
                facts->asked &= ~(UINT64_C(1) << fact);
    questions->count = 0;
    return rc;
}

int dft_facts_width(const struct dft_facts *facts, uint64_t parts, int from_events, uint64_t *width_ns)
{
    uint64_t width = facts->wall_ns / parts + 1, interval;
    int rc = dft_query_interval(facts->request->source, &interval);

    if (!rc && interval && (width >= interval || !from_events))
        width = (width + interval - 1) / interval * interval;
    *width_ns = width < DFT_INTERVAL_NS_MAX ? width : DFT_INTERVAL_NS_MAX;
    return rc;
}
