/* SPDX-License-Identifier: MIT */
/* Counts the calls of each function that allocates, all of which it defines itself. `allocations DIRECTORY COUNTS`: the
 * number of calls stands in the file COUNTS, from before main to the very end of the process. Prints nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

static long before;
static long *count = &before;

/* Memory is never used again. Each block has its size before it. */
static void *take(size_t size, size_t alignment)
{
    static char memory[64 << 20] __attribute__((aligned(4096)));
    static size_t used;
    size_t least = alignment < 16 ? 16 : alignment;
    size_t at = (__atomic_fetch_add(&used, size + 2 * least + 16, __ATOMIC_RELAXED) + least + 15) & ~(least - 1);

    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    if (at + size > sizeof memory)
        abort();
    *(size_t *)(memory + at - 16) = size;
    return memory + at;
}

void *malloc(size_t size)
{
    return take(size, 16);
}

void *calloc(size_t n, size_t size)
{
    return take(n * size, 16);
}

void *realloc(void *old, size_t size)
{
    void *memory = take(size, 16);

    if (old)
        memcpy(memory, old, ((size_t *)old)[-2] < size ? ((size_t *)old)[-2] : size);
    return memory;
}

void *reallocarray(void *old, size_t n, size_t size)
{
    return realloc(old, n * size);
}

void free(void *memory)
{
    (void)memory;
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = take(size, alignment);
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return take(size, alignment);
}

void *memalign(size_t alignment, size_t size)
{
    return take(size, alignment);
}

void *valloc(size_t size)
{
    return take(size, 4096);
}

char *strdup(const char *text)
{
    return strcpy(take(strlen(text) + 1, 16), text);
}

char *strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = take(length + 1, 16);

    copy[length] = 0;
    return memcpy(copy, text, length);
}

static void calls(const char *path)
{
    char text[4096] = "0123456789\n";
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    FILE *file;

    for (int i = 0; i < 400; i++)
        if (pwrite(fd, text, sizeof text, i * 64) != sizeof text || pread(fd, text, sizeof text, 0) < 0)
            exit(2);
    close(fd);
    DFTRACE_BEGIN("step");
    file = fopen(path, "r+");
    setvbuf(file, text, _IOFBF, sizeof text);
    for (int i = 0; i < 400; i++)
        if (getc(file) == EOF)
            exit(3);
    fclose(file);
    DFTRACE_END("step");
    close(open("/no/such/file", O_RDONLY));
}

static void *in_thread(void *path)
{
    calls(path);
    return NULL;
}

int main(int argc, char **argv)
{
    int counts = open(argv[2], O_RDWR | O_CREAT, 0600), status;
    char path[4096];
    pthread_t thread;
    long *shared;

    if (argc != 3 || ftruncate(counts, 4096))
        return 4;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, counts, 0);
    *shared = before;
    count = shared;
    snprintf(path, sizeof path, "%s/file", argv[1]);
    calls(path);
    if (pthread_create(&thread, NULL, in_thread, path) || pthread_join(thread, NULL))
        return 5;
    if (!fork()) {
        calls(path);
        exit(0);
    }
    return wait(&status) < 0 || status;
}
