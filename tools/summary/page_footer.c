/* SPDX-License-Identifier: MIT */
/* The footer of the page, once for all its sections: what answered, what was lost, what tracing
 * cost. */
#include "summary/page_footer.h"

#include <stdlib.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "job/job_footer.h"
#include "query/answer_source.h"

/* What answered; files may have come from elsewhere. */
static void say_sources(FILE *out, const struct dft_page *page)
{
    fputs("answered ", out);
    dft_answer_print_source(out, &page->calls);
    if (page->has_files && page->files.source != page->calls.source) {
        fputs(", files ", out);
        dft_answer_print_source(out, &page->files);
    }
    fputs("; ", out);
    dft_job_print_kept(out, &page->summary->job);
}

void dft_page_footer(const struct dft_page *page, const struct dft_unseen *unseen)
{
    char buffer[DFT_TEXT_ROOM];
    struct dft_sentence text;
    FILE *out;

    out = dft_sentence_begin(&text);
    if (!out)
        return;
    if (page->calls.query.grid_ns)
        fprintf(out, "times count from the start; these groups begin on the grid of %s on which calls are counted; ",
                dft_text_ns(buffer, page->calls.query.grid_ns));
    say_sources(out, page);
    dft_job_print_losses(out, &page->summary->job, page->summary->source, "lost: ");
    if (page->unsplit)
        fprintf(out, "; %s events are known only as aggregates and are not in every table",
                dft_text_count(buffer, page->unsplit));
    if (page->overhead_ns && page->uncut_lives_ns)
        fprintf(out, "; tracing took %s%s", dft_text_share(buffer, page->overhead_ns, page->uncut_lives_ns),
                dft_filter_has_times(&page->summary->options->filter) ? " of the whole run" : "");
    dft_sentence_end(&text, out, "", 0);
    out = unseen ? dft_sentence_begin(&text) : NULL;
    if (!out)
        return;
    dft_unseen_print(out, unseen);
    fflush(out);
    if (text.length)
        dft_sentence_end(&text, out, "not seen", 10);
    else if (!fclose(out))
        free(text.text);
}
