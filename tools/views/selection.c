/* SPDX-License-Identifier: MIT */
/* Owns how the values of a rule are read and tested: as the options of a filter are. */
#include "views/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "views/filter_paths.h"

int dft_selection_add(struct dft_selection *selection, unsigned key, const char *value, char why[DFT_FILTER_WHY])
{
    static const enum dft_filter_option options[DFT_SELECTION_KEYS] = {
        [DFT_SELECT_CAT] = DFT_FILTER_CAT,     [DFT_SELECT_NAME] = DFT_FILTER_NAME,
        [DFT_SELECT_PATH] = DFT_FILTER_FILE,   [DFT_SELECT_REGION] = DFT_FILTER_REGION,
        [DFT_SELECT_CLASS] = DFT_FILTER_CLASS,
    };
    char *text = strdup(value);

    if (!text || DFT_ARRAY_PUSH(selection->texts, selection->texts_capacity, selection->ntexts, text)) {
        free(text);
        return -ENOMEM;
    }
    return dft_filter_read(&selection->by[key], options[key], text, why);
}

void dft_selection_fini(struct dft_selection *selection)
{
    for (int key = 0; key < DFT_SELECTION_KEYS; key++) {
        free(selection->by[key].ranges);
        free(selection->by[key].patterns);
    }
    while (selection->ntexts)
        free(selection->texts[--selection->ntexts]);
    free(selection->texts);
    dft_filter_paths_fini(&selection->paths);
    *selection = (struct dft_selection){0};
}

int dft_selection_begin(struct dft_selection *selection, const struct dft_source *source)
{
    const struct dft_filter_values *path = &selection->by[DFT_SELECT_PATH];

    return dft_filter_paths_make(&selection->paths, source, path->patterns, path->count, "");
}

int dft_selection_text_fits(const struct dft_selection *selection, enum dft_selection_key key, struct dft_text text,
                            int flags)
{
    const struct dft_filter_values *values = &selection->by[key];

    if (!values->count)
        return 1;
    if (key == DFT_SELECT_PATH)
        return dft_patterns_fit(selection->paths.list, selection->paths.count, text, flags);
    return dft_patterns_fit(values->patterns, values->count, text, flags);
}

int dft_selection_call_fits(const struct dft_selection *selection, struct dft_text category, struct dft_text name,
                            uint8_t io, int flags)
{
    return dft_filter_word_passes(&selection->by[DFT_SELECT_CLASS], io) &&
           dft_selection_text_fits(selection, DFT_SELECT_CAT, category, flags) &&
           dft_selection_text_fits(selection, DFT_SELECT_NAME, name, flags);
}
