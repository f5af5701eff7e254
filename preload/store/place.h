/* SPDX-License-Identifier: MIT */
/* Directories that settings name for files of a run (DFTRACER_STAGE_DIR, DFTRACER_LIVE_DIR). Constructor
 * only. */
#ifndef DFT_PLACE_H
#define DFT_PLACE_H

#define DFT_PLACE_ROOM 3584u /* leaves room for a name in paths of 4,096 bytes */

/* Writes the absolute path of the directory, with a slash at its end. Returns 0, or -ENAMETOOLONG. */
int dft_place_find(char place[DFT_PLACE_ROOM], const char *directory);
/* Looks at each directory of the path. `makes`: makes what is missing, for the user alone. Returns 0 or
 * -errno. *distrust: why others might replace its files, or NULL. `place` is unchanged on return. */
int dft_place_enter(char place[DFT_PLACE_ROOM], int makes, const char **distrust);
/* Writes the path of a directory without links, with a slash at its end. Returns 0 or -errno: without /proc
 * nobody tells it. */
int dft_place_real(char real[DFT_PLACE_ROOM], const char *place);
/* Notes that the setting of this name has no effect. */
void dft_place_doubt(char *const *environment, const char *name, const char *why);

/* Reads DFTRACER_LIVE_DIR, after dft_tracename_init. */
void dft_place_init(char *const *environment);

#endif
