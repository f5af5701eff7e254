/* SPDX-License-Identifier: MIT */
/* The slow parts of calls on descriptors: queries of the kernel, and rare records. */
#ifndef DFT_PROBE_FD_H
#define DFT_PROBE_FD_H

#include <stdio.h>
#include "format/calls.h"
#include "probe/call.h"
#include "thread/state.h"

struct stat;

/* The offset of a description that others may move, or that is not known, before the call. Says in
 * `asked` whether the kernel must be queried again after it. */
int64_t dft_probe_ask_offset(struct dft_probe *probe, enum dft_op op);
int64_t dft_probe_settle_offset(struct dft_probe *probe, int64_t moved, int alone);
/* The same for a call at an offset of its own of which the effective offset is another one. */
void dft_probe_begin_effective(struct dft_probe *probe, enum dft_op op, int64_t offset, int flags);
int64_t dft_probe_end_effective(struct dft_probe *probe, int64_t moved);
/* Takes over an offset that somebody else has set: the kernel's, or that of a seek. Streams that share the
 * description do not move with it. */
void dft_offset_set(struct dft_open *open, int64_t offset);
/* A stream whose place is not known, because others moved the kernel's offset: with an empty buffer
 * it goes on there. */
void dft_stream_find(struct dft_open *open, const FILE *stream);
/* A seek takes a ticket, too. Its end: the kernel's offset was this one, or -1: it failed. */
void dft_seek_end_slow(const struct dft_probe *probe, int64_t offset, int alone);
/* An access on this description moves bytes another way than the last one. Returns DFT_SLOT_TURN, or 0
 * where there is no last one. */
uint32_t dft_access_turn(struct dft_open *open, enum dft_way way);
/* The bits of an access that does not begin where the last one ended, or moves nothing. */
uint32_t dft_access_elsewhere(struct dft_open *open, int64_t offset, int64_t moved);
/* A seek led to the end of the file: a first access there goes on, too. */
void dft_access_from_end(struct dft_open *open, int64_t end);
/* The same of a seek to this offset, if that is the end. */
void dft_access_from(const struct dft_probe *probe, int64_t offset);
/* Where a stream's data call happened; -1: not known. The slow way: the first call on it, shared,
 * lost or appending, or not alone. */
int64_t dft_stream_offset_slow(const FILE *stream, struct dft_open *open, int alone, enum dft_op op, int64_t moved);

/* A descriptor of which nothing is known, or whose name must be sent again: asks the kernel.
 * Returns its word. */
uint64_t dft_probe_resolve(int fd, uint64_t word);
/* The same for a caller to whom the numbers may mean others than in the table: a child in its parent's
 * memory, or a thread with descriptors of its own. 0: of no interest. */
uint64_t dft_probe_resolve_in_child(int fd);
/* Where the word of such a caller's descriptor stands. */
const _Atomic uint64_t *dft_probe_place(int fd);
/* Asks now what the first call on a new description would ask. */
void dft_probe_know_offset(int fd);
/* The program has queried about a new description what the first call would query. */
void dft_probe_learn(struct dft_open *open, const struct stat *status);
/* A call on a number that is not open (EBADF), which began at `start`: recorded without a file
 * where the root directory is traced, since it belongs to no directory. */
void dft_end_not_open(uint64_t start, int fd, enum dft_call_number call, enum dft_op op, uint64_t size, int64_t offset,
                      int flags, mode_t mode, int64_t result);
int dft_dir_fd(void *dir);
uint64_t dft_iov_bytes(const struct iovec *iov, int iovcnt);
/* A data call without a record: where the next one on its description happens is not known. */
void dft_end_unrecorded(struct dft_probe *probe);

#endif
