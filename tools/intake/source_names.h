/* SPDX-License-Identifier: MIT */
/* Texts of names (id -> text), fetched from blocks when a command asks for them; see names.h. */
#ifndef DFT_SOURCE_NAMES_H
#define DFT_SOURCE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "object/object.h"

/* Fetches the texts of all names (wanted == NULL), or of `count` ids. Texts that are there already
 * cost nothing. Stops reading when all wanted texts were found. For the ids, all ranks then know
 * what one of them has made: texts of stacks and source lines. Returns 0 or -ENOMEM. A name without
 * a text in any block stays unknown. */
int dft_source_names(struct dft_source *source, const uint64_t *wanted, size_t count);
/* Fetches into the caller's table the texts that the source's table does not have. Such texts do
 * not stay with the source. */
int dft_source_names_into(struct dft_source *source, struct dft_names *names, const uint64_t *wanted, size_t count);
/* The same, from any thread and by this rank alone, once dft_source_names_locate has been called. */
int dft_source_names_take(struct dft_source *source, struct dft_names *names, const uint64_t *wanted, size_t count);
/* Gives the names of all blocks and keeps none. With several ranks, these are the blocks of this
 * rank's share, or all. Several threads give names at once. A name comes again wherever it stands
 * again. `emit` returns 0 to go on. Any other result stops the function, which returns that result.
 * Texts are valid while `emit` runs. */
int dft_source_names_each(struct dft_source *source, int (*emit)(void *context, uint64_t id, struct dft_text text),
                          void *context);
/* Fetches what only BUCKETS and NAMES blocks hold. These hold mostly all names of calls and
 * regions, for a fraction of the work. */
int dft_source_names_of_rows(struct dft_source *source);
/* May a block hold names? Copies hold nothing new. A block whose range was seen in another block
 * may hold names. */
int dft_block_has_names(const struct dft_block *block);
/* Looks for all names, before all events are gone through. Texts are kept up to a bound. Texts of
 * calls and regions are kept beyond that bound, too. For each other name, 24 to 48 bytes say where
 * its text stands. dft_source_ordered and dft_source_unordered fetch such texts again for the
 * events that they give. They forget these texts after the events. Returns 0 or -ENOMEM. */
int dft_source_names_locate(struct dft_source *source);
/* Sets a function that is called before texts are forgotten. A caller that holds back events writes
 * them there. Events of one start stay together, unless these events alone have more names than
 * there is room for. */
void dft_source_names_on_return(struct dft_source *source, void (*write)(void *context), void *context);

/* Makes the texts of these names available until they are returned, also texts that are not kept.
 * -E2BIG: there is no room for so many texts. anyway: takes whatever room they need. */
int dft_source_names_lend(struct dft_source *source, const uint64_t *wanted, size_t count, int anyway);
void dft_source_names_return(struct dft_source *source);

#endif
