/* SPDX-License-Identifier: MIT */
/* The terminal while `dftmerge top` has it: keys come one by one, and frames replace each other. */
#ifndef DFT_TOP_SCREEN_H
#define DFT_TOP_SCREEN_H

#include <stddef.h>
#include <stdint.h>

enum dft_top_key {
    DFT_TOP_KEY_NONE = 0, /* the time is over, or the terminal has another size */
    DFT_TOP_KEY_UP = 256,
    DFT_TOP_KEY_DOWN,
    DFT_TOP_KEY_LEFT,
    DFT_TOP_KEY_RIGHT,
    DFT_TOP_KEY_ESCAPE,
    DFT_TOP_KEY_GONE, /* the terminal was closed */
};

/* Are standard input and output a terminal? */
int dft_top_screen_is(void);
/* Takes the terminal. However the program ends, by a signal too, the terminal is as before; a stop by
 * Ctrl-Z gives it back until the program goes on. Returns 0 or -errno. */
int dft_top_screen_begin(void);
void dft_top_screen_end(void);
void dft_top_screen_size(unsigned *width, unsigned *height);
/* Shows a frame: lines, with escape sequences; the first `height` of them. */
void dft_top_screen_show(const char *text, size_t length, unsigned height);
/* The next key, or one of the above. */
int dft_top_screen_key(int timeout_ms);

#endif
