/* SPDX-License-Identifier: MIT */
/* What answered a query, in words. */
#include "query/answer_source.h"

#include "base/write_text.h"

const char *dft_answer_source_name(enum dft_answer_source source)
{
    static const char *const names[] = {
        [DFT_ANSWER_BUCKETS] = "buckets", [DFT_ANSWER_FILES] = "files", [DFT_ANSWER_EVENTS] = "events"};

    return names[source];
}

void dft_answer_print_source(FILE *out, const struct dft_answer *answer)
{
    static const char *const names[] = {
        [DFT_ANSWER_BUCKETS] = "buckets", [DFT_ANSWER_FILES] = "file aggregates", [DFT_ANSWER_EVENTS] = "events"};
    uint64_t rows = answer->placed_rows, all = rows + answer->placed_events;
    char text[DFT_TEXT_ROOM];

    if (answer->source == DFT_ANSWER_BUCKETS || !rows || !answer->placed_events)
        fprintf(out, "from %s",
                names[rows && answer->source == DFT_ANSWER_EVENTS ? DFT_ANSWER_BUCKETS : answer->source]);
    else
        fprintf(out, "from events, and for %s of the calls from %s", dft_text_share(text, rows, all),
                names[answer->source == DFT_ANSWER_FILES ? DFT_ANSWER_FILES : DFT_ANSWER_BUCKETS]);
}
