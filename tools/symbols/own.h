/* SPDX-License-Identifier: MIT */
/* Whose is code: the program's own, or of the system and of what is installed? Decided by names, so that traces of
 * other machines are answered alike. */
#ifndef DFT_OWN_H
#define DFT_OWN_H

/* A module by its path: libraries of the system and of Python's packages are not. */
int dft_own_module(const char *path);
/* Is a module a library? */
int dft_own_is_library(const char *path);
/* A source file: headers of the system, of compilers and of the C++ library are not. */
int dft_own_source(const char *file);
/* A function by its mangled name: those of the C++ library are not, wherever they were compiled. */
int dft_own_function(const char *name);

#endif
