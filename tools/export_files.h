/* Which files do the events that pass a filter refer to? For formats whose dictionaries come first. */
#ifndef DFT_EXPORT_FILES_H
#define DFT_EXPORT_FILES_H

#include "filter.h"
#include "source.h"

/* Gives the name id of every file, ascending by text. Reads all blocks once, in the source's threads; memory in
 * proportion to the number of files. Names must have been fetched. Returns 0 or -ENOMEM. */
int dft_files_visit(struct dft_source *source, const struct dft_filter *filter,
                    void (*give)(void *context, uint64_t id), void *context);

#endif
