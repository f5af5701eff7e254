/* What is traced: the rules of DFTRACER_DATA_DIR. Read in the constructor; a program that was not preloaded may
 * replace them before it begins (app_init.c). */
#ifndef DFT_TRACED_H
#define DFT_TRACED_H

#include <stddef.h>

void dft_traced_init(void);

/* Is a file with this absolute path to be traced? The most specific entry decides. */
int dft_traced_path(const char *text, size_t length);

/* What the kernel calls a pipe or a socket: "pipe:[12]". */
int dft_traced_link(const char *text, size_t length);

/* Are all of a kind traced: pipes, sockets? enum dft_kind. */
int dft_traced_kind(int kind);

#endif
