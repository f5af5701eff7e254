/* SPDX-License-Identifier: MIT */
/* The ranks of dftmerge-mpi, as the commands see them. dftmerge is the same program with one rank.
 * The linker chooses comm_one.c for dftmerge and comm_mpi*.c for dftmerge-mpi.
 *
 * All ranks run the same command with the same arguments and hold the same source (source.h). While
 * a source is opened, the ranks exchange its files, blocks, processes and notes. Coverage, filters
 * and most decisions are therefore the same on every rank. The ranks differ only in the blocks that
 * they read. Counts, notes and errors come from blocks. The ranks must exchange them before a
 * decision depends on them. Rank 0 holds the answer, and rank 0 alone prints.
 *
 * Every function here is collective, unless its comment says otherwise: all ranks call it, in the
 * same order. A rank may end or call something else instead, for lack of memory, say. All ranks
 * then end with a message and exit code 1. No rank waits for ever. */
#ifndef DFT_COMM_H
#define DFT_COMM_H

#include <stddef.h>
#include <stdint.h>

unsigned dft_comm_rank(void); /* 0 to size - 1; not collective */
unsigned dft_comm_size(void); /* not collective */

/* Returns the same number on all ranks: the lowest result when one is negative, else the
 * highest. */
int dft_comm_agree(int result);

/* Replaces every number by its sum over all ranks. */
void dft_comm_sum(uint64_t *numbers, size_t count);

/* Copies rank 0's bytes to all ranks. */
void dft_comm_broadcast(void *bytes, size_t length);

/* Gives the bytes of every rank, the caller's own too, to every rank, in the order of ranks. `take`
 * returns 0 or -errno. The function returns the first error, on which all ranks agree. */
typedef int dft_comm_take_fn(void *context, unsigned rank, const void *bytes, size_t length);
int dft_comm_exchange(const void *bytes, size_t length, dft_comm_take_fn *take, void *context);

/* Does the same, but gives the bytes to rank 0 alone. */
int dft_comm_gather(const void *bytes, size_t length, dft_comm_take_fn *take, void *context);

/* Merges what the ranks hold along a tree. At the end rank 0 holds everything. `pack` gives a
 * rank's part as bytes from malloc; the rank holds nothing afterwards. `take` merges the part of
 * another rank into the rank's own. Returns a result that all ranks agree on: 0, or what a callback
 * returned. */
typedef int dft_comm_pack_fn(void *context, void **bytes, size_t *length);
int dft_comm_reduce(dft_comm_pack_fn *pack, dft_comm_take_fn *take, void *context);

/* Single queries of rank 0, which the other ranks answer. The other ranks stay in dft_comm_serve
 * until rank 0 calls dft_comm_served. Any thread of rank 0 may call dft_comm_ask, which expects an
 * answer of `length` bytes. dft_comm_ask returns 0, or -EIO when there was no such answer. */
typedef int dft_comm_answer_fn(void *context, const void *question, size_t length, const void **answer,
                               size_t *answer_length);
void dft_comm_serve(dft_comm_answer_fn *give, void *context);
int dft_comm_ask(unsigned rank, const void *question, size_t question_length, void *answer, size_t length);
void dft_comm_served(void);

/* Leaves the rest of this command to rank 0. Rank 0 gets 1 and goes on as if it were the only rank.
 * The other ranks get 0 and return at once. `command`: its name, for the message on standard
 * error. */
int dft_comm_alone(const char *command, int quiet);

/* Runs the program on all ranks; main calls nothing else. */
int dft_comm_main(int argc, char **argv, int (*run)(int argc, char **argv));

#endif
