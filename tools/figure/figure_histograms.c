/* SPDX-License-Identifier: MIT */
/* Pictures of sizes and of latency. Their numbers are those of dftmerge summary --hist. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/facet_words.h"
#include "base/write_text.h"
#include "figure/figure.h"
#include "query/histograms.h"

/* Asks for the histogram of all I/O. Returns 0, DFT_FIGURE_EMPTY, or -errno. */
static int ask(struct dft_figure *figure, struct dft_group *all, struct dft_histogram *histogram)
{
    struct dft_histograms histograms;
    int rc = dft_histograms_ask(figure->source, &figure->options->filter, &(struct dft_query){0}, 1,
                                &(struct dft_order){.top = 1}, &histograms);

    if (!rc && !histograms.groups.count)
        rc = DFT_FIGURE_EMPTY;
    if (!rc) {
        *all = histograms.groups.groups[0];
        dft_histogram_of(&histograms, all, histogram);
    }
    dft_histograms_fini(&histograms);
    return rc;
}

/* --- sizes ------------------------------------------------------------------------------------ */

static void put_share(struct dft_figure *figure, const char *class, double x, double width, uint64_t part,
                      uint64_t whole, const struct dft_scale *y, const char *attributes)
{
    double share = whole ? 100.0 * (double)part / (double)whole : 0;

    dft_svg_bar(&figure->svg, class, x, dft_scale_at(y, share), width, y->from - dft_scale_at(y, share), attributes);
    fprintf(figure->out, "%.1f %% of the %s", share, class);
    dft_svg_bar_end(&figure->svg);
}

/* The classes of sizes that calls requested, and the sums over them. */
static unsigned used_sizes(const struct dft_histogram *histogram, uint8_t used[DFT_SIZE_CLASSES],
                           struct dft_totals *all)
{
    unsigned count = 0;

    *all = (struct dft_totals){0};
    for (uint8_t class = 1; class < DFT_SIZE_CLASSES; class ++)
        if (histogram->sizes[class].count) {
            used[count++] = class;
            all->count += histogram->sizes[class].count;
            all->time_ns += histogram->sizes[class].time_ns;
        }
    return count;
}

/* The lower edge as people say it: "64 KiB". */
static void size_label(char label[DFT_SIZE_CLASS_CAPACITY], uint8_t class)
{
    dft_size_class_text(label, class);
    label[strcspn(label, "-")] = 0;
}

static void put_sizes(struct dft_figure *figure, const struct dft_histogram *histogram, const uint8_t *used,
                      unsigned count, const struct dft_totals *all)
{
    static const struct dft_svg_legend legends[] = {{"calls", "by calls"}, {"time", "by time"}};
    struct dft_svg *svg = &figure->svg;
    struct dft_scale y;
    char text[256], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    double width;

    dft_figure_begin(figure, "Access sizes");
    y = (struct dft_scale){100, svg->bottom, svg->top, DFT_SVG_PERCENT};
    width = (svg->right - svg->left) / count;
    snprintf(text, sizeof text, "%s calls asked for bytes, in %s. A size is from the number below its bars on.",
             dft_text_count(a, all->count), dft_text_ns(b, all->time_ns));
    dft_svg_sentence(svg, text);
    dft_svg_legends(svg, legends, 2);
    dft_svg_y_axis(svg, &y, "share");
    for (unsigned i = 0; i < count; i++) {
        const struct dft_totals *size = &histogram->sizes[used[i]];
        double x = svg->left + width * i;
        char label[DFT_SIZE_CLASS_CAPACITY], attributes[96];

        size_label(label, used[i]);
        snprintf(attributes, sizeof attributes, " data-size=\"%s\" data-count=\"%llu\"", label,
                 (unsigned long long)size->count);
        put_share(figure, "calls", x + width * 0.1, width * 0.38, size->count, all->count, &y, attributes);
        snprintf(attributes, sizeof attributes, " data-size=\"%s\" data-time-ns=\"%llu\"", label,
                 (unsigned long long)size->time_ns);
        put_share(figure, "time", x + width * 0.52, width * 0.38, size->time_ns, all->time_ns, &y, attributes);
        dft_svg_text(svg, x + width / 2, svg->bottom + 17, "number", "middle", label);
    }
    fprintf(figure->out, "<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", svg->left,
            svg->bottom, svg->right, svg->bottom);
    dft_svg_text(svg, (svg->left + svg->right) / 2, svg->bottom + 33, "label", "middle", "bytes asked for");
    dft_figure_end(figure);
}

int dft_figure_sizes(struct dft_figure *figure)
{
    uint8_t used[DFT_SIZE_CLASSES];
    struct dft_histogram histogram;
    struct dft_totals all;
    struct dft_group group;
    unsigned count = 0;
    int rc = ask(figure, &group, &histogram);

    if (!rc)
        count = used_sizes(&histogram, used, &all);
    if (!rc && !count)
        rc = DFT_FIGURE_EMPTY;
    if (!rc)
        put_sizes(figure, &histogram, used, count, &all);
    return rc;
}

/* --- latency ---------------------------------------------------------------------------------- */

/* Octaves [first, last] have durations. */
struct octaves {
    unsigned first, last;
    uint64_t most;
};

static struct octaves used_octaves(const struct dft_histogram *histogram)
{
    struct octaves used = {DFT_OCTAVES, 0, 0};

    for (unsigned k = 0; k < DFT_OCTAVES; k++)
        if (histogram->octaves[k]) {
            used.first = used.first < k ? used.first : k;
            used.last = k;
            used.most = histogram->octaves[k] > used.most ? histogram->octaves[k] : used.most;
        }
    return used;
}

static double octave_width(const struct dft_svg *svg, const struct octaves *used)
{
    return (svg->right - svg->left) / (used->last - used->first + 1);
}

static void put_octaves(struct dft_figure *figure, const struct dft_histogram *histogram, const struct octaves *used,
                        const struct dft_scale *y)
{
    struct dft_svg *svg = &figure->svg;
    double width = octave_width(svg, used);
    unsigned each = (unsigned)(64 / width) + 1;

    for (unsigned k = used->first; k <= used->last; k++) {
        double x = svg->left + width * (k - used->first), top = dft_scale_at(y, (double)histogram->octaves[k]);
        char label[DFT_TEXT_ROOM], count[DFT_TEXT_ROOM], attributes[96];
        uint64_t from = k ? UINT64_C(1) << k : 0;

        dft_text_ns(label, from);
        if (!((k - used->first) % each))
            dft_svg_text(svg, x, svg->bottom + 17, "number", "middle", label);
        snprintf(attributes, sizeof attributes, " data-from-ns=\"%llu\" data-count=\"%llu\"", (unsigned long long)from,
                 (unsigned long long)histogram->octaves[k]);
        dft_svg_bar(svg, "calls", x + 0.5, top, width - 1, y->from - top, attributes);
        fprintf(figure->out, "%s calls from %s on", dft_text_count(count, histogram->octaves[k]), label);
        dft_svg_bar_end(svg);
    }
}

static void put_percentile(struct dft_figure *figure, const struct octaves *used, const char *name, uint64_t ns,
                           unsigned line)
{
    struct dft_svg *svg = &figure->svg;
    double x = svg->left + octave_width(svg, used) * (log2(ns > 1 ? (double)ns : 1) - used->first);
    char text[DFT_TEXT_ROOM + 8], number[DFT_TEXT_ROOM];

    if (ns == DFT_PERCENTILE_UNKNOWN)
        return;
    snprintf(text, sizeof text, "%s %s", name, dft_text_ns(number, ns));
    fprintf(figure->out, "<line class=\"mark\" data-%s-ns=\"%llu\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
            name, (unsigned long long)ns, x, svg->top + 14 * line, x, svg->bottom);
    dft_svg_text(svg, x > svg->right - 80 ? x - 4 : x + 4, svg->top + 14 * line + 10, "over",
                 x > svg->right - 80 ? "end" : "start", text);
}

static void put_latency(struct dft_figure *figure, const struct dft_group *group, const struct dft_histogram *histogram)
{
    struct octaves used = used_octaves(histogram);
    struct dft_svg *svg = &figure->svg;
    struct dft_scale y;
    char text[256], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    uint64_t missing = group->metrics.samples - histogram->counted;

    dft_figure_begin(figure, "Latency of calls");
    y = (struct dft_scale){used.most, svg->bottom, svg->top, DFT_SVG_COUNT};
    snprintf(text, sizeof text, "%s calls took %s.%s%s", dft_text_count(a, group->metrics.count),
             dft_text_ns(b, group->metrics.dur_sum), missing ? " Durations in no histogram: " : "",
             missing ? dft_text_count(c, missing) : "");
    dft_svg_sentence(svg, text);
    dft_svg_y_axis(svg, &y, "durations");
    put_octaves(figure, histogram, &used, &y);
    put_percentile(figure, &used, "p50", group->p50, 0);
    put_percentile(figure, &used, "p95", group->p95, 1);
    put_percentile(figure, &used, "p99", group->p99, 2);
    fprintf(figure->out, "<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", svg->left,
            svg->bottom, svg->right, svg->bottom);
    dft_svg_text(svg, (svg->left + svg->right) / 2, svg->bottom + 33, "label", "middle",
                 "how long a call took, by powers of two");
    dft_figure_end(figure);
}

int dft_figure_latency(struct dft_figure *figure)
{
    struct dft_histogram histogram;
    struct dft_group group;
    int rc = ask(figure, &group, &histogram);

    if (!rc && !histogram.counted)
        rc = DFT_FIGURE_EMPTY;
    if (!rc)
        put_latency(figure, &group, &histogram);
    return rc;
}
