/* SPDX-License-Identifier: MIT */
/* Names of functions, and source lines: from the symbols of programs and libraries, or of their
 * separate debug files, that lie on this machine. */
#ifndef DFT_SYMBOLS_H
#define DFT_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* The function at `address`, as the file's symbols have addresses. build_id: the first 8 bytes of
 * it, big-endian; a file that has another one is not the one that ran, and not believed; 0: none
 * is known. Returns a name that lives as long as the program, demangled where libstdc++ can be
 * had, or NULL: not known. *offset: of the address in the function; may be NULL. Any thread. */
const char *dft_symbols_find(const char *path, uint64_t build_id, uint64_t address, uint64_t *offset);

/* What is called at an address. */
struct dft_symbols_frame {
    const char *function; /* as above; NULL: not known */
    const char *line;     /* "/path/of/source.c:123", or NULL: not known, or built without libdw */
    int own;              /* is it the program's own code? (own.h) */
};

/* The functions at an address as above: from the innermost that the compiler put in line out to the one that has a
 * symbol. The array lives as long as the program. Returns how many there are; 0: no memory, or built without libdw.
 * Any thread. */
unsigned dft_symbols_frames(const char *path, uint64_t build_id, uint64_t address,
                            const struct dft_symbols_frame **frames);

/* The line of the innermost of them that is the program's own, else of the innermost. */
const char *dft_symbols_line(const char *path, uint64_t build_id, uint64_t address);

/* Takes "/path[build id]+0xaddress" apart. Returns 0: it is no such text. */
int dft_symbols_place(const char *text, size_t length, char path[1024], uint64_t *build_id, uint64_t *address);

/* A function's name as people read it. For "/path[build id]+0xaddress", as preload/regions/function.c names functions,
 * it is the function's name, or "module+0xaddress"; for a C++ name (_Z...) the demangled one, or itself where it cannot
 * be read. In `buffer` or for the program's life; NULL: the text is neither. */
const char *dft_symbols_show(const char *text, size_t length, char *buffer, size_t size);

#endif
