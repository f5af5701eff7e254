/* The ranks of dftmerge-mpi, over MPI.
 *
 * Collectives are made of messages here, along a binomial tree to rank 0 and back, and every message says which of them
 * it belongs to. So a rank that has left the others' path (it failed on its own) is found out by the first message that
 * is not what was expected, and all are ended: with MPI's own collectives they would wait for each other for ever. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include "comm.h"
#include "pack.h"

#define PIECE_BYTES  ((size_t)1 << 30) /* MPI counts in int */
#define POLLS        200               /* before a rank that waits sleeps */
#define PAUSE_MAX_NS 1000000

enum kind {
    KIND_AGREE = 1,
    KIND_SUM,
    KIND_BROADCAST,
    KIND_GATHER,
    KIND_REDUCE,
    KIND_ASK,
    KIND_ANSWER,
    KIND_SERVED,
    KIND_END
};

static struct {
    unsigned rank, size;
    MPI_Comm comm;
    FILE *errors; /* standard error also of ranks that write nothing there otherwise */
    pthread_mutex_t asking;
} world = {.size = 1, .asking = PTHREAD_MUTEX_INITIALIZER};

unsigned dft_comm_rank(void)
{
    return world.rank;
}

unsigned dft_comm_size(void)
{
    return world.size;
}

static void give_up(unsigned other, const char *why)
{
    fprintf(world.errors, "dftmerge-mpi: rank %u: rank %u %s; all end\n", world.rank, other, why);
    fflush(world.errors);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* --- messages ------------------------------------------------------------------------------------------------------ */

static void put(unsigned to, enum kind kind, const void *bytes, size_t length)
{
    uint64_t head[2] = {kind, length};

    MPI_Send(head, 2, MPI_UINT64_T, (int)to, 0, world.comm);
    for (size_t at = 0; at < length; at += PIECE_BYTES) {
        size_t n = length - at < PIECE_BYTES ? length - at : PIECE_BYTES;

        MPI_Send((const char *)bytes + at, (int)n, MPI_BYTE, (int)to, 0, world.comm);
    }
}

static void get_bytes(unsigned from, void *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += PIECE_BYTES) {
        size_t n = length - at < PIECE_BYTES ? length - at : PIECE_BYTES;

        MPI_Recv((char *)bytes + at, (int)n, MPI_BYTE, (int)from, 0, world.comm, MPI_STATUS_IGNORE);
    }
}

/* MPI's own waiting keeps the processor busy; here it may take as long as one rank works alone. */
static void wait_for(unsigned from)
{
    struct timespec pause = {0, 1000};
    int there = 0;

    for (unsigned tries = 0; !there; tries++) {
        MPI_Iprobe((int)from, 0, world.comm, &there, MPI_STATUS_IGNORE);
        if (there || tries < POLLS)
            continue;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < PAUSE_MAX_NS)
            pause.tv_nsec *= 2;
    }
}

static size_t get_head(unsigned from, enum kind kind)
{
    uint64_t head[2];

    wait_for(from);
    MPI_Recv(head, 2, MPI_UINT64_T, (int)from, 0, world.comm, MPI_STATUS_IGNORE);
    if (head[0] != kind)
        give_up(from, "has failed, or is elsewhere in its work");
    return head[1];
}

/* A message of any length, from malloc. */
static void *get(unsigned from, enum kind kind, size_t *length)
{
    void *bytes;

    *length = get_head(from, kind);
    bytes = malloc(*length + 1);
    if (!bytes)
        give_up(world.rank, "has no memory for what others send");
    get_bytes(from, bytes, *length);
    return bytes;
}

/* One of a length that both know. */
static void get_exactly(unsigned from, enum kind kind, void *bytes, size_t length)
{
    if (get_head(from, kind) != length)
        give_up(from, "is elsewhere in its work");
    get_bytes(from, bytes, length);
}

/* --- collectives --------------------------------------------------------------------------------------------------- */

/* To all from rank 0. */
static void down(enum kind kind, void *bytes, size_t length)
{
    unsigned step = 1;

    while (step < world.size && !(world.rank & step))
        step *= 2;
    if (world.rank)
        get_exactly(world.rank - step, kind, bytes, length);
    for (step /= 2; step; step /= 2)
        if (world.rank + step < world.size)
            put(world.rank + step, kind, bytes, length);
}

int dft_comm_agree(int result)
{
    for (unsigned step = 1; step < world.size; step *= 2) {
        int other;

        if (world.rank & step) {
            put(world.rank - step, KIND_AGREE, &result, sizeof result);
            break;
        }
        if (world.rank + step >= world.size)
            continue;
        get_exactly(world.rank + step, KIND_AGREE, &other, sizeof other);
        if (result < 0 || other < 0)
            result = result < other ? result : other;
        else
            result = result > other ? result : other;
    }
    down(KIND_AGREE, &result, sizeof result);
    return result;
}

void dft_comm_sum(uint64_t *numbers, size_t count)
{
    uint64_t *other = malloc(count * sizeof *other + 1);

    if (!other)
        give_up(world.rank, "has no memory");
    for (unsigned step = 1; step < world.size; step *= 2) {
        if (world.rank & step) {
            put(world.rank - step, KIND_SUM, numbers, count * sizeof *numbers);
            break;
        }
        if (world.rank + step >= world.size)
            continue;
        get_exactly(world.rank + step, KIND_SUM, other, count * sizeof *other);
        for (size_t i = 0; i < count; i++)
            numbers[i] += other[i];
    }
    free(other);
    down(KIND_SUM, numbers, count * sizeof *numbers);
}

void dft_comm_broadcast(void *bytes, size_t length)
{
    down(KIND_BROADCAST, bytes, length);
}

/* Appends this rank's bytes and those of the ranks below it in the tree, which are the next ones, and passes them on;
 * rank 0 has all. */
static void up(struct dft_pack *all, const void *bytes, size_t length)
{
    uint64_t own = length;

    dft_pack_put(all, &own, sizeof own);
    dft_pack_put(all, bytes, length);
    for (unsigned step = 1; step < world.size; step *= 2) {
        size_t n;
        void *more;

        if (all->rc)
            give_up(world.rank, "has no memory for what others send");
        if (world.rank & step) {
            put(world.rank - step, KIND_GATHER, all->bytes, all->length);
            return;
        }
        if (world.rank + step >= world.size)
            continue;
        more = get(world.rank + step, KIND_GATHER, &n);
        dft_pack_put(all, more, n);
        free(more);
    }
    if (all->rc)
        give_up(world.rank, "has no memory for what others send");
}

static int take_all(const char *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    struct dft_unpack unpack = {bytes, bytes + length};
    int rc = 0;

    for (unsigned rank = 0; !rc && rank < world.size; rank++) {
        uint64_t n;

        dft_unpack_get(&unpack, &n, sizeof n);
        rc = take(context, rank, dft_unpack_here(&unpack, n), n);
    }
    return rc;
}

int dft_comm_gather(const void *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    struct dft_pack all = {0};
    int rc = 0;

    up(&all, bytes, length);
    if (!world.rank)
        rc = take_all(all.bytes, all.length, take, context);
    free(all.bytes);
    return dft_comm_agree(rc);
}

int dft_comm_exchange(const void *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    struct dft_pack all = {0};
    uint64_t total;
    int rc;

    up(&all, bytes, length);
    total = all.length;
    down(KIND_BROADCAST, &total, sizeof total);
    if (world.rank) {
        free(all.bytes);
        all.bytes = malloc(total + 1);
        if (!all.bytes)
            give_up(world.rank, "has no memory for what others send");
    }
    down(KIND_BROADCAST, all.bytes, total);
    rc = take_all(all.bytes, total, take, context);
    free(all.bytes);
    return dft_comm_agree(rc);
}

int dft_comm_reduce(dft_comm_pack_fn *pack, dft_comm_take_fn *take, void *context)
{
    int rc = 0;

    for (unsigned step = 1; step < world.size; step *= 2) {
        void *bytes = NULL;
        size_t length = 0;

        if (world.rank & step) {
            if (!rc)
                rc = pack(context, &bytes, &length);
            put(world.rank - step, KIND_REDUCE, bytes, rc ? 0 : length);
            free(bytes);
            break;
        }
        if (world.rank + step >= world.size)
            continue;
        bytes = get(world.rank + step, KIND_REDUCE, &length);
        if (!rc && length)
            rc = take(context, world.rank + step, bytes, length);
        free(bytes);
    }
    return dft_comm_agree(rc);
}

/* --- questions ----------------------------------------------------------------------------------------------------- */

void dft_comm_serve(dft_comm_answer_fn *give, void *context)
{
    for (;;) {
        const void *answer = NULL;
        size_t length = 0;
        uint64_t head[2];
        char question[64];

        wait_for(0);
        MPI_Recv(head, 2, MPI_UINT64_T, 0, 0, world.comm, MPI_STATUS_IGNORE);
        if (head[0] == KIND_SERVED)
            return;
        if (head[0] != KIND_ASK || head[1] > sizeof question)
            give_up(0, "has failed, or is elsewhere in its work");
        get_bytes(0, question, head[1]);
        if (give(context, question, head[1], &answer, &length))
            length = 0;
        put(0, KIND_ANSWER, answer, length);
    }
}

int dft_comm_ask(unsigned rank, const void *question, size_t question_length, void *answer, size_t length)
{
    size_t n;
    void *bytes;

    pthread_mutex_lock(&world.asking);
    put(rank, KIND_ASK, question, question_length);
    bytes = get(rank, KIND_ANSWER, &n);
    pthread_mutex_unlock(&world.asking);
    if (n == length)
        memcpy(answer, bytes, length);
    free(bytes);
    return n == length ? 0 : -EIO;
}

void dft_comm_served(void)
{
    for (unsigned rank = 1; rank < world.size; rank++)
        put(rank, KIND_SERVED, NULL, 0);
}

/* --- the program --------------------------------------------------------------------------------------------------- */

static unsigned all_ranks;

int dft_comm_is_terminal(void)
{
    return 0;
}

int dft_comm_alone(const char *command, int quiet)
{
    if (!quiet && !world.rank)
        fprintf(stderr, "dftmerge-mpi: %s is not done in parallel: one rank does it\n", command);
    if (world.rank)
        return 0;
    world.size = 1;
    return 1;
}

/* All are through. Each tells its neighbours before it waits for them: whoever still waits for something else of a rank
 * that failed finds out. */
static void end_together(void)
{
    unsigned low = 1;

    while (low < world.size && !(world.rank & low))
        low *= 2;
    if (world.rank)
        put(world.rank - low, KIND_END, NULL, 0);
    for (unsigned step = 1; step < low; step *= 2)
        if (world.rank + step < world.size)
            put(world.rank + step, KIND_END, NULL, 0);
    if (world.rank)
        get_exactly(world.rank - low, KIND_END, NULL, 0);
    for (unsigned step = 1; step < low; step *= 2)
        if (world.rank + step < world.size)
            get_exactly(world.rank + step, KIND_END, NULL, 0);
}

/* Only rank 0 writes. What others have to say when they cannot go on they say by themselves. */
static void be_silent(void)
{
    int copy = dup(STDERR_FILENO);

    world.errors = copy < 0 ? NULL : fdopen(copy, "w");
    if (!world.errors || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int dft_comm_main(int argc, char **argv, int (*run)(int argc, char **argv))
{
    int provided, rank, size, code;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
    MPI_Comm_rank(world.comm, &rank);
    MPI_Comm_size(world.comm, &size);
    world.rank = (unsigned)rank;
    world.size = all_ranks = (unsigned)size;
    world.errors = stderr;
    if (provided < MPI_THREAD_SERIALIZED) {
        fputs("dftmerge-mpi: this MPI cannot be used by programs with threads\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank)
        be_silent();
    code = run(argc, argv);
    world.size = all_ranks;
    fflush(stdout);
    end_together();
    MPI_Comm_free(&world.comm);
    MPI_Finalize();
    return code;
}
