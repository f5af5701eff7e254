/* SPDX-License-Identifier: MIT */
/* Stand-ins for libcudart, libcuda, libamdhip64 and libcufile: one of them, as -DSTUB_... says. Signatures are those of the vendors. */
#include <stdint.h>

#include "gpu_stub.h"

#if defined(STUB_CUDART) || defined(STUB_HIP)
#ifdef STUB_CUDART
#define RT(name) cuda##name
#else
#define RT(name) hip##name
#endif
int RT(Memcpy)(void *dst, const void *src, size_t count, int kind)
{
    return stub_copy("Memcpy", dst, src, count, kind, NULL);
}
int RT(MemcpyAsync)(void *dst, const void *src, size_t count, int kind, void *stream)
{
    return stub_copy("MemcpyAsync", dst, src, count, kind, stream);
}
int RT(Memcpy2DAsync)(char *dst, size_t dpitch, const char *src, size_t spitch, size_t width, size_t height, int kind,
                      void *stream)
{
    for (size_t i = 0; i < height; i++)
        memcpy(dst + i * dpitch, src + i * spitch, width);
    TOLD("Memcpy2DAsync %zu %d %p\n", width * height, kind, stream);
    return 0;
}
int RT(MemcpyPeerAsync)(void *dst, int to, const void *src, int from, size_t count, void *stream)
{
    return stub_copy("MemcpyPeerAsync", dst, src, count, to * 10 + from, stream);
}
int RT(MemsetAsync)(void *devptr, int value, size_t count, void *stream)
{
    memset(devptr, value, count);
    TOLD("MemsetAsync %zu %p\n", count, stream);
    return 0;
}
int RT(LaunchKernel)(const void *func, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream)
{
    TOLD("LaunchKernel %p %u %u %u %u %u %u %p %zu %p\n", func, grid.x, grid.y, grid.z, block.x, block.y, block.z,
         (void *)args, shared, stream);
    return 0;
}
int RT(StreamSynchronize)(void *stream)
{
    TOLD("StreamSynchronize %p\n", stream);
    return 0;
}
#endif

#ifdef STUB_CUDA
int cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t count)
{
    return stub_copy("HtoD", (void *)dst, src, count, 0, NULL);
}
int cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t count, void *stream)
{
    return stub_copy("HtoDAsync", (void *)dst, src, count, 0, stream);
}
int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t count, void *stream)
{
    return stub_copy("DtoHAsync", dst, (const void *)src, count, 0, stream);
}
int cuMemsetD32Async(uint64_t dst, uint32_t value, size_t count, void *stream)
{
    for (size_t i = 0; i < count; i++)
        ((uint32_t *)dst)[i] = value;
    TOLD("D32Async %u %zu %p\n", value, count, stream);
    return 0;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **args, void **extra)
{
    TOLD("LaunchKernel %p %u %u %u %u %u %u %u %p %p %p\n", function, gx, gy, gz, bx, by, bz, shared, stream,
         (void *)args, (void *)extra);
    return 0;
}
/* 500: not found. */
int cuGetProcAddress_v2(const char *symbol, void **found, int version, uint64_t flags, int *status)
{
    TOLD("GetProcAddress %s %d %d\n", symbol, version, (int)flags);
    *found = !strcmp(symbol, "cuMemcpyHtoDAsync") ? (void *)cuMemcpyHtoDAsync_v2 : NULL;
    *status = *found ? 0 : 1;
    return *found ? 0 : 500;
}
#endif

#ifdef STUB_CUFILE
ssize_t cuFileRead(void *handle, void *devptr, size_t size, off_t offset, off_t devptr_offset)
{
    ssize_t n = pread(*(int *)handle, (char *)devptr + devptr_offset, size, offset);

    TOLD("Read %zu %zd %zd\n", size, (ssize_t)offset, n);
    return n;
}
ssize_t cuFileWrite(void *handle, const void *devptr, size_t size, off_t offset, off_t devptr_offset)
{
    ssize_t n = pwrite(*(int *)handle, (const char *)devptr + devptr_offset, size, offset);

    TOLD("Write %zu %zd %zd\n", size, (ssize_t)offset, n);
    return n;
}
pair cuFileReadAsync(void *handle, void *devptr, size_t *size, off_t *offset, off_t *devptr_offset, ssize_t *moved,
                     void *stream)
{
    *moved = pread(*(int *)handle, (char *)devptr + *devptr_offset, *size, *offset);
    TOLD("ReadAsync %zu %zd %zd %p\n", *size, (ssize_t)*offset, *moved, stream);
    return (pair){5000, (int)*moved};
}
#endif
