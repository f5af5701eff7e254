/* SPDX-License-Identifier: MIT */
/* What a FILE tells about itself, read without its lock: where it stands, and how many bytes a call
 * moved. The fields used are those that the macros of <stdio.h> use, so they keep their place.
 *
 * With several threads on one stream what is read may not fit together: then what a call returned
 * is believed. */
#ifndef DFT_STREAM_H
#define DFT_STREAM_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

struct dft_call_args;
struct dft_open; /* fdtable.h */

/* The get area before a call, or the put area. */
struct dft_stream_mark {
    const char *at, *end, *base;
    int64_t left; /* bytes that a wide stream has converted, and not returned */
};

/* A pointer of a FILE, by a load of its own: two at once would wait for the store that the last
 * call made into one of them. */
#define DFT_STREAM_POINTER(stream, field) ((const char *)__atomic_load_n(&(stream)->_IO_##field, __ATOMIC_RELAXED))

void dft_stream_mark_wide(const FILE *stream, struct dft_stream_mark *mark);

static inline void dft_stream_mark(const FILE *stream, struct dft_stream_mark *mark)
{
    mark->at = stream ? DFT_STREAM_POINTER(stream, read_ptr) : NULL;
    mark->end = stream ? DFT_STREAM_POINTER(stream, read_end) : NULL;
    mark->base = stream ? DFT_STREAM_POINTER(stream, read_base) : NULL;
    if (stream && __builtin_expect(stream->_mode > 0, 0))
        dft_stream_mark_wide(stream, mark);
}

/* The same for a call that writes. */
void dft_stream_mark_written(const FILE *stream, struct dft_stream_mark *mark);

/* The flags of the open that fopen makes of a mode, and the permissions of a file that it may make. */
int dft_stream_flags(const char *mode);
#define DFT_STREAM_PERMISSIONS(flags) ((flags)&O_CREAT ? 0666u : 0)

/* Is it being written, not read? */
int dft_stream_is_written(const FILE *stream);

/* Is there something in its buffer, to be read or to be written? (Of wide streams that is not
 * known.) */
int dft_stream_is_filled(const FILE *stream);

/* The position of a stream, by its buffer and the kernel's offset; -1: not known (wide streams,
 * pipes). */
int64_t dft_stream_position(const FILE *stream);

/* Is its position the description's offset? That holds for reads of a file that is open for appending, too. */
int dft_stream_is_known(const FILE *stream, const struct dft_open *open);

/* Bytes that a call moved: how far the position went from the one that is known. `guess` where none
 * is. */
int64_t dft_stream_measure(const FILE *stream, const struct dft_open *open, int64_t guess);
/* The same for a reading call, by the get area before it, and for a call that writes `characters`, or
 * does not tell how many. */
int64_t dft_stream_guess(const FILE *stream, const struct dft_stream_mark *mark);
int64_t dft_stream_guess_written(const FILE *stream, const struct dft_stream_mark *mark, int64_t characters);

/* Takes over the position that the stream says it has: a call moved a part of an item. */
void dft_stream_resync(struct dft_open *open, const FILE *stream);

/* Length of the line that fgets left in the program's buffer, which may contain NULs. mark: the get area
 * before it; NULL: others moved the stream, too. */
int64_t dft_stream_line(const struct dft_open *open, const FILE *stream, const char *text, uint64_t size,
                        const struct dft_stream_mark *mark);

/* Bytes of wide characters in the encoding of the locale: `n` of them, or up to the NUL when n is
 * -1. */
int64_t dft_stream_wide(const wchar_t *text, long n);

#endif
