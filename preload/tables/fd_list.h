/* SPDX-License-Identifier: MIT */
/* All open descriptors, as /proc lists them. */
#ifndef DFT_FD_LIST_H
#define DFT_FD_LIST_H

/* Calls `each` for every number, but for that of the list, with a descriptor of the list in which `name` is the
 * link to the number's file, until it returns 0. Nobody is called without /proc. Any thread. */
void dft_fd_list(int (*each)(int list, const char *name, int number));

#endif
