/* SPDX-License-Identifier: MIT */
/* A temporary file without a name, for data that does not fit into memory. */
#ifndef DFT_SPILL_FILE_H
#define DFT_SPILL_FILE_H

#include <stddef.h>
#include <stdint.h>

/* All zero at first: the first append makes the file. One thread at a time. */
struct dft_spill_file {
    int is_open, fd;
    uint64_t end; /* where the next bytes go */
};

/* The directory of temporary files: TMPDIR, else /tmp. */
const char *dft_temporary_directory(void);
/* Makes a file in that directory and removes its name. Returns the descriptor or -errno. */
int dft_temporary_open(void);

/* Both return 0 or -errno. *offset: where the bytes stand. */
int dft_spill_file_append(struct dft_spill_file *file, const void *bytes, size_t length, uint64_t *offset);
int dft_spill_file_read(const struct dft_spill_file *file, void *bytes, size_t length, uint64_t offset);
/* Gives the space on the disk back. The file may be used again. */
void dft_spill_file_close(struct dft_spill_file *file);

#endif
