/* SPDX-License-Identifier: MIT */
/* What a line of a user's rules selects: "cat=POSIX,STDIO name=!close path=*.h5 class=read region=step".
 *
 * A value is what the option of this name takes (--cat, --name, --class, --region; --file for path=), and selects the
 * same events. It may stand in double quotes, for the sake of blanks. All values of a line must fit. */
#ifndef DFT_SELECTION_H
#define DFT_SELECTION_H

#include "views/filter.h"

enum dft_selection_key {
    DFT_SELECT_CAT,
    DFT_SELECT_NAME,
    DFT_SELECT_PATH,
    DFT_SELECT_REGION,
    DFT_SELECT_CLASS,
    DFT_SELECTION_KEYS
};
/* Their words, for tables of keys that begin with them. */
#define DFT_SELECTION_WORDS "cat", "name", "path", "region", "class"

struct dft_selection {
    struct dft_filter_values by[DFT_SELECTION_KEYS]; /* a count of 0: not specified */
    struct dft_filter_paths paths;                   /* set by dft_selection_begin */
    char **texts;                                    /* that patterns point into */
    size_t ntexts, texts_capacity;
};

/* Adds the value of a key. Returns 0, -EINVAL (`why` says what would make sense) or -ENOMEM. */
int dft_selection_add(struct dft_selection *selection, unsigned key, const char *value, char why[DFT_FILTER_WHY]);
void dft_selection_fini(struct dft_selection *selection);
/* Prepares the paths for a source: relative ones count from the directories of its processes. Returns 0 or -ENOMEM. */
int dft_selection_begin(struct dft_selection *selection, const struct dft_source *source);

static inline int dft_selection_has(const struct dft_selection *selection, enum dft_selection_key key)
{
    return selection->by[key].count != 0;
}
/* Does a text fit the patterns of a key, if it has any? `flags`: of fnmatch. */
int dft_selection_text_fits(const struct dft_selection *selection, enum dft_selection_key key, struct dft_text text,
                            int flags);
/* Does a call fit by its category, name and class? */
int dft_selection_call_fits(const struct dft_selection *selection, struct dft_text category, struct dft_text name,
                            uint8_t io, int flags);

#endif
