/* SPDX-License-Identifier: MIT */
/* Bytes for another rank. The other rank gets them in the order in which they were put. All ranks
 * run the same program on the same kind of machine. Numbers and structures therefore travel as they
 * are. Pointers do not. */
#ifndef DFT_PACK_H
#define DFT_PACK_H

#include <stddef.h>

#include "mpi/comm.h"
#include "format/text.h"

struct dft_pack {
    char *bytes; /* from malloc */
    size_t length, capacity;
    int rc; /* 0 or -ENOMEM; nothing more is put after -ENOMEM */
};

void dft_pack_put(struct dft_pack *pack, const void *bytes, size_t length);
void dft_pack_text(struct dft_pack *pack, struct dft_text text);
/* Packs a C string. NULL stays NULL. */
void dft_pack_string(struct dft_pack *pack, const char *string);

/* Give what each rank has packed to all ranks (dft_comm_exchange) or to rank 0 (dft_comm_gather).
 * Both free the packed bytes. They fail on all ranks when one rank had no memory for its bytes.
 * Collective. */
int dft_pack_exchange(struct dft_pack *pack, dft_comm_take_fn *take, void *context);
int dft_pack_gather(struct dft_pack *pack, dft_comm_take_fn *take, void *context);

struct dft_unpack {
    const char *at, *end;
};

void dft_unpack_get(struct dft_unpack *unpack, void *bytes, size_t length);
struct dft_text dft_unpack_text(struct dft_unpack *unpack);
const char *dft_unpack_string(struct dft_unpack *unpack);

#endif
