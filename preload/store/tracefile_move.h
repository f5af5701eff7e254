/* SPDX-License-Identifier: MIT */
/* The trace moves: to another name, out of the stage, or back under a name that was removed. */
#ifndef DFT_TRACEFILE_MOVE_H
#define DFT_TRACEFILE_MOVE_H

/* Creates the file of the current key, and missing directories: in the stage, else where it belongs.
 * Signals blocked. Returns 0 or -errno. */
int dft_tracefile_create(void);
/* Call after dft_config.log_file has changed. The new name holds from now on; a file that exists
 * already is moved. Signals blocked. Returns 0, or -errno when the file stays where it is. */
int dft_tracefile_move(void);
/* The absolute directory in which files are made from now on; "": where they belong. It stays valid,
 * and leaves room for a name. Constructor only. */
void dft_tracefile_stage(const char *directory);
/* Atomic: does the file lie in the stage? */
int dft_tracefile_is_staged(void);
/* Moves a staged file to where it belongs, and goes on there. Harmless for other files. No instant is
 * without a whole file. Signals blocked. Returns 0, or -errno when the file stays in the stage. */
int dft_tracefile_unstage(void);
/* The program, or somebody else, has removed the name of the file. The file comes back under this name, with
 * all that was written, and the trace tells of the removal. Harmless for other files. Signals blocked. */
void dft_tracefile_restore(void);
/* The path where a staged file belongs. */
const char *dft_tracefile_target(void);

/* Gives up the descriptor of a copy that the parent makes, as dft_tracefile_forget. */
void dft_tracefile_forget_copy(void);
/* Makes the name, in the stage or not. */
void dft_tracefile_make_path(void);
/* The stage is full. Leaves it, once: after a failure each write would copy the file. Returns whether
 * the file lies elsewhere now. */
int dft_tracefile_leave_stage(void);

#endif
