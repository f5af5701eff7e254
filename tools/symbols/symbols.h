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

/* "/path/of/source.c:123" of an address as above. Returns a text that lives as long as the program,
 * or NULL: not known, or built without libdw. Any thread. */
const char *dft_symbols_line(const char *path, uint64_t build_id, uint64_t address);

/* Takes "/path[build id]+0xaddress" apart. Returns 0: it is no such text. */
int dft_symbols_place(const char *text, size_t length, char path[1024], uint64_t *build_id, uint64_t *address);

/* A function's name as people read it. Of "/path[build id]+0xaddress", as preload/function.c names
 * functions, it is the function's name, or "module+0xaddress"; of a C++ name (_Z...) the demangled
 * one, or itself where it cannot be read. In `room` or for the program's life; NULL: the text is
 * neither. */
const char *dft_symbols_show(const char *text, size_t length, char *capacity, size_t capacity_bytes);

#endif
