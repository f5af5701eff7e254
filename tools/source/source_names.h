/* SPDX-License-Identifier: MIT */
/* Texts of names (id -> text), fetched from blocks when they are asked for; see names.h. */
#ifndef DFT_SOURCE_NAMES_H
#define DFT_SOURCE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "source/source_object.h"

/* Fetches the texts of all names (wanted == NULL), or of `count` ids; those already there cost nothing. Stops reading
 * when all wanted ones were found. Returns 0 or -ENOMEM; names whose text is nowhere stay unknown. */
int dft_source_names(struct dft_source *source, const uint64_t *wanted, size_t count);
/* The same into a table of the caller's, for texts that are not to stay: those that the source's table has not. */
int dft_source_names_into(struct dft_source *source, struct dft_names *names, const uint64_t *wanted, size_t count);
/* Gives the names of all blocks (with many ranks: of this rank's share, or all) and keeps none; from several threads at once, and one
 * again wherever it stands. `give` returns 0 or what ends it, which is returned; texts are valid while it runs. */
int dft_source_names_each(struct dft_source *source, int (*give)(void *context, uint64_t id, struct dft_text text),
                          void *context);
/* Fetches what BUCKETS and NAMES blocks alone hold: mostly all names of calls and regions, for a fraction of the work.
 * */
int dft_source_names_of_rows(struct dft_source *source);
/* May a block hold names? Copies hold nothing new; a block whose range was seen in another one may. */
int dft_block_has_names(const struct dft_block *block);
/* Before all events are gone through: has all names looked for. Texts are kept up to a bound (those of calls and regions beyond it,
 * too), of the others it is known where they stand (24 to 48 bytes each); dft_source_ordered and dft_source_unordered fetch these again
 * for the events that they give, and forget them behind these. Returns 0 or -ENOMEM. */
int dft_source_names_locate(struct dft_source *source);
/* Is called before texts are forgotten: what holds back events that it was given writes them now. Events of one start are not parted
 * unless these alone have more names than there is room for. */
void dft_source_names_on_return(struct dft_source *source, void (*write)(void *context), void *context);

/* The texts of these names are found until they are returned, also those that are not kept. -E2BIG: there is no room for so
 * many. anyway: whatever room they take. */
int dft_source_names_lend(struct dft_source *source, const uint64_t *wanted, size_t count, int anyway);
void dft_source_names_return(struct dft_source *source);

#endif
