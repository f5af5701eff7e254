/* SPDX-License-Identifier: MIT */
/* Bytes for another rank: put one after another, got in the same order. Ranks are the same program on the same kind of
 * machine, so numbers and structures go as they are; pointers do not. */
#ifndef DFT_PACK_H
#define DFT_PACK_H

#include <stddef.h>

#include "mpi/comm.h"
#include "format/event.h"

struct dft_pack {
    char *bytes; /* from malloc */
    size_t length, capacity;
    int rc; /* 0 or -ENOMEM, and nothing more is put */
};

void dft_pack_put(struct dft_pack *pack, const void *bytes, size_t length);
void dft_pack_text(struct dft_pack *pack, struct dft_text text);
/* A C string, or NULL, which stays NULL. */
void dft_pack_string(struct dft_pack *pack, const char *string);

/* What each rank has packed, to all ranks, or to rank 0 (dft_comm_exchange, dft_comm_gather); frees it, and fails everywhere when one had no memory for
 * it. Collective. */
int dft_pack_exchange(struct dft_pack *pack, dft_comm_take_fn *take, void *context);
int dft_pack_gather(struct dft_pack *pack, dft_comm_take_fn *take, void *context);

struct dft_unpack {
    const char *at, *end;
};

void dft_unpack_get(struct dft_unpack *unpack, void *bytes, size_t length);
/* These point into the packed bytes. */
const void *dft_unpack_here(struct dft_unpack *unpack, size_t length);
struct dft_text dft_unpack_text(struct dft_unpack *unpack);
const char *dft_unpack_string(struct dft_unpack *unpack);

#endif
