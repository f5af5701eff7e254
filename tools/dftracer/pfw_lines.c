/* SPDX-License-Identifier: MIT */
/* Reading and inflating: members that fit into memory at once (pfw_member.c), others as a stream,
 * by zlib.
 *
 * A damaged or cut member is a stream, too: its text is used up to the damage. The search goes on
 * at the next bytes that look like the head of a member. */
#include "dftracer/pfw_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/open_regular.h"
#include "dftracer/pfw.h"
#include "dftracer/pfw_record.h"
#include "dftracer/pfw_member.h"

#define INPUT_BYTES ((size_t)128 << 10)
#define TEXT_BYTES  ((size_t)512 << 10)

struct dft_lines_inside {
    int fd;
    uint64_t bytes; /* of the file, when it was opened */
    int at_end;     /* of the file */
    int in_member;  /* zlib is in the middle of one */
    int long_members;
    uint8_t *input;
    size_t input_at, input_end;
    char *text;
    size_t capacity;
    struct dft_member member;
    size_t member_bytes; /* of the last one inflated at once */
    z_stream zlib;
    int zlib_ready;
};

static const char *const reasons[] = {"the compressed data are cut short", "the compressed data are damaged",
                                      "there are other bytes behind the compressed data"};
enum { CUT, DAMAGED, OTHER_BYTES };

static void wrong(struct dft_lines *lines, int reason)
{
    if (!lines->reason)
        lines->reason = reasons[reason];
}

const char *dft_pfw_reason(const char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (length == strlen(reasons[i]) && !memcmp(bytes, reasons[i], length))
            return reasons[i];
    return length ? "the compressed data are not whole" : NULL;
}

/* Passes over a hole, which would be read as zeros for a long time. It counts as a line that is none. Returns
 * whether there was one. */
static int pass_hole(struct dft_lines *lines)
{
    uint64_t at = lines->bytes_read,
             data = at < lines->inside->bytes ? dft_data_from(lines->inside->fd, at, lines->inside->bytes) : at;

    if (data == at || lseek(lines->inside->fd, (off_t)data, SEEK_SET) < 0)
        return 0;
    lines->bytes_read = data;
    lines->too_long++;
    return 1;
}

/* The end of a line stands for a hole. */
static int read_some(struct dft_lines *lines, void *to, size_t capacity, size_t *got)
{
    ssize_t n;

    if (capacity && pass_hole(lines)) {
        *(char *)to = '\n';
        *got = 1;
        return 0;
    }
    do
        n = read(lines->inside->fd, to, capacity);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    *got = (size_t)n;
    lines->bytes_read += (uint64_t)n;
    lines->inside->at_end = !n;
    return 0;
}

/* Makes at least `wanted` bytes of input available, unless the file ends. */
static int need_input(struct dft_lines *lines, size_t wanted)
{
    struct dft_lines_inside *in = lines->inside;
    int rc = 0;

    if (in->input_at && in->input_end - in->input_at < wanted) {
        memmove(in->input, in->input + in->input_at, in->input_end - in->input_at);
        in->input_end -= in->input_at;
        in->input_at = 0;
    }
    while (!rc && !in->at_end && in->input_end - in->input_at < wanted) {
        size_t got = 0, capacity = wanted < INPUT_BYTES ? INPUT_BYTES : DFT_MEMBER_INPUT_MAX;

        rc = read_some(lines, in->input + in->input_end, capacity - in->input_end, &got);
        in->input_end += got;
    }
    return rc;
}

/* --- members ---------------------------------------------------------------------------------- */

static int begin_stream(struct dft_lines_inside *in)
{
    if (in->zlib_ready ? inflateReset(&in->zlib) != Z_OK : inflateInit2(&in->zlib, 15 + 16) != Z_OK)
        return -ENOMEM;
    in->zlib_ready = 1;
    in->in_member = 1;
    return 0;
}

/* Inflates the next member at once, with `wanted` bytes of input to begin with. Returns 0, or
 * -errno as dft_member_inflate. */
static int inflate_member(struct dft_lines *lines, size_t wanted)
{
    struct dft_lines_inside *in = lines->inside;
    size_t used;
    int rc = need_input(lines, wanted);

    if (!rc)
        rc = dft_member_inflate(&in->member, in->input + in->input_at, in->input_end - in->input_at, in->at_end, &used);
    if (rc)
        return rc;
    in->input_at += used;
    in->member_bytes = used;
    return 0;
}

/* Makes the text of the next member available: at once, or as a stream. Returns 0 or -errno. */
static int begin_member(struct dft_lines *lines)
{
    struct dft_lines_inside *in = lines->inside;
    size_t wanted =
        in->member_bytes && in->member_bytes < DFT_MEMBER_INPUT_MAX / 2 ? 2 * in->member_bytes : DFT_MEMBER_INPUT_MAX;
    int rc;

    if (in->long_members)
        return begin_stream(in);
    rc = inflate_member(lines, wanted);
    if (rc == -EBADMSG && !in->at_end && wanted < DFT_MEMBER_INPUT_MAX)
        rc = inflate_member(lines, DFT_MEMBER_INPUT_MAX);
    in->long_members = rc == -ENOSPC || (rc == -EBADMSG && !in->at_end);
    return rc == -ENOSPC || rc == -EBADMSG || rc == -ENOMEM ? begin_stream(in) : rc;
}

/* Inflates into the room. Returns 0: go on, 1: the member is whole, -1: its data make no sense. */
static int inflate_some(struct dft_lines_inside *in, char *to, size_t capacity, size_t *got)
{
    uint8_t *input = in->input + in->input_at;
    z_stream *state = &in->zlib;
    int rc;

    state->next_in = input;
    state->avail_in = (uInt)(in->input_end - in->input_at);
    state->next_out = (Bytef *)to;
    state->avail_out = (uInt)capacity;
    rc = inflate(state, Z_NO_FLUSH);
    in->input_at += (size_t)(state->next_in - input);
    *got = capacity - state->avail_out;
    return rc == Z_STREAM_END ? 1 : rc == Z_OK || rc == Z_BUF_ERROR ? 0 : -1;
}

static int is_head(const uint8_t *at)
{
    return at[0] == 0x1f && at[1] == 0x8b && at[2] == 8 && !(at[3] & 0xe0);
}

/* Finds the head of the next member. Zeros between members are let pass. */
static int next_member(struct dft_lines *lines, int *found)
{
    struct dft_lines_inside *in = lines->inside;
    int rc;

    *found = 0;
    while (!(rc = need_input(lines, 4)) && in->input_end - in->input_at >= 4) {
        if (is_head(in->input + in->input_at)) {
            *found = 1;
            return begin_member(lines);
        }
        if (in->input[in->input_at])
            wrong(lines, OTHER_BYTES);
        in->input_at++;
    }
    return rc;
}

static int inflate_more(struct dft_lines *lines, char *to, size_t capacity, size_t *got)
{
    struct dft_lines_inside *in = lines->inside;
    int rc, found, state;

    *got = 0;
    while (!*got) {
        *got = dft_member_copy(&in->member, to, capacity);
        if (*got)
            return 0;
        if (!in->in_member) {
            rc = next_member(lines, &found);
            if (rc || !found)
                return rc;
            if (!in->in_member)
                continue;
        }
        rc = need_input(lines, 1);
        if (rc)
            return rc;
        state =
            inflate_some(in, to, capacity, got); /* also without input: it may hold text for which there was no room */
        if (!state && !*got && in->input_at == in->input_end && in->at_end) {
            wrong(lines, CUT);
            in->in_member = 0;
            return 0;
        }
        if (state)
            in->in_member = 0;
        if (state < 0)
            wrong(lines, DAMAGED);
    }
    return 0;
}

/* --- text ------------------------------------------------------------------------------------- */

static int more_text(struct dft_lines *lines, char *to, size_t capacity, size_t *got)
{
    struct dft_lines_inside *in = lines->inside;
    size_t n = in->input_end - in->input_at;

    if (lines->gzipped)
        return inflate_more(lines, to, capacity, got);
    if (!n)
        return read_some(lines, to, capacity, got);
    n = n < capacity ? n : capacity; /* what was read to see what kind of file it is */
    memcpy(to, in->input + in->input_at, n);
    in->input_at += n;
    *got = n;
    return 0;
}

static int grow(struct dft_lines_inside *in)
{
    char *bigger = realloc(in->text, 2 * in->capacity + DFT_PFW_PADDING);

    if (!bigger)
        return -ENOMEM;
    in->text = bigger;
    in->capacity *= 2;
    return 0;
}

const char *dft_lines_fill(struct dft_lines *lines, int *error)
{
    struct dft_lines_inside *in = lines->inside;
    size_t kept = (size_t)(lines->end - lines->at), got = 0;
    int passing = 0;

    memmove(in->text, lines->at, kept);
    for (;;) {
        char *end;

        if (kept == in->capacity && in->capacity >= DFT_LINE_MAX) {
            passing = 1;
            kept = 0;
        } else if (kept == in->capacity && (*error = grow(in))) {
            return NULL;
        }
        *error = more_text(lines, in->text + kept, in->capacity - kept, &got);
        if (*error)
            return NULL;
        end = memchr(in->text + kept, '\n', got);
        lines->at = in->text;
        lines->end = in->text + kept + got;
        if (!got) {
            in->text[kept] = '\n'; /* so that what stands behind the last line is the same as behind others */
            lines->torn |= kept > 0;
            lines->too_long += (uint64_t)passing;
            return kept && !passing ? lines->end : NULL;
        }
        if (end && passing) {
            passing = 0;
            lines->too_long++;
            lines->number++;
            kept = (size_t)(lines->end - end - 1);
            memmove(in->text, end + 1, kept);
            end = memchr(in->text, '\n', kept);
            lines->end = in->text + kept;
        } else {
            kept += got;
        }
        if (end)
            return end;
        kept = passing ? 0 : kept;
    }
}

int dft_lines_open(struct dft_lines *lines, const char *path)
{
    struct dft_lines_inside *in = calloc(1, sizeof *in);
    struct stat st;
    int rc;

    memset(lines, 0, sizeof *lines);
    lines->inside = in;
    if (!in)
        return -ENOMEM;
    in->fd = dft_open_regular(path, O_RDONLY, &st);
    if (in->fd < 0) {
        rc = in->fd;
        dft_lines_close(lines);
        return rc;
    }
    in->bytes = (uint64_t)st.st_size;
    in->capacity = TEXT_BYTES;
    in->input = malloc(DFT_MEMBER_INPUT_MAX);
    in->text = malloc(TEXT_BYTES + DFT_PFW_PADDING);
    rc = in->input && in->text ? need_input(lines, 4) : -ENOMEM;
    if (rc) {
        dft_lines_close(lines);
        return rc;
    }
    lines->gzipped = in->input_end >= 2 && in->input[0] == 0x1f && in->input[1] == 0x8b;
    lines->at = lines->end = in->text;
    return 0;
}

void dft_lines_close(struct dft_lines *lines)
{
    struct dft_lines_inside *in = lines->inside;

    if (!in)
        return;
    if (in->zlib_ready)
        inflateEnd(&in->zlib);
    dft_member_fini(&in->member);
    if (in->fd >= 0)
        close(in->fd);
    free(in->input);
    free(in->text);
    free(in);
    lines->inside = NULL;
}
