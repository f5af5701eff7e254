/* SPDX-License-Identifier: MIT */
/* Puts queries together and asks them in one pass. */
#ifndef DFT_FINDING_FACTS_ASK_H
#define DFT_FINDING_FACTS_ASK_H

#include "findings/facts.h"
#include "query/count_pass.h"

struct dft_facts_questions {
    struct dft_query_request requests[DFT_QUERIES_MAX];
    unsigned count;
};

/* Finds what the filter leaves, and leaves out: times and lacks. Ranks are counted before. */
void dft_facts_measure(struct dft_facts *facts);
/* No queries but those that the caller of findings asks in the same pass. */
void dft_facts_questions_init(struct dft_facts_questions *questions, const struct dft_findings_request *request);
/* Adds a query whose answer will be that fact. At most DFT_QUERIES_MAX of them before they run. */
void dft_facts_put(struct dft_facts *facts, struct dft_facts_questions *questions, enum dft_fact fact,
                   struct dft_query query);
/* Asks all of them, and forgets them. Returns 0 or -ENOMEM. Collective. */
int dft_facts_ask(struct dft_facts *facts, struct dft_facts_questions *questions, const struct dft_filter *filter);
/* The width of one of so many parts of the run; where rows are to answer, a multiple of their
 * interval. Returns 0 or -errno. Collective. */
int dft_facts_width(const struct dft_facts *facts, uint64_t parts, int from_events, uint64_t *width_ns);

#endif
