/* SPDX-License-Identifier: MIT */
/* The record of when events were kept, for the PROCESS block (format/kept.h). */
#ifndef DFT_STORE_KEPT_H
#define DFT_STORE_KEPT_H

#include "format/kept.h"
#include "format/live_format.h"

/* Notes what is kept from now on. Any thread, signals blocked. Returns 0, or -ENOSPC: the record is
 * full, and the caller had better change nothing any more. */
int dft_kept_note(enum dft_keep keep, enum dft_keep_why why);

/* The process is paused from now on by `why` (CONTROL or PROGRAM), or by nobody any more (SETTINGS). A full record
 * does not take a pause. Signals blocked. */
void dft_kept_pause(enum dft_keep_why why);
/* Does the record say that the process is paused? */
int dft_kept_has_pause(void);

/* Is there room for two more changes? So a change can still be taken back. */
int dft_kept_has_room(void);

/* At the end: PROCESS is to have all of it. */
void dft_kept_tell(void);

/* What PROCESS stores. dft_process_lock is held. */
struct dft_text dft_kept_column(void);

/* What PROCESS of a child that runs in this memory stores: what is kept now. Signals blocked. */
struct dft_text dft_kept_of_child(uint8_t column[DFT_KEPT_PAIR_MAX]);

/* A new live file, which is to have the last pairs; `before`: the one that it replaces, or NULL. */
void dft_kept_place(struct dft_live *live, const struct dft_live *before);

/* In a forked child: the record begins with what is kept now. is_paused: by the program, which the child goes on
 * with. */
void dft_kept_forked(int is_paused);

#endif
