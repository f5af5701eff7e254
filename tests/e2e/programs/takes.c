/* SPDX-License-Identifier: MIT */
/* A library that takes calls of a program, or is taken for something else.
 *
 *   BY_HANDLE  passes them on to the C library, whose functions it finds by a handle
 *   ITSELF     makes the system call by the instruction
 *   NEXT       finds the next function of that name
 *   OLDER      looks like a copy of the tracer that cannot be asked
 */
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef OLDER
#include <dftrace/api.h>

struct dftrace_api dftrace_api_v1 = {.version = DFTRACE_API_VERSION, .size = 8};
#endif

#if defined(NEXT)
ssize_t put(int fd, const void *from, size_t size)
{
    return ((ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, from, size);
}
#elif defined(BY_HANDLE)
static void *find(const char *name)
{
    static void *library;

    if (!library)
        library = dlopen("libc.so.6", RTLD_LAZY);
    return dlsym(library, name);
}

ssize_t read(int fd, void *to, size_t size)
{
    return ((ssize_t(*)(int, void *, size_t))find("read"))(fd, to, size);
}

ssize_t write(int fd, const void *from, size_t size)
{
    return ((ssize_t(*)(int, const void *, size_t))find("write"))(fd, from, size);
}
#else
static long call(long number, long fd, long memory, long size)
{
#if defined(__x86_64__)
    __asm__ volatile("syscall" : "+a"(number) : "D"(fd), "S"(memory), "d"(size) : "rcx", "r11", "memory");
    return number;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = fd, x1 __asm__("x1") = memory, x2 __asm__("x2") = size;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

ssize_t read(int fd, void *to, size_t size)
{
    return call(SYS_read, fd, (long)to, (long)size);
}

ssize_t write(int fd, const void *from, size_t size)
{
    return call(SYS_write, fd, (long)from, (long)size);
}
#endif
