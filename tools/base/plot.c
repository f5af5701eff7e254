/* SPDX-License-Identifier: MIT */
/* Characters of plots. */
#include "base/plot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int dft_plot_is_unicode(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *locale = getenv(variables[i]);

        if (!locale || !*locale)
            continue;
        locale = strchr(locale, '.');
        return locale && (!strncasecmp(locale, ".utf-8", 6) || !strncasecmp(locale, ".utf8", 5));
    }
    return 0;
}

const char *dft_plot_bar(int unicode, unsigned level)
{
    static const char *const bars[2][DFT_PLOT_LEVELS + 1] = {{" ", ".", ":", "-", "=", "+", "*", "#", "@"},
                                                             {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}};

    return bars[unicode != 0][level < DFT_PLOT_LEVELS ? level : DFT_PLOT_LEVELS];
}

const char *dft_plot_shade(int unicode, unsigned shade)
{
    static const char *const shades[2][DFT_PLOT_SHADES + 1] = {{" ", ".", ":", "+", "#", "@"},
                                                               {" ", "·", "░", "▒", "▓", "█"}};

    return shades[unicode != 0][shade < DFT_PLOT_SHADES ? shade : DFT_PLOT_SHADES];
}

unsigned dft_plot_level(uint64_t value, uint64_t max, unsigned levels)
{
    unsigned __int128 level = max ? ((unsigned __int128)value * levels + max - 1) / max : 0;

    return level < levels ? (unsigned)level : levels;
}

const char *dft_plot_cells(char *text, int unicode, uint64_t value, uint64_t max, unsigned cells)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned steps = unicode ? 8 : 1;
    unsigned n = max ? (unsigned)(((unsigned __int128)value * cells * steps + max / 2) / max) : 0, full;
    char *at = text;

    n = n < cells * steps ? n : cells * steps;
    full = n / steps;
    for (unsigned i = 0; i < full; i++)
        at = stpcpy(at, unicode ? "█" : "#");
    if (n % steps)
        at = stpcpy(at, eighths[n % steps]);
    for (unsigned i = full + (n % steps != 0); i < cells; i++)
        at = stpcpy(at, " ");
    *at = 0;
    return text;
}
