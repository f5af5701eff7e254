/* SPDX-License-Identifier: MIT */
/* Writes SVG. Colours are those of Okabe and Ito (Color Universal Design, 2008), which people with
 * any colour vision distinguish. */
#include "base/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"

#define LEAST  300u
#define MOST   10000u
#define LEFT   84
#define RIGHT  24
#define TOP    (DFT_SVG_LEGEND + 5)
#define BOTTOM 66
#define LETTER 6.6 /* pixels of a letter of 12, about */

int dft_svg_pixels(const char *command, const char *option, const char *text, unsigned usual, unsigned *pixels)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : (long)usual;

    *pixels = (unsigned)n;
    if (!text || (!*end && *text && n >= (long)LEAST && n <= (long)MOST))
        return 0;
    fprintf(stderr, "dftmerge %s: --%s %s: not a number of pixels from %u to %u\n", command, option, text, LEAST, MOST);
    return -EINVAL;
}

void dft_svg_escape(FILE *out, const char *bytes, size_t length)
{
    char *text = dft_text_escaped(bytes, length);

    for (const char *at = text; at && *at; at++) {
        if (*at == '&')
            fputs("&amp;", out);
        else if (*at == '<')
            fputs("&lt;", out);
        else if (*at == '>')
            fputs("&gt;", out);
        else if (*at == '"')
            fputs("&quot;", out);
        else if (!strncmp(at, "\xef\xbf\xbe", 3) || !strncmp(at, "\xef\xbf\xbf", 3)) /* in no XML */
            fputs("\\uFFF", out), putc("EF"[at[2] == '\xbf'], out), at += 2;
        else
            putc(*at, out);
    }
    free(text);
}

void dft_svg_text(struct dft_svg *svg, double x, double y, const char *class, const char *anchor, const char *text)
{
    fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, class, anchor);
    dft_svg_escape(svg->out, text, strlen(text));
    fputs("</text>\n", svg->out);
}

/* As much of the title as the picture has room for. */
static void put_title(struct dft_svg *svg, const char *title)
{
    size_t fit = (size_t)((svg->width - 24) / (LETTER * 15 / 12)), letters = 0, cut = 0;
    char *text;

    for (size_t i = 0; title[i]; i++) {
        int begins = ((unsigned char)title[i] & 0xc0) != 0x80;

        if (begins && letters + 3 == fit)
            cut = i;
        letters += (size_t)begins;
    }
    if (letters <= fit || asprintf(&text, "%.*s...", (int)cut, title) < 0) {
        dft_svg_text(svg, 12, 24, "title", "start", title);
        return;
    }
    dft_svg_text(svg, 12, 24, "title", "start", text);
    free(text);
}

void dft_svg_begin(struct dft_svg *svg, FILE *out, unsigned width, unsigned height, const char *title)
{
    *svg = (struct dft_svg){out, width, height, LEFT, width - RIGHT, TOP, height - BOTTOM};
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n<title>",
            width, height, width, height);
    dft_svg_escape(out, title, strlen(title));
    fputs("</title>\n<style>text{font:12px sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}"
          ".small{font-size:10px;fill:#555}.axis{stroke:#444}.across{stroke:#ddd}.inside{fill:#fff}"
          ".over{paint-order:stroke;stroke:#fff;stroke-width:3px}.mark{stroke:#222;stroke-dasharray:4 3}"
          ".read,.calls{fill:#0072b2}.write,.time{fill:#e69f00}.union,.compute{fill:#009e73}"
          ".hidden{fill:#56b4e9}.exposed{fill:#d55e00}.idle{fill:#ddd}.cells{shape-rendering:crispEdges}",
          out);
    fprintf(out, "</style>\n<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", width, height);
    put_title(svg, title);
}

void dft_svg_end(struct dft_svg *svg)
{
    fputs("</svg>\n", svg->out);
}

/* In as many lines as it needs, each as wide as the picture. Returns how many. */
static void put_lines(struct dft_svg *svg, double y, const char *text)
{
    size_t fit = (size_t)((svg->width - 24) / (LETTER * 10 / 12));

    for (unsigned line = 0; *text && line < 2; line++) {
        size_t length = strlen(text), cut = length;
        char part[1024];

        if (length > fit)
            for (cut = fit; cut && text[cut] != ' ';)
                cut--;
        if (!cut || cut >= sizeof part)
            cut = length < sizeof part ? length : sizeof part - 1;
        memcpy(part, text, cut);
        part[cut] = 0;
        dft_svg_text(svg, 12, y + 13 * line, "small", "start", part);
        text += cut + (text[cut] == ' ');
    }
}

void dft_svg_sentence(struct dft_svg *svg, const char *text)
{
    put_lines(svg, 41, text);
}

void dft_svg_foot(struct dft_svg *svg, const char *text)
{
    put_lines(svg, svg->height - 19.0, text);
}

double dft_scale_at(const struct dft_scale *scale, double value)
{
    return scale->from + (scale->to - scale->from) * value / (double)scale->most;
}

uint64_t dft_scale_step(uint64_t most, unsigned steps, enum dft_svg_unit unit)
{
    static const uint64_t digits[] = {1, 2, 5};

    if (unit == DFT_SVG_BYTES_S) {
        uint64_t step = 1;

        while (step < UINT64_MAX / 2 && most / step > steps)
            step *= 2;
        return step;
    }
    for (uint64_t tens = 1; tens < UINT64_MAX / 100; tens *= 10)
        for (unsigned i = 0; i < 3; i++)
            if (most / (tens * digits[i]) <= steps)
                return tens * digits[i];
    return most;
}

const char *dft_svg_number(char *text, enum dft_svg_unit unit, uint64_t value)
{
    char number[DFT_TEXT_ROOM];

    if (!value)
        snprintf(text, DFT_TEXT_ROOM + 8, "0");
    else if (unit == DFT_SVG_NS)
        dft_text_ns(text, value);
    else if (unit == DFT_SVG_BYTES_S)
        snprintf(text, DFT_TEXT_ROOM + 8, "%s/s", dft_text_bytes(number, value));
    else if (unit == DFT_SVG_PERCENT)
        snprintf(text, DFT_TEXT_ROOM + 8, "%llu %%", (unsigned long long)value);
    else
        dft_text_count(text, value);
    return text;
}

static void put_line(struct dft_svg *svg, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(svg->out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2);
}

void dft_svg_x_axis(struct dft_svg *svg, const struct dft_scale *scale, const char *label)
{
    uint64_t step = dft_scale_step(scale->most, (unsigned)((svg->right - svg->left) / 80), scale->unit);
    char number[DFT_TEXT_ROOM + 8];

    put_line(svg, "axis", svg->left, svg->bottom, svg->right, svg->bottom);
    for (uint64_t value = 0; value <= scale->most; value += step) {
        double x = dft_scale_at(scale, (double)value);

        put_line(svg, "axis", x, svg->bottom, x, svg->bottom + 4);
        dft_svg_text(svg, x, svg->bottom + 17, "number", "middle", dft_svg_number(number, scale->unit, value));
        if (value > UINT64_MAX - step)
            break;
    }
    dft_svg_text(svg, (svg->left + svg->right) / 2, svg->bottom + 33, "label", "middle", label);
}

void dft_svg_y_axis(struct dft_svg *svg, const struct dft_scale *scale, const char *label)
{
    double height = scale->from > scale->to ? scale->from - scale->to : scale->to - scale->from;
    uint64_t step = dft_scale_step(scale->most, height < 80 ? 2 : (unsigned)(height / 30), scale->unit);
    uint64_t last = scale->most - (scale->is_rows != 0);
    char number[DFT_TEXT_ROOM + 8];

    for (uint64_t value = 0; value <= last; value += step) {
        double y = dft_scale_at(scale, (double)value + (scale->is_rows ? 0.5 : 0));

        put_line(svg, "across", svg->left, y, svg->right, y);
        dft_svg_text(svg, svg->left - 6, y + 4, "number", "end", dft_svg_number(number, scale->unit, value));
        if (value > UINT64_MAX - step)
            break;
    }
    put_line(svg, "axis", svg->left, scale->from, svg->left, scale->to);
    dft_svg_text(svg, svg->left, (scale->from < scale->to ? scale->from : scale->to) - 5, "label", "start", label);
}

void dft_svg_bar(struct dft_svg *svg, const char *class, double x, double y, double width, double height,
                 const char *attributes)
{
    fprintf(svg->out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"%s><title>", class, x, y,
            width, height, attributes);
}

void dft_svg_bar_end(struct dft_svg *svg)
{
    fputs("</title></rect>\n", svg->out);
}

void dft_svg_legends(struct dft_svg *svg, const struct dft_svg_legend *legends, unsigned count)
{
    double x = svg->right;

    for (unsigned i = count; i-- > 0;) {
        x -= (double)strlen(legends[i].label) * LETTER;
        dft_svg_text(svg, x, DFT_SVG_LEGEND, "legend", "start", legends[i].label);
        fprintf(svg->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"10\" height=\"10\"/>\n", legends[i].class,
                x - 14, DFT_SVG_LEGEND - 10);
        x -= 28;
    }
}
