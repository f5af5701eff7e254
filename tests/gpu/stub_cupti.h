/* SPDX-License-Identifier: MIT */
/* What the stand-in for libcupti is told. */
#ifndef STUB_CUPTI_H
#define STUB_CUPTI_H

#include <stdint.h>

uint64_t stub_now(void);
void stub_kernel(const char *name, uint64_t start, uint64_t end, unsigned stream);
void stub_copy(int kind, uint64_t bytes, uint64_t start, uint64_t end, unsigned stream);
void stub_peer_copy(uint64_t bytes, uint64_t start, uint64_t end);
void stub_fill(uint64_t bytes, uint64_t start, uint64_t end);
void stub_wait(int type, uint64_t start, uint64_t end, unsigned stream);
void stub_poll(uint64_t start, uint64_t end);
void stub_unknown(void);
void stub_lose(void);

#endif
