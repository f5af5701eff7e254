/* SPDX-License-Identifier: MIT */
/* Finds functions in other ways than by being linked with them.
 *
 *   handle FILE         ten writes and a read by functions found in the C library
 *   plain FILE          ten writes and a read as usual, in a region where there is a tracer
 *   later FILE LIBRARY  loads another copy of the tracer; a region that is told to that copy is around ten writes
 *   next FILE LIBRARY   ten writes by a library that is loaded now
 *   deep FILE LIBRARY   loads a library with RTLD_DEEPBIND
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dftrace/api.h>

#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#else
#define FIRST "GLIBC_2.17"
#endif

typedef ssize_t writes(int fd, const void *from, size_t size);
typedef ssize_t reads(int fd, void *to, size_t size);

static int work(const char *path, writes *put, reads *get)
{
    char byte;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644), bad = 0;

    for (int i = 0; i < 10; i++)
        bad |= put(fd, "h", 1) != 1;
    lseek(fd, 0, SEEK_SET);
    bad |= get(fd, &byte, 1) != 1;
    close(fd);
    return bad;
}

static int by_handle(const char *path)
{
    void *library = dlopen("libc.so.6", RTLD_NOW);
    writes *put = (writes *)dlsym(library, "write");
    reads *get = (reads *)dlvsym(library, "read", FIRST);

    if (!put || !get || dlsym(library, "no_such_function") || !dlerror() || dlvsym(library, "read", "GLIBC_0.1"))
        return 2;
    return work(path, put, get);
}

static int told(const char *path, const struct dftrace_api *api)
{
    struct dftrace_site site = {"TEST", "told", 0};
    int bad;

    if (api && api->enabled)
        api->region_begin(&site);
    bad = work(path, write, read);
    if (api && api->enabled)
        api->region_end(&site);
    return bad;
}

static int later(const char *path, const char *copy)
{
    void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    const struct dftrace_api *api = library ? dlsym(library, "dftrace_api_v1") : NULL;

    return api && api->enabled ? told(path, api) : 3;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 9;
    if (!strcmp(argv[1], "handle"))
        return by_handle(argv[2]);
    if (!strcmp(argv[1], "later"))
        return later(argv[2], argv[3]);
    if (!strcmp(argv[1], "next"))
        return work(argv[2], (writes *)dlsym(dlopen(argv[3], RTLD_NOW), "put"), read);
    if (!strcmp(argv[1], "deep") && !dlopen(argv[3], RTLD_NOW | RTLD_DEEPBIND))
        return 4;
    return told(argv[2], dftrace_find());
}
