/* SPDX-License-Identifier: MIT */
/* Draws states over time as stacked areas. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/write_text.h"
#include "base/svg.h"
#include "spans/labels.h"
#include "spans/states.h"

#define BANDS (DFT_SPANS_COLOURS - 1) /* states of their own; all others are one band */

/* One area: one state, or several. */
struct band {
    const char *name;
    uint64_t states;
};

struct bands {
    struct band all[BANDS + 1];
    size_t count;
    size_t *of;    /* by state */
    double *edges; /* lower edge of the band by interval, as it is drawn */
};

/* The least time of a state that has a band of its own, and how many longer ones there are. */
static int is_shown(const struct dft_spans_states *states, size_t state)
{
    size_t longer = 0;

    for (size_t i = 0; i < states->count; i++)
        longer += states->states[i].ns > states->states[state].ns ||
                  (states->states[i].ns == states->states[state].ns && i < state);
    return longer < BANDS;
}

static int make_bands(const struct dft_spans_states *states, struct bands *bands)
{
    size_t others = states->count < BANDS ? states->count : BANDS;

    *bands = (struct bands){.of = malloc((states->count + 1) * sizeof *bands->of),
                            .edges = calloc(states->intervals.count + 1, sizeof *bands->edges)};
    if (!bands->of || !bands->edges)
        return -ENOMEM;
    for (size_t i = 0; i < states->count; i++) {
        int shown = is_shown(states, i);
        struct band *band = &bands->all[shown ? bands->count : others];

        bands->of[i] = shown ? bands->count++ : others;
        band->name = shown ? states->model->kinds[states->states[i].kind].name : "other states";
        band->states++;
    }
    bands->count = states->count > BANDS ? BANDS + 1 : states->count;
    return 0;
}

static double value_of(const struct dft_spans_states *states, const struct bands *bands, size_t band, size_t i)
{
    double value = 0;

    for (size_t state = 0; state < states->count; state++)
        value += bands->of[state] == band ? states->states[state].means[i] : 0;
    return value;
}

/* The pixel at which an interval begins; at its end that of the next one. */
static double left_of(const struct dft_spans_states *states, const struct dft_scale *x, size_t i)
{
    uint64_t from = i * states->intervals.width;

    return dft_scale_at(x, (double)(from < x->most ? from : x->most));
}

static void put_band(struct dft_svg *svg, const struct dft_spans_states *states, struct bands *bands, size_t band,
                     const struct dft_scale *x, const struct dft_scale *y)
{
    size_t count = states->intervals.count;

    fprintf(svg->out, "<path fill=\"%s\" data-band=\"%zu\" d=\"M%.1f %.1f", dft_spans_colours[band], band,
            left_of(states, x, 0), dft_scale_at(y, bands->edges[0]));
    for (size_t i = 0; i < count; i++) {
        double top = bands->edges[i] + value_of(states, bands, band, i);

        fprintf(svg->out, "V%.2fH%.1f", dft_scale_at(y, top), left_of(states, x, i + 1));
    }
    for (size_t i = count; i-- > 0;) {
        fprintf(svg->out, "V%.2fH%.1f", dft_scale_at(y, bands->edges[i]), left_of(states, x, i));
        bands->edges[i] += value_of(states, bands, band, i);
    }
    fputs("z\"><title>", svg->out);
    dft_svg_escape(svg->out, bands->all[band].name, strlen(bands->all[band].name));
    fputs("</title></path>\n", svg->out);
}

/* The topmost band stands first, as in the picture. */
static int put_legend(struct dft_svg *svg, const struct bands *bands)
{
    size_t letters = (size_t)((svg->width - svg->right - 40) / 6.2);

    for (size_t i = 0; i < bands->count; i++) {
        size_t band = bands->count - 1 - i;
        double y = svg->top + 8 + 18 * (double)i;
        char *text = dft_spans_label(bands->all[band].name, letters > 5 ? letters : 5);

        if (!text)
            return -ENOMEM;
        fprintf(svg->out, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\"/>\n",
                dft_spans_colours[band], svg->right + 14, y - 9);
        dft_svg_text(svg, svg->right + 30, y, "legend", "start", text);
        free(text);
    }
    return 0;
}

static uint64_t most_at_once(const struct dft_spans_states *states)
{
    double most = 1;

    for (size_t i = 0; i < states->intervals.count; i++) {
        double here = 0;

        for (size_t state = 0; state < states->count; state++)
            here += states->states[state].means[i];
        most = here > most ? here : most;
    }
    return dft_uint_of(ceil(most - 1e-9));
}

int dft_spans_states_draw(void *context, FILE *out)
{
    const struct dft_spans_states_picture *picture = context;
    const struct dft_spans_states *states = picture->states;
    const struct dft_spans_asked *asked = picture->asked;
    uint64_t span = (uint64_t)(states->intervals.end - states->intervals.start);
    char text[160], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    struct dft_scale x, y;
    struct bands bands;
    struct dft_svg svg;
    int rc = make_bands(states, &bands);

    dft_svg_begin(&svg, out, asked->width, asked->height, asked->title ? asked->title : picture->title);
    svg.right -= asked->width * 0.4 < 250 ? asked->width * 0.4 : 250;
    x = (struct dft_scale){span ? span : 1, svg.left, svg.right, DFT_SVG_NS};
    y = (struct dft_scale){most_at_once(states), svg.bottom, svg.top, DFT_SVG_COUNT};
    snprintf(text, sizeof text, "%s roots. Means over %s.", dft_text_count(a, states->roots),
             dft_text_ns(b, states->intervals.width));
    dft_svg_sentence(&svg, text);
    dft_svg_y_axis(&svg, &y, "roots");
    for (size_t band = 0; !rc && band < bands.count; band++)
        put_band(&svg, states, &bands, band, &x, &y);
    if (!rc)
        rc = put_legend(&svg, &bands);
    dft_svg_x_axis(&svg, &x, "time since the first event");
    dft_svg_end(&svg);
    free(bands.of);
    free(bands.edges);
    return rc;
}
