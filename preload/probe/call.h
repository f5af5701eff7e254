/* SPDX-License-Identifier: MIT */
/* What a wrapper knows about its call: the roles of its arguments, and what begin leaves for
 * end. */
#ifndef DFT_CALL_H
#define DFT_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "tables/fdtable.h"
#include "probe/stream.h"

/* What a new descriptor is on. */
enum dft_fd_kind { DFT_KIND_FILE, DFT_KIND_PIPE, DFT_KIND_SOCKET, DFT_KIND_OTHER };

/* The roles that calls.def gives to arguments. */
struct dft_call_args {
    int fd, dirfd, dirfd2;
    const char *path, *path2;
    FILE *stream;
    void *dir;
    uint64_t size, unit;
    int64_t offset;
    const struct iovec *iov;
    int iovcnt;
    int flags;
    mode_t mode;
    const char *fopen_mode;
    const char *text;
    int newline, character;
    const int *pair; /* two new descriptors */
    enum dft_fd_kind kind;
    int system;   /* works on no one file */
    int further;  /* the call has been recorded with another file: this one is added, and counts none */
    int run;      /* a call on characters, lines or formatted text: kept in runs */
    int unsized;  /* the call takes no size: that is the bytes that it moved */
    int measured; /* the bytes are how far the stream's position moved */
    const wchar_t *wide_text;
    int wide; /* `character` and `text` are wide ones */
    int returns_error, errno_tells;
    int opened;
    const char *folder;
    int target;
    const struct stat *status;
};

/* DFT_ARGS gives each role a value, and a row gives some of them another one. */
#pragma GCC diagnostic ignored "-Woverride-init"
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

#define DFT_NO_PATH ((const char *)1)
#define DFT_ARGS(...)                                                                                                  \
    {                                                                                                                  \
        .fd = -1, .dirfd = AT_FDCWD, .dirfd2 = AT_FDCWD, .path = DFT_NO_PATH, .path2 = DFT_NO_PATH, .offset = -1,      \
        .unit = 1, __VA_ARGS__                                                                                         \
    }

/* A call on paths, at its end: of its arguments those that such a call may have. */
struct dft_path_call {
    uint64_t start;
    int64_t result;
    const char *path, *path2, *fopen_mode, *folder;
    const void *caller; /* where the call returns to */
    uint64_t size;
    int64_t offset;
    int dirfd, dirfd2, flags;
    mode_t mode;
    int err;
    uint16_t call; /* enum dft_call_number */
    uint8_t op;    /* enum dft_op */
    uint8_t opens; /* the result is a new descriptor for the path */
    uint8_t opened, target, further;
};

/* Where a call with an offset of its own happens when it does not happen there. */
enum dft_effective_offset {
    DFT_EFFECTIVE_AS_GIVEN,
    DFT_EFFECTIVE_AT_DESCRIPTOR, /* offset -1 of preadv2 and pwritev2: as read and write */
    DFT_EFFECTIVE_AT_END         /* O_APPEND or RWF_APPEND */
};

#define DFT_NO_ERRNO (-0x64667472) /* nobody sets it: the call has not touched errno */

/* What begin leaves for end. */
struct dft_probe {
    uint64_t word;                 /* of the descriptor, before the call */
    const _Atomic uint64_t *place; /* where the word stands */
    struct dft_open *open;
    uint64_t file;
    uint32_t class; /* bits of its record's `call`: the class on its file */
    uint64_t start; /* ticks */
    int64_t offset; /* of the descriptor before the call; -1: not known */
    uint32_t started, finished;
    int asked;   /* the offset is the kernel's */
    int counted; /* of calls on streams: it has a ticket, because there are several threads */
    int fd;
    int error;       /* errno before the call, where it must be distinguished */
    int stale_error; /* the stream's error mark was set before: errno tells whether this call failed */
    enum dft_effective_offset effective;
    struct dft_stream_mark mark; /* of calls whose bytes the stream tells */
    struct dft_inlined *inlined; /* of calls on streams */
};

#endif
