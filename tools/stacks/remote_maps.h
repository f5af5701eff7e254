/* SPDX-License-Identifier: MIT */
/* What is mapped in another process: its files, and their tables for unwinding. */
#ifndef DFT_REMOTE_MAPS_H
#define DFT_REMOTE_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DFT_REMOTE_PAGE  4096u
#define DFT_REMOTE_PAGES 64u /* that are remembered */

/* A file. */
struct dft_remote_file {
    char *path;
    uint64_t base;     /* where its first byte lies */
    uint64_t bias;     /* what is added to the file's addresses */
    uint64_t table;    /* .eh_frame_hdr; 0: none */
    uint64_t build_id; /* the first 8 bytes; 0: none */
    int is_read;
};

struct dft_remote_mapping {
    uint64_t from, to;
    size_t file;  /* index */
    int is_fixed; /* nobody writes there */
};

struct dft_remote_maps {
    pid_t pid;
    struct dft_remote_mapping *mappings; /* by address */
    struct dft_remote_file *files;
    size_t nmappings, nfiles;
    struct {
        uint64_t at; /* 0: none */
        char bytes[DFT_REMOTE_PAGE];
    } pages[DFT_REMOTE_PAGES]; /* of files */
};

/* Reads all anew; `maps` has zeros or what an earlier call has left. Returns 0 or -errno; free the
 * maps in either case. */
int dft_remote_maps_read(struct dft_remote_maps *maps, pid_t pid);
void dft_remote_maps_free(struct dft_remote_maps *maps);

/* The file that an address lies in; NULL: none. */
const struct dft_remote_file *dft_remote_maps_find(struct dft_remote_maps *maps, uint64_t address);

/* Reads the process's memory. Nonzero: it cannot be read. */
int dft_remote_maps_load(struct dft_remote_maps *maps, uint64_t from, void *to, size_t bytes);

#endif
