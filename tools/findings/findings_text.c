/* SPDX-License-Identifier: MIT */
/* Findings for people and for programs. */
#include <stdlib.h>
#include <string.h>

#include "base/facet_words.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "findings/facts.h"
#include "findings/rules.h"

#define INDENT        3u
#define TITLE         34u /* columns, at most: costs stand behind them in a column */
#define COST_CAPACITY 17u /* without the sign and the words of the share */
#define NUMBER        5u  /* of it, in front of them */

static const char *const base_words[] = {"job", "processes", "threads"};
static const char *const sure_words[] = {"low", "medium", "high"};
static const char *const when_words[] = {NULL, "persistent", "growing", "at the start", "a blip"};

/* --- text ------------------------------------------------------------------------------------- */

static void put(FILE *out, const char *label, unsigned indent, const char *text)
{
    if (text && *text)
        dft_text_wrapped(out, label, indent, text);
}

const char *dft_finding_share(char *room, const struct dft_finding *finding)
{
    static const char *const of[] = {" of the job", " of all processes", " of all threads"};
    const char *words = finding->is_alone ? "" : of[finding->of];
    char share[DFT_TEXT_ROOM];

    if (finding->job_ns && finding->of != DFT_OF_JOB)
        words = " of the job at most";
    dft_text_share(share, dft_finding_cost_ns(finding), finding->job_ns ? finding->job_ns : finding->of_ns);
    snprintf(room, DFT_SHARE_ROOM, "%s%s", share, words);
    return room;
}

/* "2  small reads    1.43 s  52 %": the costs in a column where there is room. */
static void put_headline(FILE *out, const struct dft_finding *finding, size_t number, size_t title)
{
    const char *bold = dft_terminal_colour() ? "\033[1m" : "", *plain = *bold ? "\033[0m" : "";
    char cost[DFT_TEXT_ROOM], share[DFT_SHARE_ROOM] = "", label[DFT_TEXT_ROOM];
    char line[DFT_TEXT_ROOM + DFT_SHARE_ROOM];
    size_t words, columns = dft_text_columns(finding->title), width = dft_terminal_width();

    snprintf(label, sizeof label, "%-2zu ", number);
    if (finding->of_ns) {
        dft_text_ns(cost, dft_finding_cost_ns(finding));
        dft_finding_share(share, finding);
    }
    words = strcspn(share, "%"); /* the number ends in front of it */
    fputs(bold, out);
    if (finding->of_ns &&
        INDENT + (columns > title ? columns : title) + COST_CAPACITY + strlen(share + words) <= width) {
        fprintf(out, "%s%s%s%*s  %8s  %*s%s\n", label, finding->title, plain,
                (int)(title > columns ? title - columns : 0), "", cost, (int)(words < NUMBER ? NUMBER - words : 0), "",
                share);
        return;
    }
    dft_text_wrapped(out, label, INDENT, finding->title);
    fputs(plain, out);
    snprintf(line, sizeof line, "%s, %s", cost, share);
    if (finding->of_ns)
        dft_text_wrapped(out, "   ", INDENT, line);
}

/* On the page the source line stands behind the evidence, as the name of its file alone. */
static void put_evidence(FILE *out, const struct dft_finding *finding, int is_page)
{
    const char *slash = finding->line ? strrchr(finding->line, '/') : NULL;
    char *text = NULL;

    if (!is_page || !finding->line || !finding->evidence ||
        dft_finding_say(&text, "%s; %s", finding->evidence, slash ? slash + 1 : finding->line))
        put(out, "", INDENT, finding->evidence);
    else
        put(out, "", INDENT, text);
    free(text);
}

static void put_when(FILE *out, const struct dft_finding *finding, uint64_t start_ns)
{
    const char *word = when_words[finding->when];
    char text[160], from[DFT_TEXT_ROOM], to[DFT_TEXT_ROOM];

    if (!finding->to_ns || finding->from_ns < start_ns)
        return;
    snprintf(text, sizeof text, "%s%sfrom +%s to +%s", word ? word : "", word ? ", " : "",
             dft_text_ns(from, finding->from_ns - start_ns), dft_text_ns(to, finding->to_ns - start_ns));
    put(out, "   when  ", 3 * INDENT, text);
}

static void put_finding(FILE *out, const struct dft_finding *finding, int is_page, uint64_t start_ns)
{
    char *sure = NULL;

    put_evidence(out, finding, is_page);
    put(out, "   -> ", 2 * INDENT, finding->advice);
    if (is_page)
        return;
    put(out, "   line  ", 3 * INDENT, finding->line);
    put_when(out, finding, start_ns);
    if (!dft_finding_say(&sure, "%s%s%s", sure_words[finding->sure], finding->why_sure ? ": " : "",
                         finding->why_sure ? finding->why_sure : ""))
        put(out, "   sure  ", 3 * INDENT, sure);
    free(sure);
}

static void put_skipped(FILE *out, const struct dft_findings *findings)
{
    char *text = NULL;
    int rc = 0;

    for (unsigned code = 0; code < DFT_FINDINGS && !rc && !findings->is_of_calls; code++)
        if (findings->not_looked_for >> code & 1)
            rc = dft_finding_say(&text, "%s%s", text ? ", " : "", dft_finding_word((enum dft_finding_code)code));
    if (!rc && findings->why_not)
        rc = dft_finding_say(&text, "%s%s", text ? ": " : "", findings->why_not);
    if (!rc)
        put(out, findings->is_of_calls ? "findings: not looked for: " : "not looked for: ", INDENT, text);
    free(text);
}

/* Apart from the findings, with what they would take and not what they took. */
static void put_risks(FILE *out, const struct dft_findings *findings)
{
    char trips[DFT_TEXT_ROOM], time[DFT_TEXT_ROOM], *text = NULL;

    if (findings->nrisks)
        dft_text_wrapped(
            out, "risk: ", INDENT,
            "not slow here, but likely where a server has to answer each request (--no-risk leaves this out)");
    for (size_t i = 0; i < findings->nrisks; i++) {
        const struct dft_risk *risk = &findings->risks[i];

        free(text);
        text = NULL;
        if (!dft_finding_say(&text, "%s: %s%s%s; at most %s round trips, %s", risk->title, risk->where,
                             *risk->where ? ": " : "", risk->evidence, dft_text_count(trips, risk->trips),
                             dft_text_ns(time, risk->at_ns)))
            put(out, "   ", INDENT + 2, text);
    }
    free(text);
}

/* A line begins with its label. */
static void put_line(FILE *out, const char *line)
{
    const char *colon = line ? strstr(line, ": ") : NULL;
    char *label = colon ? strndup(line, (size_t)(colon - line) + 2) : NULL;

    if (label)
        dft_text_wrapped(out, label, INDENT, colon + 2);
    free(label);
}

/* The lines of all levels above those of findings, which are the next lines; that of what was lost is the first of
 * these. */
static void put_verdict(FILE *out, const struct dft_findings *findings)
{
    char *const *lines = findings->verdict;
    const enum dft_verdict_level level = dft_verdict_level(findings);

    put_line(out, lines[DFT_VERDICT_IN_FLIGHT]);
    put_line(out, lines[DFT_VERDICT_UNSEEN]);
    put_line(out, lines[DFT_VERDICT_ENDED]);
    if (!lines[DFT_VERDICT_LOST])
        put_line(out, lines[DFT_VERDICT_FAILED]);
    if (level == DFT_VERDICT_GOOD || (level == DFT_VERDICT_UNKNOWN && !findings->is_of_calls))
        put_line(out, lines[level]);
}

void dft_findings_print(FILE *out, const struct dft_findings *findings, size_t top, uint64_t start_ns)
{
    size_t shown = top && top < findings->count ? top : findings->count, title = 0;

    for (size_t i = 0; i < shown; i++) {
        size_t columns = dft_text_columns(findings->list[i].title);

        title = columns > title && columns <= TITLE ? columns : title;
    }
    put_verdict(out, findings);
    for (size_t i = 0; i < shown; i++) {
        put_headline(out, &findings->list[i], i + 1, title);
        put_finding(out, &findings->list[i], top != 0, start_ns);
    }
    if (shown < findings->count)
        fprintf(out, "%*s%zu more: dftmerge findings PATH\n", (int)INDENT, "", findings->count - shown);
    if (findings->verdict[DFT_VERDICT_LOST])
        put_line(out, findings->verdict[DFT_VERDICT_FAILED]);
    if (findings->count || (dft_verdict_level(findings) != DFT_VERDICT_GOOD && !findings->is_of_calls))
        put(out, "not a problem: ", INDENT, findings->nothing);
    put_skipped(out, findings);
    put_risks(out, findings);
    put(out, "note: ", INDENT, findings->notes);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_json(struct dft_json *json, const struct dft_finding *finding, size_t number)
{
    dft_json_object(json, NULL);
    dft_json_uint(json, "number", number);
    dft_json_string(json, "code", dft_finding_word(finding->code));
    dft_json_string(json, "title", finding->title);
    dft_json_uint(json, "cost_ns", finding->cost_ns);
    dft_json_uint(json, "of_ns", finding->of_ns);
    dft_json_string(json, "of", finding->of_ns ? base_words[finding->of] : NULL);
    dft_json_known_uint(json, "cost_job_ns", finding->job_ns != 0, finding->cost_job_ns);
    dft_json_known_uint(json, "job_ns", finding->job_ns != 0, finding->job_ns);
    dft_json_string(json, "sure", sure_words[finding->sure]);
    dft_json_string(json, "why_sure", finding->why_sure);
    dft_json_string(json, "when", when_words[finding->when]);
    dft_json_known_uint(json, "from_ns", finding->to_ns != 0, finding->from_ns);
    dft_json_known_uint(json, "to_ns", finding->to_ns != 0, finding->to_ns);
    dft_json_known_int(json, "rank", finding->rank >= 0, finding->rank);
    dft_json_string(json, "where", finding->where);
    dft_json_string(json, "line", finding->line);
    dft_json_string(json, "evidence", finding->evidence);
    dft_json_string(json, "advice", finding->advice);
    dft_json_uint(json, "calls", finding->calls);
    dft_json_uint(json, "bytes", finding->bytes);
    dft_json_uint(json, "files", finding->files);
    dft_json_uint(json, "errors", finding->errors);
    dft_json_array(json, "classes");
    for (uint8_t io = 0; io < DFT_IO_COUNT; io++)
        if (finding->classes >> io & 1)
            dft_json_string(json, NULL, dft_io_word(io));
    dft_json_end_array(json);
    dft_json_end_object(json);
}

static void put_risk_json(struct dft_json *json, const struct dft_risk *risk)
{
    dft_json_object(json, NULL);
    dft_json_string(json, "code", dft_finding_word(risk->code));
    dft_json_string(json, "title", risk->title);
    dft_json_uint(json, "trips", risk->trips);
    dft_json_uint(json, "at_ns", risk->at_ns);
    dft_json_uint(json, "of_ns", risk->of_ns);
    dft_json_known_int(json, "rank", risk->rank >= 0, risk->rank);
    dft_json_string(json, "where", *risk->where ? risk->where : NULL);
    dft_json_string(json, "evidence", risk->evidence);
    dft_json_end_object(json);
}

/* The verdict, and the lines of other levels that apply: but that nothing is wrong where something is. */
static void put_verdict_json(struct dft_json *json, const struct dft_findings *findings)
{
    const enum dft_verdict_level level = dft_verdict_level(findings);

    dft_json_object(json, "verdict");
    dft_json_string(json, "level", dft_verdict_word(level));
    dft_json_string(json, "line", findings->verdict[level]);
    dft_json_array(json, "more");
    for (unsigned i = level + 1; i < DFT_VERDICT_UNKNOWN; i++)
        if (findings->verdict[i])
            dft_json_string(json, NULL, findings->verdict[i]);
    dft_json_end_array(json);
    dft_json_array(json, "more_levels");
    for (unsigned i = level + 1; i < DFT_VERDICT_UNKNOWN; i++)
        if (findings->verdict[i])
            dft_json_string(json, NULL, dft_verdict_word((enum dft_verdict_level)i));
    dft_json_end_array(json);
    dft_json_end_object(json);
}

void dft_findings_json(struct dft_json *json, const struct dft_findings *findings)
{
    put_verdict_json(json, findings);
    dft_json_array(json, "findings");
    for (size_t i = 0; i < findings->count; i++)
        put_json(json, &findings->list[i], i + 1);
    dft_json_end_array(json);
    dft_json_array(json, "risks");
    for (size_t i = 0; i < findings->nrisks; i++)
        put_risk_json(json, &findings->risks[i]);
    dft_json_end_array(json);
    dft_json_array(json, "findings_not_looked_for");
    for (unsigned code = 0; code < DFT_FINDINGS; code++)
        if (findings->not_looked_for >> code & 1)
            dft_json_string(json, NULL, dft_finding_word((enum dft_finding_code)code));
    dft_json_end_array(json);
    dft_json_string(json, "findings_no_trace", findings->no_trace);
    dft_json_string(json, "findings_why_not", findings->why_not);
    dft_json_string(json, "findings_nothing", findings->nothing);
    dft_json_string(json, "findings_notes", findings->notes);
}
