/* SPDX-License-Identifier: MIT */
/* The buffers of all threads: a small file in memory, mapped many times in a row. */
#include "replay/replay_buffers.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define CORE_BYTES ((size_t)2 << 20)
#define PAGE_BYTES ((size_t)65536) /* at least a page of any machine */

static char *pattern, *sink;

/* Maps CORE_BYTES again and again, and an empty page behind. Returns NULL with errno. */
static char *map_core(int fd)
{
    char *at = mmap(NULL, DFT_REPLAY_PIECE + PAGE_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < DFT_REPLAY_PIECE; i += CORE_BYTES)
        if (mmap(at + i, CORE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
            return NULL;
    return at;
}

static char *make(void)
{
    int fd = memfd_create("dftmerge-replay", MFD_CLOEXEC);
    char *at = fd < 0 || ftruncate(fd, (off_t)CORE_BYTES) ? NULL : map_core(fd);
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return at;
}

/* xorshift64*: a byte of each step. */
static void fill(char *bytes)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; i < CORE_BYTES; i++) {
        unsigned char byte;

        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        byte = (unsigned char)(state * UINT64_C(0x2545f4914f6cdd1d) >> 56);
        bytes[i] = (char)(byte && byte != '\n' ? byte : 'x');
    }
}

int dft_replay_buffers_make(void)
{
    pattern = pattern ? pattern : make();
    sink = sink ? sink : make();
    if (!pattern || !sink)
        return -errno;
    fill(pattern);
    return 0;
}

const char *dft_replay_pattern(void)
{
    return pattern;
}

char *dft_replay_sink(void)
{
    return sink;
}
