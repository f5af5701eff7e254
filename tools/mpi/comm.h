/* SPDX-License-Identifier: MIT */
/* The ranks of dftmerge-mpi, as the commands see them. dftmerge is the same program with one rank: comm_one.c instead of
 * comm_mpi*.c, chosen by the linker.
 *
 * All ranks run the same command with the same arguments and hold the same source (source.h): files, blocks, processes
 * and notes of opening it are exchanged, so that coverage, filters and most decisions come out alike everywhere. What
 * differs is who reads which block. Whatever follows from blocks (counts, notes, errors) must be exchanged before a
 * decision hangs on it, and the answer is on rank 0, which alone prints.
 *
 * Every function here is collective, but where it says otherwise: all ranks call it, in the same order. A rank that ends or calls something else
 * instead (it had no memory, say) ends all of them, with a message and exit code 1; none waits for ever. */
#ifndef DFT_COMM_H
#define DFT_COMM_H

#include <stddef.h>
#include <stdint.h>

unsigned dft_comm_rank(void); /* 0 ... size - 1; not collective */
unsigned dft_comm_size(void); /* not collective */

/* The same on all ranks: the lowest of their results when one is negative, else the highest. */
int dft_comm_agree(int result);

/* Every number becomes its sum over all ranks. */
void dft_comm_sum(uint64_t *numbers, size_t count);

/* Rank 0's bytes to all. */
void dft_comm_broadcast(void *bytes, size_t length);

/* Gives the bytes of every rank to every rank, in the order of ranks, its own too. `take` returns 0 or -errno; the
 * first error, agreed on, is returned. */
typedef int dft_comm_take_fn(void *context, unsigned rank, const void *bytes, size_t length);
int dft_comm_exchange(const void *bytes, size_t length, dft_comm_take_fn *take, void *context);

/* The same, but only rank 0 gets them. */
int dft_comm_gather(const void *bytes, size_t length, dft_comm_take_fn *take, void *context);

/* Merges what the ranks hold along a tree; rank 0 has it all at last. `pack` gives a rank's part as bytes from malloc;
 * it holds nothing then. `take` merges one in. Returns an agreed result: 0, or what a callback returned. */
typedef int dft_comm_pack_fn(void *context, void **bytes, size_t *length);
int dft_comm_reduce(dft_comm_pack_fn *pack, dft_comm_take_fn *take, void *context);

/* While rank 0 asks single questions, of others that answer them: these are in dft_comm_serve until rank 0 calls
 * dft_comm_served. dft_comm_ask: any thread of rank 0; an answer of `length` bytes is wanted; returns 0 or -EIO: there was
 * none. */
typedef int dft_comm_answer_fn(void *context, const void *question, size_t length, const void **answer,
                               size_t *answer_length);
void dft_comm_serve(dft_comm_answer_fn *give, void *context);
int dft_comm_ask(unsigned rank, const void *question, size_t question_length, void *answer, size_t length);
void dft_comm_served(void);

/* From here on this command is rank 0's alone: it goes on as if there were no others and gets 1; the others get 0 and
 * return at once. `command`: its name, for the word about it on standard error. */
int dft_comm_alone(const char *command, int quiet);

/* What main does: runs the program on all ranks. */
int dft_comm_main(int argc, char **argv, int (*run)(int argc, char **argv));

#endif
