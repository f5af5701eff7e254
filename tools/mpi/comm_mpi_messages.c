/* SPDX-License-Identifier: MIT */
/* The ranks of dftmerge-mpi: messages from one rank to another, and queries that rank 0 asks. */
#include "mpi/comm_mpi_messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/comm.h"
#include "mpi/comm_mpi_collectives.h"

#define TAG_LENGTH   1
#define TAG_BYTES    2
#define POLLS        200 /* polls of a waiting rank before it sleeps */
#define PAUSE_MAX_NS 500000u

void dft_mpi_pause(unsigned tries)
{
    const unsigned step = tries < POLLS ? 0 : tries - POLLS;
    const struct timespec pause = {0, step < 10 ? 1000u << step : PAUSE_MAX_NS};

    if (tries >= POLLS)
        nanosleep(&pause, NULL);
}

void dft_mpi_wait(MPI_Request *request)
{
    int done = 0;

    for (unsigned tries = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done; tries++)
        dft_mpi_pause(tries);
}

void dft_mpi_send(unsigned to, const void *bytes, size_t length)
{
    const uint64_t count = length;
    MPI_Request request;

    MPI_Send(&count, 1, MPI_UINT64_T, (int)to, TAG_LENGTH, dft_world.comm);
    for (size_t at = 0; at < length; at += DFT_MPI_PIECE_BYTES) {
        size_t n = length - at < DFT_MPI_PIECE_BYTES ? length - at : DFT_MPI_PIECE_BYTES;

        MPI_Isend((const char *)bytes + at, (int)n, MPI_BYTE, (int)to, TAG_BYTES, dft_world.comm, &request);
        dft_mpi_wait(&request);
    }
}

void *dft_mpi_receive(unsigned from, size_t *length)
{
    MPI_Request request;
    uint64_t count;
    char *bytes;

    MPI_Irecv(&count, 1, MPI_UINT64_T, (int)from, TAG_LENGTH, dft_world.comm, &request);
    dft_mpi_wait(&request);
    bytes = malloc(count + 1);
    if (!bytes)
        dft_mpi_give_up("no memory for what another rank sends");
    for (size_t at = 0; at < count; at += DFT_MPI_PIECE_BYTES) {
        size_t n = count - at < DFT_MPI_PIECE_BYTES ? count - at : DFT_MPI_PIECE_BYTES;

        MPI_Recv(bytes + at, (int)n, MPI_BYTE, (int)from, TAG_BYTES, dft_world.comm, MPI_STATUS_IGNORE);
    }
    *length = count;
    return bytes;
}

/* --- queries ---------------------------------------------------------------------------------- */

static void answer_one(dft_comm_answer_fn *give, void *context)
{
    const void *answer = NULL;
    size_t length = 0, asked;
    void *question = dft_mpi_receive(0, &asked);

    if (give(context, question, asked, &answer, &length))
        length = 0;
    dft_mpi_send(0, answer, length);
    free(question);
}

/* Answers queries until rank 0, too, comes to the end of the queries. */
void dft_comm_serve(dft_comm_answer_fn *give, void *context)
{
    struct dft_meeting meeting;
    unsigned tries = 0;

    dft_mpi_meet_begin(&meeting, DFT_COLLECTIVE_SERVE, 0);
    while (!dft_mpi_meet_try(&meeting)) {
        int is_asked;

        MPI_Iprobe(0, TAG_LENGTH, dft_world.comm, &is_asked, MPI_STATUS_IGNORE);
        if (is_asked)
            answer_one(give, context);
        tries = is_asked ? 0 : tries + 1;
        dft_mpi_pause(tries);
    }
}

int dft_comm_ask(unsigned rank, const void *question, size_t question_length, void *answer, size_t length)
{
    size_t n;
    void *bytes;

    pthread_mutex_lock(&dft_world.asking);
    dft_mpi_send(rank, question, question_length);
    bytes = dft_mpi_receive(rank, &n);
    pthread_mutex_unlock(&dft_world.asking);
    if (n == length)
        memcpy(answer, bytes, length);
    free(bytes);
    return n == length ? 0 : -EIO;
}

void dft_comm_served(void)
{
    dft_mpi_meet(DFT_COLLECTIVE_SERVE, 0);
}
