/* SPDX-License-Identifier: MIT */
/* What tells this process from all others. */
#ifndef DFT_IDENTITY_H
#define DFT_IDENTITY_H

#include <stddef.h>

/* The program's path; "" where the path cannot be found. */
const char *dft_process_exe(void);
/* Memory for so many bytes of texts of PROCESS, behind the path. */
#define DFT_PROCESS_TEXTS (16384u + 4096u + 2048u)
char *dft_process_texts(void);

/* Identifies the owner in the head of a live file: the process, where its pid names it, and its
 * trace. dft_process_lock is held. */
struct dft_live;
struct dft_ourfile;
void dft_process_identify(struct dft_live *live, const struct dft_ourfile *file, const struct dft_ourfile *trace);

/* Reads a file of /proc behind this descriptor, which is closed. Returns the length; 0 where it cannot be read. */
size_t dft_process_read_file(long fd, char *text, size_t size);

#endif
