/* SPDX-License-Identifier: MIT */
/* Names: 64-bit id -> text. Any number of threads may fill and read the table at once.
 *
 * The table is a lock-free hash table (liburcu's rculfhash). Names are never removed, and texts are
 * freed only with the table. A text changes only when another block claims a different text for its
 * id. Causes are a collision, or a forged file. The smaller text by bytes then wins, so that the
 * order of threads does not matter. Threads that use a table must be registered (dft_names_enter,
 * dft_names_leave). The worker threads of a source are registered, and so is the thread that opened
 * the source. */
#ifndef DFT_NAMES_H
#define DFT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "format/text.h"

struct dft_names;

/* The name of a function as people read it, in `buffer` or for the program's life. NULL: the text
 * names no function. */
typedef const char *dft_names_show_fn(const char *text, size_t length, char *buffer, size_t size);

/* show: dft_names_call shows functions by this (NULL: no text is a call). NULL: no memory. */
struct dft_names *dft_names_create(dft_names_show_fn *show);
void dft_names_destroy(struct dft_names *names); /* NULL: does nothing */

/* Memory of all texts together. */
uint64_t dft_names_bytes(const struct dft_names *names);

/* Lends `texts` to `names`: lookups of ids without a text in `names` then also search `texts`.
 * NULL: ends the loan. Returns what was lent before. No other thread may look for texts
 * meanwhile. */
struct dft_names *dft_names_lend(struct dft_names *names, struct dft_names *texts);

void dft_names_enter(void);
void dft_names_leave(void);

/* Adds a copy of a text. Returns 0 or -ENOMEM. *added (may be NULL): the id had no text before. */
int dft_names_add(struct dft_names *names, uint64_t id, const char *bytes, uint32_t length, int *added);

/* Gives every id with its text, in no order, until `emit` returns something other than 0. Returns
 * that result. No other thread may add texts meanwhile. */
int dft_names_each(const struct dft_names *names, int (*emit)(void *context, uint64_t id, struct dft_text text),
                   void *context);

/* The text of an id; 0 bytes and NULL for an unknown id. */
struct dft_text dft_names_text(const struct dft_names *names, uint64_t id);

/* The text for people. For an unknown id, that is "#" and the id in 16 hex digits, put into `text`
 * (18 bytes). */
struct dft_text dft_names_show(const struct dft_names *names, uint64_t id, char text[18]);

/* Category and name of a call, region or argument key ("category NUL name"). A text without NUL has
 * an empty category. An unknown id has the name that dft_names_show gives. */
void dft_names_call(const struct dft_names *names, uint64_t id, struct dft_text *category, struct dft_text *name,
                    char text[18]);

#endif
