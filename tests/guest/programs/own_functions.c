/* SPDX-License-Identifier: MIT */
/* A program with functions of its own in place of the C library's: an allocator that does I/O
 * itself, and its own write, open and close, which its libraries use too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POOL_BYTES (256u << 20)

static char *pool;
static size_t used;
static unsigned allocations, written, opened, closed;
static __thread int inside;

static void *take(size_t size)
{
    size_t need = (size + sizeof(size_t) + 31) & ~(size_t)15, at;
    char *start = __atomic_load_n(&pool, __ATOMIC_ACQUIRE);

    if (!start) {
        char *mine = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (__atomic_compare_exchange_n(&pool, &start, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            start = mine;
    }
    at = __atomic_fetch_add(&used, need, __ATOMIC_RELAXED);
    if (at + need > POOL_BYTES)
        return NULL;
    *(size_t *)(start + at + 8) = size;
    /* An allocator that logs: it calls what may allocate, and must not be entered by that. */
    if (!inside && __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) % 100 == 0) {
        inside = 1;
        access("malloc.log", F_OK);
        inside = 0;
    }
    return start + at + 16;
}

void *malloc(size_t size)
{
    return take(size);
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t size)
{
    return take(count * size);
}

void *realloc(void *block, size_t size)
{
    void *other = take(size);

    if (block && other) {
        size_t before = *(size_t *)((char *)block - 8);

        memcpy(other, block, before < size ? before : size);
    }
    return other;
}

void *memalign(size_t alignment, size_t size)
{
    char *block = take(size + alignment);

    return block + (alignment - (size_t)block % alignment) % alignment;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    written++;
    return syscall(SYS_write, fd, buffer, size);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    int mode;

    va_start(list, flags);
    mode = flags & O_CREAT ? va_arg(list, int) : 0;
    va_end(list);
    opened++;
    return openat(AT_FDCWD, path, flags, mode);
}

int close(int fd)
{
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");

    closed++;
    return next(fd);
}

static void *work(void *argument)
{
    char line[64], *text = NULL;
    size_t room = 0;
    FILE *file;

    snprintf(line, sizeof line, "f%ld", (long)argument);
    file = fopen(line, "w+");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%d %s\n", i, strdup(line));
    rewind(file);
    while (getline(&text, &room, file) > 0)
        continue;
    fclose(file);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    int fd = open("own", O_WRONLY | O_CREAT, 0644);

    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    write(fd, "own\n", 4);
    close(fd);
    system("echo from a shell");
    printf("%u allocations, %u written, %u opened, %u closed\n", allocations, written, opened, closed);
    return 0;
}
