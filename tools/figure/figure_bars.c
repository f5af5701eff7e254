/* SPDX-License-Identifier: MIT */
/* Pictures of lines with bars: overlap of each rank, and files. Their numbers are those of dftmerge
 * overlap and of dftmerge summary --by file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "figure/figure.h"
#include "analysis/overlap.h"
#include "query/answer.h"
#include "query/answer_pages.h"

#define LINE   15.0 /* pixels of a line, at least */
#define LABEL  7.0  /* pixels of a letter of a label, at most */
#define LABELS 0.45 /* of the width, at most */

/* Lines that fit. */
static uint32_t fitting(const struct dft_svg *svg, uint64_t count)
{
    uint64_t fit = (uint64_t)((svg->bottom - svg->top) / LINE);

    return (uint32_t)(count < fit ? count : fit);
}

/* --- overlap ---------------------------------------------------------------------------------- */

static int by_exposed(const void *left, const void *right)
{
    const struct dft_overlap_team *a = left, *b = right;

    if (a->times.exposed_ns != b->times.exposed_ns)
        return a->times.exposed_ns < b->times.exposed_ns ? 1 : -1;
    return a->trainer < b->trainer ? -1 : a->trainer > b->trainer;
}

static void put_part(struct dft_figure *figure, const char *class, double y, double height, uint64_t from, uint64_t ns,
                     const struct dft_scale *x)
{
    double left = dft_scale_at(x, (double)from);
    char attributes[64], number[DFT_TEXT_ROOM];

    if (!ns)
        return;
    snprintf(attributes, sizeof attributes, " data-%s-ns=\"%llu\"", class, (unsigned long long)ns);
    dft_svg_bar(&figure->svg, class, left, y, dft_scale_at(x, (double)(from + ns)) - left, height, attributes);
    fprintf(figure->out, "%s %s", class, dft_text_ns(number, ns));
    dft_svg_bar_end(&figure->svg);
}

static void put_team(struct dft_figure *figure, const struct dft_overlap_team *team, double y, double height,
                     const struct dft_scale *x)
{
    const struct dft_overlap_times *times = &team->times;
    uint32_t count;
    const struct dft_source_process *trainer = &dft_source_processes(figure->source, &count)[team->trainer];
    uint64_t computes = times->compute_ns > times->hidden_ns ? times->compute_ns - times->hidden_ns : 0;
    char label[64];

    if (team->rank >= 0)
        snprintf(label, sizeof label, "rank %lld", (long long)team->rank);
    else
        snprintf(label, sizeof label, "pid %u", trainer->process.pid);
    fprintf(figure->out, "<g data-line=\"%s\">\n", label);
    dft_svg_text(&figure->svg, figure->svg.left - 6, y + height / 2 + 4, "number", "end", label);
    put_part(figure, "compute", y, height, 0, computes, x);
    put_part(figure, "hidden", y, height, computes, times->hidden_ns, x);
    put_part(figure, "exposed", y, height, computes + times->hidden_ns, times->exposed_ns, x);
    put_part(figure, "idle", y, height, computes + times->hidden_ns + times->exposed_ns, times->idle_ns, x);
    fputs("</g>\n", figure->out);
}

static void put_overlap_sentence(struct dft_figure *figure, const struct dft_overlap *overlap, uint32_t shown)
{
    const struct dft_overlap_times *all = &overlap->all;
    char text[384], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int used =
        snprintf(text, sizeof text, "%s%s of I/O: %s hidden behind computing, %s in its way.%s",
                 overlap->is_exact ? "" : "About ", dft_text_ns(a, all->io_ns), dft_text_ns(b, all->hidden_ns),
                 dft_text_ns(c, all->exposed_ns),
                 overlap->has_compute ? "" : " No region says what computes: it is the time outside I/O and waits.");

    if (shown < overlap->nteams)
        snprintf(text + used, sizeof text - (size_t)used, " The first %s of %s lines.", dft_text_count(a, shown),
                 dft_text_count(b, overlap->nteams));
    dft_svg_sentence(&figure->svg, text);
}

static void put_overlap(struct dft_figure *figure, struct dft_overlap *overlap)
{
    static const struct dft_svg_legend legends[] = {
        {"compute", "compute"}, {"hidden", "hidden I/O"}, {"exposed", "exposed I/O"}, {"idle", "idle"}};
    struct dft_svg *svg = &figure->svg;
    struct dft_scale x = {.most = 1, .unit = DFT_SVG_NS};
    uint32_t lines;
    double height;

    dft_figure_begin(figure, "Overlap");
    lines = fitting(svg, overlap->nteams);
    height = (svg->bottom - svg->top) / (lines > 4 ? lines : 4);
    qsort(overlap->teams, overlap->nteams, sizeof *overlap->teams, by_exposed);
    for (uint32_t i = 0; i < lines; i++)
        x.most = overlap->teams[i].times.wall_ns > x.most ? overlap->teams[i].times.wall_ns : x.most;
    x.from = svg->left;
    x.to = svg->right;
    put_overlap_sentence(figure, overlap, lines);
    dft_svg_legends(svg, legends, 4);
    for (uint32_t i = 0; i < lines; i++)
        put_team(figure, &overlap->teams[i], svg->top + height * (i + 0.1), height * 0.8, &x);
    dft_svg_x_axis(svg, &x, "time");
    dft_figure_end(figure);
}

int dft_figure_overlap(struct dft_figure *figure)
{
    struct dft_overlap_request request = {
        .source = figure->source, .filter = &figure->options->filter, .patterns = dft_region_usual};
    struct dft_overlap overlap;
    int rc = dft_overlap_make(&request, &overlap);

    if (!rc && !overlap.nteams)
        rc = DFT_FIGURE_EMPTY;
    if (!rc)
        put_overlap(figure, &overlap);
    dft_overlap_fini(&overlap);
    return rc;
}

/* --- files ------------------------------------------------------------------------------------ */

/* The end of a path that fits, from malloc. NULL: no memory. */
static char *fitting_path(const struct dft_figure *figure, struct dft_text path, size_t letters)
{
    char *whole = strndup(path.bytes, path.length), *escaped = NULL, *cut = NULL;

    if (whole) {
        const char *shown = dft_job_short_path(&figure->job, whole);

        escaped = dft_text_escaped(shown, strlen(shown));
    }
    free(whole);
    if (escaped && dft_text_columns(escaped) > letters) {
        const char *at = escaped;

        for (size_t over = dft_text_columns(escaped) - letters + 3; over && *at; at++)
            over -= (at[1] & 0xc0) != 0x80;
        if (asprintf(&cut, "...%s", at) < 0)
            cut = NULL;
        free(escaped);
        return cut;
    }
    return escaped;
}

static int put_file(struct dft_figure *figure, const struct dft_answer *answer, const struct dft_group *group, double y,
                    double height, const struct dft_scale *x)
{
    struct dft_svg *svg = &figure->svg;
    char attributes[128], time[DFT_TEXT_ROOM], calls[DFT_TEXT_ROOM], bytes[DFT_TEXT_ROOM], text[3 * DFT_TEXT_ROOM];
    double end = dft_scale_at(x, (double)group->metrics.dur_sum);
    struct dft_key_value value;
    char *path;
    int inside;

    dft_group_value(answer, group, DFT_BY_FILE, &value);
    path = fitting_path(figure, value.text, (size_t)((svg->left - 12) / LABEL));
    if (!path)
        return -ENOMEM;
    dft_svg_text(svg, svg->left - 6, y + height / 2 + 4, "number", "end", path);
    free(path);
    snprintf(attributes, sizeof attributes, " data-time-ns=\"%llu\" data-count=\"%llu\" data-bytes=\"%llu\"",
             (unsigned long long)group->metrics.dur_sum, (unsigned long long)group->metrics.count,
             (unsigned long long)group->metrics.bytes);
    dft_svg_bar(svg, "calls", svg->left, y, end - svg->left, height, attributes);
    dft_svg_escape(figure->out, value.text.bytes, value.text.length);
    dft_svg_bar_end(svg);
    snprintf(text, sizeof text, "%s, %s calls, %s", dft_text_ns(time, group->metrics.dur_sum),
             dft_text_count(calls, group->metrics.count), dft_text_bytes(bytes, group->metrics.bytes));
    inside = end > (svg->left + svg->right) / 2;
    dft_svg_text(svg, inside ? end - 6 : end + 6, y + height / 2 + 4, inside ? "inside" : "number",
                 inside ? "end" : "start", text);
    return 0;
}

static int put_files(struct dft_figure *figure, const struct dft_answer *answer)
{
    struct dft_svg *svg = &figure->svg;
    struct dft_scale x = {.most = 1, .unit = DFT_SVG_NS};
    char text[256], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    uint32_t lines;
    double height;
    int rc = 0;

    dft_figure_begin(figure, "Files by I/O time");
    svg->left = LABELS * svg->width;
    lines = fitting(svg, answer->count);
    height = (svg->bottom - svg->top) / (lines > 4 ? lines : 4);
    x.most = answer->groups[0].metrics.dur_sum ? answer->groups[0].metrics.dur_sum : 1;
    x.from = svg->left;
    x.to = svg->right;
    snprintf(text, sizeof text, "%s calls on %s files, %s.%s", dft_text_count(a, answer->all.count),
             dft_text_count(b, answer->found), dft_text_ns(c, answer->all.time_ns),
             lines < answer->found ? " Those with the most time are shown." : "");
    dft_svg_sentence(svg, text);
    for (uint32_t i = 0; !rc && i < lines; i++)
        rc = put_file(figure, answer, &answer->groups[i], svg->top + height * (i + 0.1), height * 0.8, &x);
    dft_svg_x_axis(svg, &x, "time of all calls");
    dft_figure_end(figure);
    return rc;
}

int dft_figure_files(struct dft_figure *figure)
{
    const struct dft_query query = {.by = {DFT_BY_FILE}, .nby = 1, .classes = DFT_CLASSES_OWN};
    const struct dft_order order = {.top = 1000, .at_once = 1000};
    struct dft_answer answer;
    int rc = dft_query_sorted(figure->source, &figure->options->filter, &query, &order, &answer);

    if (rc)
        return rc;
    rc = answer.count ? put_files(figure, &answer) : DFT_FIGURE_EMPTY;
    dft_answer_fini(&answer);
    return rc;
}
