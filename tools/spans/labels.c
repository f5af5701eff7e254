/* SPDX-License-Identifier: MIT */
/* Names and colours in pictures of spans. */
#include "spans/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/write_cut.h"
#include "base/write_text.h"

const char *const dft_spans_colours[DFT_SPANS_COLOURS] = {"#0072b2", "#e69f00", "#009e73", "#56b4e9",
                                                          "#d55e00", "#cc79a7", "#f0e442", "#999999"};

char *dft_spans_label(const char *name, size_t columns)
{
    char *text = dft_text_escaped(name, strlen(name)), *cut;

    if (!text)
        return NULL;
    cut = dft_text_fit(text, columns, 0);
    free(text);
    return cut;
}
