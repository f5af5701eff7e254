/* SPDX-License-Identifier: MIT */
/* Patterns of I/O whose trouble is known by construction: what IOR's loop, mdtest and a program with a rank that does
 * more do, in as many calls as those. A rank of MPI.
 *
 *   patterns ior t=BYTES b=BYTES s=N [F] [z] [e] [C] [Y] [D] [w] [r] [mpi] [c] FILE
 *       t: bytes a request, b: bytes a rank and segment, s: segments, F: a file a rank, z: in random order,
 *       e: fsync at the end, C: reads what the next rank wrote, Y: fsync after each write, D: O_DIRECT,
 *       w, r: writes, reads (neither: both), mpi: by MPI-IO, c: collectively
 *   patterns md n=FILES [w=BYTES] [u] [depth=N] [branch=N] DIRECTORY
 *       each rank makes, asks about, (writes, reads,) and removes its files; u: in a directory of its own;
 *       below a tree of directories
 *   patterns more b=BYTES x=FACTOR DIRECTORY
 *       each rank writes b bytes, rank 0 x times as many */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long t = 65536, b = 1 << 20, s = 1, n = 100, w_bytes, x = 1, depth, branch = 1;
static int F, z, e, C, Y, D, w, r, mpi, c, u;
static int rank, ranks;
static const char *place;
static char *buffer;

static void check(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void read_words(char **words)
{
    const struct {
        const char *name;
        long *value;
    } values[] = {{"t=", &t},       {"b=", &b}, {"s=", &s},         {"n=", &n},
                  {"w=", &w_bytes}, {"x=", &x}, {"depth=", &depth}, {"branch=", &branch}};
    const struct {
        const char *name;
        int *value;
    } flags[] = {{"F", &F}, {"z", &z}, {"e", &e},     {"C", &C}, {"Y", &Y}, {"D", &D},
                 {"w", &w}, {"r", &r}, {"mpi", &mpi}, {"c", &c}, {"u", &u}};

    for (; *words; words++) {
        place = *words;
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            if (!strncmp(*words, values[i].name, strlen(values[i].name)))
                *values[i].value = atol(*words + strlen(values[i].name));
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            if (!strcmp(*words, flags[i].name))
                *flags[i].value = 1;
    }
}

/* --- IOR -------------------------------------------------------------------------------------- */

static long *order_of(long count)
{
    long *order = malloc((size_t)count * sizeof *order);

    check(order != NULL, "malloc");
    for (long i = 0; i < count; i++)
        order[i] = i;
    srandom(4711 + (unsigned)rank);
    for (long i = count - 1; z && i > 0; i--) {
        long j = random() % (i + 1), other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    return order;
}

/* Where request `i` of rank `of` begins. */
static off_t offset_of(long i, int of)
{
    long each = b / t, segment = i / each, within = i % each * t;

    return F ? segment * b + within : (segment * ranks + of) * b + within;
}

static void name_of(char *name, size_t size, int of)
{
    if (F)
        snprintf(name, size, "%s.%08d", place, of);
    else
        snprintf(name, size, "%s", place);
}

static void move_posix(int writes, int of)
{
    long count = s * (b / t), *order = order_of(count);
    char name[4096];
    int fd;

    name_of(name, sizeof name, of);
    fd = open(name, (writes ? O_CREAT | O_RDWR : O_RDONLY) | (D ? O_DIRECT : 0), 0644);
    check(fd >= 0, name);
    for (long i = 0; i < count; i++) {
        check(lseek(fd, offset_of(order[i], of), SEEK_SET) >= 0, "lseek");
        check((writes ? write(fd, buffer, (size_t)t) : read(fd, buffer, (size_t)t)) == t, writes ? "write" : "read");
        if (writes && Y)
            check(!fsync(fd), "fsync");
    }
    if (writes && e)
        check(!fsync(fd), "fsync");
    check(!close(fd), "close");
    free(order);
}

static void move_mpi(int writes, int of)
{
    long count = s * (b / t), *order = order_of(count);
    char name[4096];
    MPI_File file;
    MPI_Status status;

    name_of(name, sizeof name, of);
    check(!MPI_File_open(F ? MPI_COMM_SELF : MPI_COMM_WORLD, name,
                         writes ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
          "MPI_File_open");
    for (long i = 0; i < count; i++) {
        MPI_Offset at = offset_of(order[i], of);

        if (writes)
            (c ? MPI_File_write_at_all : MPI_File_write_at)(file, at, buffer, (int)t, MPI_BYTE, &status);
        else
            (c ? MPI_File_read_at_all : MPI_File_read_at)(file, at, buffer, (int)t, MPI_BYTE, &status);
    }
    if (writes && e)
        MPI_File_sync(file);
    MPI_File_close(&file);
    free(order);
}

static void run_ior(void)
{
    int next = C ? (rank + 1) % ranks : rank;
    char name[4096];

    if (!w && !r)
        w = r = 1;
    for (int reads = 0; reads < 2; reads++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (reads ? r : w)
            (mpi ? move_mpi : move_posix)(!reads, reads ? next : rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    name_of(name, sizeof name, rank);
    if (F || !rank)
        unlink(name);
}

/* --- mdtest ----------------------------------------------------------------------------------- */

static void move_file(const char *name, int writes)
{
    int fd = open(name, writes ? O_CREAT | O_WRONLY : O_RDONLY, 0644);

    check(fd >= 0, name);
    if (w_bytes)
        check((writes ? write(fd, buffer, (size_t)w_bytes) : read(fd, buffer, (size_t)w_bytes)) == w_bytes, name);
    check(!close(fd), name);
}

enum phase { MAKE, STAT, READ, REMOVE, PHASES };

/* The files of a directory, and those below it: n are shared out among all of them. */
static void do_files(const char *directory, enum phase phase, long each, int level)
{
    char name[4096];
    struct stat stat_of;

    if (phase == MAKE && level)
        check(!mkdir(directory, 0755), directory);
    for (long i = 0; i < each; i++) {
        snprintf(name, sizeof name, "%s/file.mdtest.%d.%ld", directory, rank, i);
        if (phase == MAKE)
            move_file(name, 1);
        else if (phase == STAT)
            check(!stat(name, &stat_of), name);
        else if (phase == READ && w_bytes)
            move_file(name, 0);
        else if (phase == REMOVE)
            check(!unlink(name), name);
    }
    for (long i = 0; level < depth && i < branch; i++) {
        snprintf(name, sizeof name, "%s/tree.%d.%d.%ld", directory, rank, level, i);
        do_files(name, phase, each, level + 1);
    }
    if (phase == REMOVE && level)
        check(!rmdir(directory), directory);
}

static void run_md(void)
{
    long directories = 1, all = 1;
    char own[4096];

    for (long i = 0; i < depth; i++)
        all += directories *= branch;
    if (u)
        snprintf(own, sizeof own, "%s/own.%d", place, rank);
    else
        snprintf(own, sizeof own, "%s", place);
    if (u)
        check(!mkdir(own, 0755), own);
    for (unsigned phase = 0; phase < PHASES; phase++) {
        MPI_Barrier(MPI_COMM_WORLD);
        do_files(own, phase, n / all, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (u)
        rmdir(own);
}

/* --- a rank that does more -------------------------------------------------------------------- */

static void run_more(void)
{
    long left = rank ? b : b * x, all = left;
    char name[4096];
    int fd;

    snprintf(name, sizeof name, "%s/rank.%d", place, rank);
    fd = open(name, O_CREAT | O_RDWR, 0644);
    check(fd >= 0, name);
    for (; left > 0; left -= t)
        check(write(fd, buffer, (size_t)t) == t, "write");
    check(!fsync(fd), "fsync");
    check(!lseek(fd, 0, SEEK_SET), "lseek");
    for (left = all; left > 0; left -= t)
        check(read(fd, buffer, (size_t)t) == t, "read");
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(name);
}

int main(int argc, char **argv)
{
    size_t most;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(argc > 3, "patterns KIND WORDS... PLACE");
    read_words(argv + 2);
    most = (size_t)(t > w_bytes ? t : w_bytes);
    check(!posix_memalign((void **)&buffer, 4096, most), "posix_memalign");
    memset(buffer, 'x', most);
    if (!strcmp(argv[1], "ior"))
        run_ior();
    else if (!strcmp(argv[1], "md"))
        run_md();
    else
        run_more();
    MPI_Finalize();
    free(buffer);
    return 0;
}
