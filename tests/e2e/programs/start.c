/* SPDX-License-Identifier: MIT */
/* What a program sees of libraries that the tracer brings with it.
 *
 *   start allocations FILE N   N calls of lseek on FILE, here and in a child. Prints how often they called an allocator function
 *   start next                 the first call of a function that a preloaded library replaces, after a
 * dlclose */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The C library's allocator functions, counted. Those of the program come before all others. */
static atomic_uint calls;
extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t items, size_t bytes),
    *__libc_realloc(void *memory, size_t bytes), *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *memory);

void *malloc(size_t bytes)
{
    calls++;
    return __libc_malloc(bytes);
}

void *calloc(size_t items, size_t bytes)
{
    calls++;
    return __libc_calloc(items, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    calls++;
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    calls++;
    return __libc_memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes)
{
    calls++;
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    calls++;
    *memory = __libc_memalign(alignment, bytes);
    return 0;
}

void free(void *memory)
{
    calls++;
    __libc_free(memory);
}

static unsigned seek(int fd, int count)
{
    unsigned before = calls;

    for (int i = 0; i < count; i++)
        lseek(fd, i * 37 % 4096, SEEK_SET);
    return calls - before;
}

static int allocations(const char *path, int count)
{
    int fd = open(path, O_RDONLY);
    unsigned here;

    here = seek(fd, count);
    printf("here: %u\n", here);
    fflush(stdout);
    if (fork() == 0) {
        printf("child: %u\n", seek(fd, count));
        return 0;
    }
    wait(NULL);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3)
        return allocations(argv[2], atoi(argv[3]));
    dlclose(dlopen("libm.so.6", RTLD_NOW));
    return fdatasync(1);
}
