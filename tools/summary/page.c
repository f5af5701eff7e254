/* SPDX-License-Identifier: MIT */
/* The page for people: its queries, and the order of its sections. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "query/plan_times.h"
#include "summary/histograms_output.h"
#include "summary/job_rows.h"
#include "summary/page.h"
#include "summary/page_ask.h"
#include "summary/page_classes.h"
#include "summary/page_files.h"
#include "summary/page_footer.h"
#include "summary/page_head.h"
#include "summary/page_ranks.h"
#include "summary/page_table.h"
#include "summary/region_tree.h"

#define TOP_FINDINGS 3u
#define TOP_CALLS    20u
#define TOP_FILES    10u
#define TOP_REGIONS  10u
#define TOP_OTHERS   5u
#define INTERVALS    40u      /* of I/O over time, at most twice as many */
#define FEW          8u       /* fewer intervals of rows are no picture */
#define EVENTS_MAX   5000000u /* these are read for a picture */

/* A table of the page by its answer. */
struct section {
    const char *title;
    struct dft_query query;
    uint64_t top, order;     /* how many are shown, and requested */
    int even_empty, by_time; /* whatever else the user sorts by */
    struct dft_answer answer;
};

enum { FILES, OVER_TIME, RANKS, CALLS, REGIONS, TREE, WAITS, SECTIONS };

/* --- tables ----------------------------------------------------------------------------------- */

/* Does the user say which lines there are? Then small ones are not put together. */
static int is_asked(const struct dft_page *page)
{
    return page->summary->by || page->summary->options->top || page->summary->options->sort;
}

static uint64_t top_of(const struct dft_page *page, uint64_t top)
{
    return page->summary->options->top ? page->summary->options->top : top;
}

/* The column to sort by may be a key of another table. */
static struct dft_query_request request_of(const struct dft_page *page, struct section *section)
{
    struct dft_query_request request = {
        section->query,
        {.column = page->summary->options->sort, .top = section->order, .at_once = DFT_SUMMARY_LINES},
        &section->answer};

    if (section->by_time || dft_order_check(&request.order, &section->query))
        request.order.column = NULL;
    return request;
}

static int ask_section(struct dft_page *page, struct section *section)
{
    struct dft_query_request request = request_of(page, section);

    return dft_query_many(page->summary->source, &page->summary->options->filter, &request, 1);
}

static void print_title(const struct dft_page *page, const struct section *section)
{
    const char *sort = page->summary->options->sort;
    const struct dft_answer *answer = &section->answer;
    const struct dft_order order = {.column = sort};
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    struct dft_sentence text;
    FILE *out = dft_sentence_begin(&text);

    if (!out)
        return;
    if (dft_order_check(&order, &section->query))
        sort = NULL;
    fprintf(out, "%s by %s", section->title, sort && strcmp(sort, "t_ns") != 0 ? sort : "time");
    if (section->top && section->top < answer->found && is_asked(page))
        fprintf(out, " (the first %s of %s)", dft_text_count(a, section->top), dft_text_count(b, answer->found));
    if (section->query.classes && !(section->query.classes >> DFT_IO_STARTUP & 1) &&
        page->classes[DFT_IO_STARTUP].count)
        fputs(", without start-up", out);
    putchar('\n');
    dft_sentence_end(&text, out, "", 0);
}

/* Pieces of an answer that may have more of them: how much of it was shown so far. */
struct shown {
    uint64_t lines;
    struct dft_totals sums;
};

/* How much of a group of time lies in what was queried. */
static uint64_t span_of(const struct dft_page *page, const struct dft_page_line *line)
{
    const struct dft_query *query = &line->answer->query;
    uint64_t from = query->base_ns + line->group->key.time * query->width_ns, to = from + query->width_ns;

    from = from < page->from_ns ? page->from_ns : from;
    to = to > page->from_ns + page->span_ns ? page->from_ns + page->span_ns : to;
    return to > from ? to - from : 0;
}

/* A piece of an answer, with sums at the end of the last one. */
static int print_piece(const struct dft_page *page, const struct dft_answer *answer, uint64_t share_ns,
                       struct shown *shown, int is_last)
{
    char rest[64], number[DFT_TEXT_ROOM];
    struct dft_page_table table = {.answer = answer,
                                   .share_ns = share_ns,
                                   .wall_ns = page->lives_ns,
                                   .processes = page->processes,
                                   .span_ns = page->span_ns,
                                   .rest = rest,
                                   .total = "total",
                                   .before = shown->sums};
    struct dft_page_line *lines = dft_page_lines(answer, is_asked(page) ? 0 : share_ns, &table.count);
    uint64_t others;
    int rc;

    if (!lines)
        return -ENOMEM;
    for (uint32_t i = 0; i < table.count && memchr(answer->query.by, DFT_BY_TIME, answer->query.nby); i++)
        lines[i].span_ns = span_of(page, &lines[i]);
    table.lines = lines;
    shown->lines += table.count;
    others = answer->found - shown->lines;
    snprintf(rest, sizeof rest, "%s other%s", dft_text_count(number, others), others == 1 ? "" : "s");
    if (is_last && !(answer->has_self && answer->all.time_ns != answer->all_ns))
        table.all = &answer->all;
    rc = dft_page_table(&table);
    for (uint32_t i = 0; i < table.count; i++) {
        const struct dft_metrics *m = &lines[i].group->metrics;

        shown->sums.count += m->count;
        shown->sums.errors += m->errors;
        shown->sums.time_ns += m->dur_sum;
        shown->sums.bytes += m->bytes;
    }
    free(lines);
    return rc;
}

static int print_section(struct dft_page *page, struct section *section, uint64_t share_ns)
{
    struct dft_answer *answer = &section->answer;
    uint64_t seen = 0, all = section->order && section->order < answer->found ? section->order : answer->found;
    int rc = 0, any = answer->all.time_ns || is_asked(page) ? answer->count || section->even_empty : 0;
    struct shown shown = {0};

    dft_comm_broadcast(&any, sizeof any);
    if (!any)
        return 0;
    if (section->even_empty)
        dft_page_answered(page, answer, 0);
    print_title(page, section);
    share_ns = share_ns ? share_ns : answer->all_ns;
    do {
        struct dft_answer piece = *answer;

        do {
            uint32_t left = answer->count - (uint32_t)(piece.groups - answer->groups);

            piece.count = left < DFT_SUMMARY_LINES ? left : DFT_SUMMARY_LINES;
            seen += piece.count;
            rc = print_piece(page, &piece, share_ns, &shown, seen >= all);
            piece.groups += piece.count;
        } while (!rc && piece.groups < answer->groups + answer->count);
    } while (!rc && (rc = dft_answer_next(answer)) > 0);
    return rc;
}

/* --- sections --------------------------------------------------------------------------------- */

/* The width of the intervals of I/O over time; 0: it is not shown. */
static int over_time_width(const struct dft_page *page, uint64_t *width_ns)
{
    const struct dft_summary *summary = page->summary;
    const struct dft_filter *filter = &summary->options->filter;
    uint64_t from = summary->job.start_ns, to = from + summary->job.wall_ns, unit;
    int rc = dft_query_interval(summary->source, &unit);

    from = filter->from_ns > from ? filter->from_ns < to ? filter->from_ns : to : from;
    to = filter->to_ns < to ? filter->to_ns > from ? filter->to_ns : from : to;
    if (dft_filter_has_files(filter) && dft_source_kept(summary->source) != DFT_KEPT_ALL)
        unit = 0; /* rows of files have wide intervals */
    else if (!unit || (to - from) / unit < FEW)
        unit = dft_source_kept(summary->source) == DFT_KEPT_ALL && page->events < EVENTS_MAX ? 1000 : 0;
    *width_ns = unit ? ((to - from) / (INTERVALS * unit) + 1) * unit : 0;
    if (*width_ns > DFT_INTERVAL_NS_MAX)
        *width_ns = 0;
    dft_comm_broadcast(width_ns, sizeof *width_ns);
    return rc;
}

static void add_section(const struct dft_page *page, struct section *section, const char *title, uint64_t ops,
                        unsigned classes, uint64_t top)
{
    *section = (struct section){.title = title, .query = page->summary->query, .top = top_of(page, top)};
    section->order = section->top;
    section->query.ops = ops;
    section->query.classes = classes;
    section->query.percentiles = section->query.busy = section->query.patterns = section->query.members = 1;
}

/* What is no I/O, where it takes time. */
static void print_waits(struct dft_page *page, struct section *section)
{
    if (page->waits_ns && (is_asked(page) || page->waits_ns >= page->lives_ns / 1000))
        dft_page_waits(&section->answer, section->top);
}

/* Where there are too many files to tell them apart, patterns. */
static int print_files(struct dft_page *page, struct dft_answer *files)
{
    uint64_t found = files->found, top = top_of(page, TOP_FILES);
    struct section section = {.query = {.by = {DFT_BY_PATTERN}, .nby = 1, .events = page->summary->query.events},
                              .order = DFT_PAGE_FILES};
    int rc;

    dft_comm_broadcast(&found, sizeof found);
    if (found <= DFT_PAGE_FILES) {
        if (found)
            dft_page_answered(page, files, 1);
        return dft_page_files(page, files, top);
    }
    rc = ask_section(page, &section);
    if (rc)
        return rc;
    dft_page_answered(page, &section.answer, 1);
    rc = dft_page_files(page, &section.answer, top);
    dft_answer_fini(&section.answer);
    return rc;
}

/* Queries of all sections that there may be, beside those of `requests`. Returns how many there
 * are then. */
static unsigned put_sections(struct dft_page *page, struct section *sections, uint64_t width,
                             struct dft_query_request *requests, unsigned count)
{
    const uint64_t region = UINT64_C(1) << DFT_OP_REGION;
    int events = page->summary->query.events;

    sections[FILES] = (struct section){
        .query = {.by = {DFT_BY_FILE}, .nby = 1, .events = events, .classes = DFT_CLASSES_OWN, .members = 1},
        .order = DFT_PAGE_FILES};
    if (width)
        sections[OVER_TIME].query = (struct dft_query){
            .by = {DFT_BY_TIME}, .nby = 1, .classes = DFT_CLASSES_IO, .busy = 1, .width_ns = width, .events = events};
    if (page->summary->job.ranks > 1)
        sections[RANKS].query = dft_page_ranks_query;
    if (dft_page_has_ops(page)) {
        add_section(page, &sections[CALLS], "Calls", dft_page_io_ops(), DFT_CLASSES_OWN, TOP_CALLS);
        add_section(page, &sections[REGIONS], "Regions", region, 0, TOP_REGIONS);
        add_section(page, &sections[WAITS], "", ~region, 1u << DFT_IO_WAIT | 1u << DFT_IO_NONE, TOP_OTHERS);
        sections[TREE] = (struct section){.query = dft_region_tree_query, .order = DFT_REGION_TREE, .by_time = 1};
    }
    for (unsigned i = 0; i < SECTIONS; i++)
        if (sections[i].query.nby)
            requests[count++] = request_of(page, &sections[i]);
    return count;
}

static int print_sections(struct dft_page *page, struct section *sections)
{
    int rc = 0;

    if (sections[RANKS].query.nby)
        rc = dft_page_ranks(page, &sections[RANKS].answer);
    if (!rc && page->ops >> DFT_OP_REGION & 1) {
        rc = print_section(page, &sections[REGIONS], 0);
        if (!rc)
            rc = dft_region_tree_print(stdout, &sections[TREE].answer);
    }
    rc = rc ? rc : dft_page_classes(page);
    rc = rc ? rc : print_files(page, &sections[FILES].answer);
    if (!rc && page->ops & dft_page_io_ops())
        rc = print_section(page, &sections[CALLS], page->io.time_ns);
    if (!rc && page->ops & ~(UINT64_C(1) << DFT_OP_REGION))
        print_waits(page, &sections[WAITS]);
    return rc;
}

static void print_findings(const struct dft_page *page, const struct dft_findings *findings)
{
    if (dft_comm_rank())
        return;
    dft_findings_print(stdout, findings, TOP_FINDINGS, page->summary->job.start_ns);
    putchar('\n');
}

/* Where all I/O that a filter leaves is that of start-up, the tables are of that. Collective. */
static int ask_startup(struct dft_page *page, struct section *sections)
{
    uint64_t others = page->io.count - page->classes[DFT_IO_STARTUP].count;
    int rc = 0, is = dft_filter_has_any(&page->summary->options->filter) && page->io.count && !others;

    dft_comm_broadcast(&is, sizeof is);
    for (unsigned i = 0; is && !rc && i < SECTIONS; i++) {
        if ((i != FILES && i != CALLS) || !sections[i].query.nby)
            continue;
        dft_answer_fini(&sections[i].answer);
        sections[i].query.classes = 1u << DFT_IO_STARTUP;
        rc = ask_section(page, &sections[i]);
    }
    return rc;
}

static int print_page(struct dft_page *page, struct dft_unseen *unseen)
{
    struct dft_query_request requests[DFT_PAGE_HEAD + SECTIONS + 1];
    struct section sections[SECTIONS] = {0};
    struct dft_findings findings;
    uint64_t width;
    unsigned count = dft_page_put(page, requests);
    int rc = over_time_width(page, &width);

    if (rc)
        return rc;
    count = put_sections(page, sections, width, requests, count);
    count = dft_unseen_put(unseen, requests, count);
    rc = dft_summary_findings(page->summary, requests, count, &findings);
    if (!rc) {
        rc = dft_unseen_take(unseen);
        rc = rc ? rc : dft_page_take(page);
        rc = rc ? rc : ask_startup(page, sections);
        if (!dft_summary_nothing(page->summary, &page->answer)) {
            print_findings(page, &findings);
            dft_page_head(page, width ? &sections[OVER_TIME].answer : NULL);
            rc = rc ? rc : print_sections(page, sections);
            if (!rc && page->summary->hist)
                rc = dft_histograms_print(page->summary);
            putchar('\n');
            dft_page_footer(page, unseen);
        }
        dft_findings_fini(&findings);
    }
    for (unsigned i = 0; i < SECTIONS; i++)
        dft_answer_fini(&sections[i].answer);
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int print_by(struct dft_page *page)
{
    struct dft_query_request requests[DFT_PAGE_HEAD + 1];
    struct section section;
    unsigned count = dft_page_put(page, requests);
    int rc;

    add_section(page, &section, page->summary->query.classes ? "I/O of groups" : "Groups", page->summary->query.ops,
                page->summary->query.classes, TOP_CALLS);
    section.even_empty = 1;
    if (memchr(section.query.by, DFT_BY_TIME, section.query.nby))
        section.top = section.order = page->summary->options->top; /* a part of the time would be any part */
    for (unsigned i = 0; i < section.query.nby; i++)
        section.query.percentiles &= section.query.by[i] != DFT_BY_TIME;
    requests[count++] = request_of(page, &section);
    rc = dft_query_many(page->summary->source, &page->summary->options->filter, requests, count);
    if (!rc)
        rc = dft_page_take(page);
    if (!rc && !dft_summary_nothing(page->summary, &page->answer)) {
        dft_page_head_line(page);
        rc = print_section(page, &section, 0);
        if (!rc && page->summary->hist)
            rc = dft_histograms_print(page->summary);
        if (!rc)
            dft_page_footer(page, NULL);
    }
    dft_answer_fini(&section.answer);
    return rc;
}

int dft_summary_text(struct dft_summary *summary)
{
    struct dft_page page = {.summary = summary};
    struct dft_unseen unseen = {0};
    struct dft_job_rows rows;
    int rc = dft_job_rows_make(&rows, summary);

    if (!rc && !summary->by)
        rc = dft_unseen_collect(summary, &unseen);
    rc = rc ? rc : dft_job_rows_print(&rows);
    if (!rc)
        rc = summary->by ? print_by(&page) : print_page(&page, &unseen);
    dft_job_rows_free(&rows);
    dft_unseen_fini(&unseen);
    dft_page_fini(&page);
    return rc;
}
