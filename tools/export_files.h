/* Which files do the events that pass a filter refer to? For formats whose dictionaries come first. */
#ifndef DFT_EXPORT_FILES_H
#define DFT_EXPORT_FILES_H

#include "filter.h"
#include "source.h"

/* Gives the name id of every file, and its text: in the order in which the texts first stand in the traces, then, by id, those whose
 * text is nowhere ("#" and the id). Reads all blocks twice; memory is 24 to 48 bytes a file. Returns 0 or -ENOMEM. */
int dft_files_visit(struct dft_source *source, const struct dft_filter *filter,
                    void (*give)(void *context, uint64_t id, struct dft_text text), void *context);

#endif
