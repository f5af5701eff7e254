/* SPDX-License-Identifier: MIT */
/* Names: 64-bit id -> text, filled and read by any number of threads at once.
 *
 * A lock-free hash table (liburcu's rculfhash); names are never removed, texts never freed before the table is. A text,
 * once there, only changes when another block claims a different text for the same id (a collision, or a forged file):
 * then the smaller one by bytes wins, so that the outcome does not depend on who came first. Threads that use a table
 * must be registered (dft_names_enter, dft_names_leave); the worker threads of a source are, and so is the thread that
 * opened it. */
#ifndef DFT_NAMES_H
#define DFT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "format/event.h"

struct dft_names;

/* The name of a function as people read it, in `room` or for the program's life; NULL: the text is no function's. */
typedef const char *dft_names_show_fn(const char *text, size_t length, char *room, size_t room_bytes);

/* show: what dft_names_call shows functions by. NULL: no memory. */
struct dft_names *dft_names_create(dft_names_show_fn *show);
void dft_names_destroy(struct dft_names *names); /* NULL: nothing */

/* Memory that the texts take, all told. */
uint64_t dft_names_bytes(const struct dft_names *names);

/* Texts that are found here, too, as long as they are lent: of the ids that `names` has no text for. NULL: none. Returns what was
 * lent before. While no other thread looks for texts. */
struct dft_names *dft_names_lend(struct dft_names *names, struct dft_names *texts);

void dft_names_enter(void);
void dft_names_leave(void);

/* Adds a text (copied). Returns 0 or -ENOMEM. *added (may be NULL): the id had no text before. */
int dft_names_add(struct dft_names *names, uint64_t id, const char *bytes, uint32_t length, int *added);

/* Gives every id with its text, in no order, until `give` returns something else than 0, which is returned. While no
 * other thread adds any. */
int dft_names_each(const struct dft_names *names, int (*give)(void *context, uint64_t id, struct dft_text text),
                   void *context);

/* The text of an id; 0 bytes and NULL when it is not known. */
struct dft_text dft_names_text(const struct dft_names *names, uint64_t id);

/* The text for people: the text, or, when it is not known, "#" and the id in 16 hex digits, put into `room` (18 bytes).
 * */
struct dft_text dft_names_show(const struct dft_names *names, uint64_t id, char room[18]);

/* Category and name of a call, region or argument key ("category NUL name"); of a text without NUL the category is
 * empty. When it is not known the name is as dft_names_show has it. */
void dft_names_call(const struct dft_names *names, uint64_t id, struct dft_text *category, struct dft_text *name,
                    char room[18]);

#endif
