/* SPDX-License-Identifier: MIT */
/* Findings for people and for programs. */
#include <stdlib.h>
#include <string.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "findings/findings.h"

#define INDENT      3u
#define WIDTH_LEAST 20u
#define TITLE       34u

static const char *const sure_words[] = {"low", "medium", "high"};
static const char *const when_words[] = {NULL, "persistent", "growing", "at the start", "a blip"};

/* --- text ------------------------------------------------------------------------------------- */

/* A word of text, and how many columns it takes. */
static size_t word_bytes(const char *text, size_t *columns)
{
    size_t n = 0;

    for (*columns = 0; text[n] && text[n] != ' '; n++)
        *columns += ((unsigned char)text[n] & 0xc0) != 0x80;
    return n;
}

/* Writes words, and begins a new line where the terminal ends. `at` columns of the line are taken;
 * returns how many are then. */
static size_t put_words(FILE *out, const char *text, size_t at, size_t width)
{
    while (*text) {
        size_t columns, n = word_bytes(text, &columns);

        if (at > INDENT && at + 1 + columns > width) {
            fprintf(out, "\n%*s", (int)INDENT, "");
            at = INDENT;
        } else if (at > INDENT) {
            fputc(' ', out);
            at++;
        }
        fwrite(text, 1, n, out);
        at += columns;
        text += n;
        text += strspn(text, " ");
    }
    return at;
}

static void put_paragraph(FILE *out, const char *label, const char *text, size_t width)
{
    if (!text)
        return;
    fprintf(out, "%*s", (int)INDENT, "");
    put_words(out, text, *label ? put_words(out, label, INDENT, width) : INDENT, width);
    fputc('\n', out);
}

/* "2 small reads    1.43 s  52 %", the title padded where there is room. */
static void put_headline(FILE *out, const struct dft_finding *finding, size_t number, size_t title, size_t width)
{
    const char *bold = dft_terminal_colour() ? "\033[1m" : "", *plain = *bold ? "\033[0m" : "";
    char cost[DFT_TEXT_ROOM], share[DFT_TEXT_ROOM];
    size_t columns = dft_text_columns(finding->title);

    fprintf(out, "%-2zu %s", number, bold);
    if (!finding->of_ns) {
        fprintf(out, "%s%s\n", finding->title, plain);
        return;
    }
    dft_text_ns(cost, finding->cost_ns);
    dft_text_share(share, finding->cost_ns, finding->of_ns);
    if (INDENT + title + 22 > width) {
        put_words(out, finding->title, INDENT, width);
        fprintf(out, "%s\n%*s%s, %s\n", plain, (int)INDENT, "", cost, share);
        return;
    }
    fprintf(out, "%s%s%*s  %9s  %6s\n", finding->title, plain, (int)(title > columns ? title - columns : 0), "", cost,
            share);
}

static void put_when(FILE *out, const struct dft_finding *finding, uint64_t start_ns, size_t width)
{
    const char *word = when_words[finding->when];
    char text[160], from[DFT_TEXT_ROOM], to[DFT_TEXT_ROOM];

    if (!finding->to_ns || finding->from_ns < start_ns)
        return;
    snprintf(text, sizeof text, "%s%sfrom +%s to +%s", word ? word : "", word ? ", " : "",
             dft_text_ns(from, finding->from_ns - start_ns), dft_text_ns(to, finding->to_ns - start_ns));
    put_paragraph(out, "when:", text, width);
}

static void put_sure(FILE *out, const struct dft_finding *finding, size_t width)
{
    char label[32];

    snprintf(label, sizeof label, "sure: %s%s", sure_words[finding->sure], finding->why_sure ? "," : "");
    put_paragraph(out, label, finding->why_sure ? finding->why_sure : "", width);
}

static void put_skipped(FILE *out, const struct dft_findings *findings, size_t width)
{
    char *text = NULL;
    size_t length;
    FILE *line;
    const char *comma = "";

    if (!findings->not_looked_for || !(line = open_memstream(&text, &length)))
        return;
    for (unsigned code = 0; code < DFT_FINDINGS; code++) {
        if (!(findings->not_looked_for >> code & 1))
            continue;
        fprintf(line, "%s%s", comma, dft_finding_word((enum dft_finding_code)code));
        comma = ", ";
    }
    fprintf(line, ": %s", findings->why_not);
    if (!fclose(line))
        put_paragraph(out, "not looked for:", text, width);
    free(text);
}

void dft_findings_print(FILE *out, const struct dft_findings *findings, size_t top, uint64_t start_ns)
{
    size_t width = dft_terminal_width(), shown = top && top < findings->count ? top : findings->count, title = 0;

    width = width < WIDTH_LEAST ? WIDTH_LEAST : width;
    for (size_t i = 0; i < shown; i++) {
        size_t columns = dft_text_columns(findings->list[i].title);

        title = columns > title ? columns : title;
    }
    title = title < TITLE ? title : TITLE;
    if (!findings->count)
        put_words(out, "nothing wrong:", 0, width),
            put_words(out, findings->nothing ? findings->nothing : "", 14, width), fputc('\n', out);
    for (size_t i = 0; i < shown; i++) {
        const struct dft_finding *finding = &findings->list[i];

        put_headline(out, finding, i + 1, title, width);
        put_paragraph(out, "", finding->evidence, width);
        put_paragraph(out, "->", finding->advice, width);
        if (top)
            continue;
        put_paragraph(out, "line:", finding->line, width);
        put_when(out, finding, start_ns, width);
        put_sure(out, finding, width);
    }
    if (shown < findings->count)
        fprintf(out, "%*s%zu more: dftmerge findings\n", (int)INDENT, "", findings->count - shown);
    put_skipped(out, findings, width);
    put_paragraph(out, "note:", findings->notes, width);
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
    dft_json_end_object(json);
}

void dft_findings_json(struct dft_json *json, const struct dft_findings *findings)
{
    dft_json_array(json, "findings");
    for (size_t i = 0; i < findings->count; i++)
        put_json(json, &findings->list[i], i + 1);
    dft_json_end_array(json);
    dft_json_array(json, "findings_not_looked_for");
    for (unsigned code = 0; code < DFT_FINDINGS; code++)
        if (findings->not_looked_for >> code & 1)
            dft_json_string(json, NULL, dft_finding_word((enum dft_finding_code)code));
    dft_json_end_array(json);
    dft_json_string(json, "findings_why_not", findings->why_not);
    dft_json_string(json, "findings_nothing", findings->count ? NULL : findings->nothing);
    dft_json_string(json, "findings_notes", findings->notes);
}
