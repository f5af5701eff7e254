/* SPDX-License-Identifier: MIT */
/* Decides which process of a job reports a setting, when many processes find the same one. */
#ifndef DFT_FIRST_H
#define DFT_FIRST_H

/* Is this process the first of its tree that finds this setting (NAME=value)? Only rank 0, or a
 * process without a rank, may be the first. A traced parent that was started with the same setting
 * reports it instead. So did an earlier image of this process, where its trace says so. What cannot
 * be found out counts as not reported (no /proc, another user's parent). Call in the constructor
 * and before main, after dft_config_init and dft_tracename_init. */
int dft_first_tells(const char *variable);
/* The same for a setting of which only a part has no effect. `name` is without
 * DFTRACER_. */
int dft_first_tells_of(const char *name, const char *value);

/* Does this process report that its C library is musl? Not where its parent has. Call in the constructor,
 * after dft_config_init. */
int dft_first_tells_musl(void);

/* Does this process report that no trace can be made, or (is_made) be moved to its place? Only the
 * first one of the tree and node does: not where an earlier image of this process has, or a parent
 * with the same settings and rights. Counts as reported from then on. dft_process_lock is held, or
 * the process ends. */
int dft_first_tells_place(int is_made);
/* Has this process, or an earlier image of it, come to that? */
int dft_first_has_reported(void);
/* An earlier image has. Constructor only. */
void dft_first_note_reported(void);

/* Has one of the first two functions been called? Then the PROCESS block is stored uncompressed. */
int dft_first_was_asked(void);

#endif
