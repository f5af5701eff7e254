/* SPDX-License-Identifier: MIT */
/* Calls the stand-ins of gpu_stub.c. What their functions print are the calls as they arrived. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>

#include "gpu_stub.h"

static char host[4096], device[4096];
#define STREAM(n) ((void *)(uintptr_t)(n))

#if defined(STUB_CUDART) || defined(STUB_HIP)
#ifdef STUB_CUDART
#define RT(name) cuda##name
#else
#define RT(name) hip##name
#endif
int RT(Memcpy)(void *dst, const void *src, size_t count, int kind);
int RT(MemcpyAsync)(void *dst, const void *src, size_t count, int kind, void *stream);
int RT(Memcpy2DAsync)(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind,
                      void *stream);
int RT(MemcpyPeerAsync)(void *dst, int to, const void *src, int from, size_t count, void *stream);
int RT(MemsetAsync)(void *devptr, int value, size_t count, void *stream);
int RT(LaunchKernel)(const void *func, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream);
int RT(StreamSynchronize)(void *stream);

static void use(void)
{
    for (int kind = 0; kind < 6; kind++)
        RT(Memcpy)(device, host, 100 + (size_t)kind, kind);
    RT(MemcpyAsync)(device, host, 1000, 1, STREAM(0x7f0012345678));
    RT(MemcpyAsync)(device, host, 1001, 2, STREAM(0x7f0012345678));
    RT(MemcpyAsync)(device, host, 1002, -1, NULL);
    RT(Memcpy2DAsync)(device, 64, host, 32, 10, 20, 1, STREAM(0xabc0));
    RT(MemcpyPeerAsync)(device, 1, host, 2, 77, STREAM(0xabc0));
    RT(MemsetAsync)(device, 7, 50, STREAM(0xabc0));
    RT(LaunchKernel)(STREAM(0x1234), (struct dim3){1, 2, 3}, (struct dim3){4, 5, 6}, STREAM(0x99), 8, STREAM(0xabc0));
    RT(StreamSynchronize)(STREAM(0xabc0));
}
#endif

#ifdef STUB_CUDA
int cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t count);
int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t count, void *stream);
int cuMemsetD32Async(uint64_t dst, uint32_t value, size_t count, void *stream);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **args, void **extra);

/* As the runtime does that is linked statically. */
static void look_up(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*get)(const char *, void **, int, uint64_t, int *), (*copy)(uint64_t, const void *, size_t, void *) = NULL;
    int status, wrong;

    get = driver ? (int (*)(const char *, void **, int, uint64_t, int *))dlsym(driver, "cuGetProcAddress_v2") : NULL;
    if (!get || get("cuMemcpyHtoDAsync", (void **)&copy, 12000, 1, &status) || status)
        exit(3);
    copy((uintptr_t)device, host, 300, STREAM(0x10));
    wrong = get("cuNever", (void **)&copy, 12000, 1, &status);
    TOLD("%d %d %d\n", wrong, status, copy == NULL);
}

static void use(void)
{
    cuMemcpyHtoD_v2((uintptr_t)device, host, 200);
    cuMemcpyDtoHAsync_v2(host, (uintptr_t)device, 201, STREAM(0x10));
    cuMemsetD32Async((uintptr_t)device, 5, 25, STREAM(0x20));
    cuLaunchKernel(STREAM(0x1234), 1, 2, 3, 4, 5, 6, 7, STREAM(0x20), STREAM(0x98), STREAM(0x99));
    look_up();
}
#endif

#ifdef STUB_CUFILE
ssize_t cuFileRead(void *handle, void *devptr, size_t size, off_t offset, off_t devptr_offset);
ssize_t cuFileWrite(void *handle, const void *devptr, size_t size, off_t offset, off_t devptr_offset);
pair cuFileReadAsync(void *handle, void *devptr, size_t *size, off_t *offset, off_t *devptr_offset, ssize_t *moved,
                     void *stream);

static void use(void)
{
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    size_t size = 500;
    off_t offset = 96, zero = 0;
    ssize_t moved = 0;
    pair answer;

    cuFileWrite(&fd, host, 1000, 50, 0);
    cuFileRead(&fd, device, 400, 100, 8);
    answer = cuFileReadAsync(&fd, device, &size, &offset, &zero, &moved, STREAM(0x30));
    TOLD("%d %d %zd\n", answer.code, answer.driver, moved);
    close(fd);
}
#endif

int main(void)
{
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (char)i;
    use();
    TOLD("%d %d\n", memcmp(device, host, 8), device[20]);
    return 0;
}
