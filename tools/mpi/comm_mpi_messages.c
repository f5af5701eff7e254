/* The ranks of dftmerge-mpi: messages from one to another, and questions that rank 0 asks.
 *
 * Every message says what it belongs to, so that a rank that has left the others' path is found out by the first one that
 * is not what was expected, and all are ended. */
#include "mpi/comm_mpi.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/comm.h"

#define PIECE_BYTES      ((size_t)1 << 30) /* MPI counts in int */
#define POLLS            200               /* before a rank that waits sleeps */
#define PAUSE_MAX_NS     1000000
#define PAUSE_SENDING_NS 100000

void dft_mpi_give_up(unsigned other, const char *why)
{
    fprintf(dft_world.errors, "dftmerge-mpi: rank %u: rank %u %s; all end\n", dft_world.rank, other, why);
    fflush(dft_world.errors);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* MPI's own waiting keeps the processor busy; here it may take as long as one rank works alone. `tries`: so far. */
static void pause_politely(unsigned tries, struct timespec *pause, long most_ns)
{
    if (tries < POLLS)
        return;
    nanosleep(pause, NULL);
    if (pause->tv_nsec < most_ns)
        pause->tv_nsec *= 2;
}

/* A large message is on its way until the other rank takes it; then it comes piece by piece, as this one is awake. */
static void put_large(unsigned to, const void *bytes, size_t length)
{
    struct timespec pause = {0, 1000};
    MPI_Request request;
    int sent = 0;

    MPI_Isend(bytes, (int)length, MPI_BYTE, (int)to, 0, dft_world.comm, &request);
    for (unsigned tries = 0; !sent; tries++) {
        MPI_Test(&request, &sent, MPI_STATUS_IGNORE);
        if (!sent)
            pause_politely(tries, &pause, PAUSE_SENDING_NS);
    }
}

void dft_mpi_put(unsigned to, enum dft_kind kind, const void *bytes, size_t length)
{
    uint64_t head[2] = {kind, length};

    MPI_Send(head, 2, MPI_UINT64_T, (int)to, 0, dft_world.comm);
    for (size_t at = 0; at < length; at += PIECE_BYTES)
        put_large(to, (const char *)bytes + at, length - at < PIECE_BYTES ? length - at : PIECE_BYTES);
}

void dft_mpi_get_bytes(unsigned from, void *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += PIECE_BYTES) {
        size_t n = length - at < PIECE_BYTES ? length - at : PIECE_BYTES;

        MPI_Recv((char *)bytes + at, (int)n, MPI_BYTE, (int)from, 0, dft_world.comm, MPI_STATUS_IGNORE);
    }
}

void dft_mpi_wait(unsigned from)
{
    struct timespec pause = {0, 1000};
    int there = 0;

    for (unsigned tries = 0; !there; tries++) {
        MPI_Iprobe((int)from, 0, dft_world.comm, &there, MPI_STATUS_IGNORE);
        if (!there)
            pause_politely(tries, &pause, PAUSE_MAX_NS);
    }
}

static size_t get_head(unsigned from, enum dft_kind kind)
{
    uint64_t head[2];

    dft_mpi_wait(from);
    MPI_Recv(head, 2, MPI_UINT64_T, (int)from, 0, dft_world.comm, MPI_STATUS_IGNORE);
    if (head[0] != kind)
        dft_mpi_give_up(from, "has failed, or is elsewhere in its work");
    return head[1];
}

void *dft_mpi_get(unsigned from, enum dft_kind kind, size_t *length)
{
    void *bytes;

    *length = get_head(from, kind);
    bytes = malloc(*length + 1);
    if (!bytes)
        dft_mpi_give_up(dft_world.rank, "has no memory for what others send");
    dft_mpi_get_bytes(from, bytes, *length);
    return bytes;
}

void dft_mpi_get_exactly(unsigned from, enum dft_kind kind, void *bytes, size_t length)
{
    if (get_head(from, kind) != length)
        dft_mpi_give_up(from, "is elsewhere in its work");
    dft_mpi_get_bytes(from, bytes, length);
}

void dft_comm_send(unsigned to, const void *bytes, size_t length)
{
    dft_mpi_put(to, DFT_KIND_SINGLE, bytes, length);
}

void *dft_comm_receive(unsigned from, size_t *length)
{
    return dft_mpi_get(from, DFT_KIND_SINGLE, length);
}

/* --- questions ----------------------------------------------------------------------------------------------------- */

void dft_comm_serve(dft_comm_answer_fn *give, void *context)
{
    for (;;) {
        const void *answer = NULL;
        size_t length = 0;
        uint64_t head[2];
        char question[64];

        dft_mpi_wait(0);
        MPI_Recv(head, 2, MPI_UINT64_T, 0, 0, dft_world.comm, MPI_STATUS_IGNORE);
        if (head[0] == DFT_KIND_SERVED)
            return;
        if (head[0] != DFT_KIND_ASK || head[1] > sizeof question)
            dft_mpi_give_up(0, "has failed, or is elsewhere in its work");
        dft_mpi_get_bytes(0, question, head[1]);
        if (give(context, question, head[1], &answer, &length))
            length = 0;
        dft_mpi_put(0, DFT_KIND_ANSWER, answer, length);
    }
}

int dft_comm_ask(unsigned rank, const void *question, size_t question_length, void *answer, size_t length)
{
    size_t n;
    void *bytes;

    pthread_mutex_lock(&dft_world.asking);
    dft_mpi_put(rank, DFT_KIND_ASK, question, question_length);
    bytes = dft_mpi_get(rank, DFT_KIND_ANSWER, &n);
    pthread_mutex_unlock(&dft_world.asking);
    if (n == length)
        memcpy(answer, bytes, length);
    free(bytes);
    return n == length ? 0 : -EIO;
}

void dft_comm_served(void)
{
    for (unsigned rank = 1; rank < dft_world.size; rank++)
        dft_mpi_put(rank, DFT_KIND_SERVED, NULL, 0);
}
