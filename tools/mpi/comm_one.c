/* SPDX-License-Identifier: MIT */
/* The ranks of dftmerge: there is one. */
#include "mpi/comm.h"

#include <errno.h>

unsigned dft_comm_rank(void)
{
    return 0;
}

unsigned dft_comm_size(void)
{
    return 1;
}

int dft_comm_agree(int result)
{
    return result;
}

void dft_comm_sum(uint64_t *numbers, size_t count)
{
    (void)numbers;
    (void)count;
}

void dft_comm_broadcast(void *bytes, size_t length)
{
    (void)bytes;
    (void)length;
}

int dft_comm_exchange(const void *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    return take(context, 0, bytes, length);
}

int dft_comm_gather(const void *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    return take(context, 0, bytes, length);
}

int dft_comm_reduce(dft_comm_pack_fn *pack, dft_comm_take_fn *take, void *context)
{
    (void)pack;
    (void)take;
    (void)context;
    return 0;
}

int dft_comm_alone(const char *command, int quiet)
{
    (void)command;
    (void)quiet;
    return 1;
}

void dft_comm_serve(dft_comm_answer_fn *give, void *context)
{
    (void)give;
    (void)context;
}

int dft_comm_ask(unsigned rank, const void *question, size_t question_length, void *answer, size_t length)
{
    (void)rank;
    (void)question;
    (void)question_length;
    (void)answer;
    (void)length;
    return -EIO;
}

void dft_comm_served(void) {}

int dft_comm_main(int argc, char **argv, int (*run)(int argc, char **argv))
{
    return run(argc, argv);
}
