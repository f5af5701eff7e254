/* SPDX-License-Identifier: MIT */
/* From tables to the bytes of a page. */
#include "report/report_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"

#define VERSION 1u
#define DATA    "id=\"dftrace-data\">"
#define LIVE    "name=\"dftrace-live\" content=\""

/* report_template.S: built/report.html of the folder report, without an end. */
extern const char dft_report_template[], dft_report_template_end[];

/* What comes before the columns. From malloc; NULL: no memory. */
static char *make_head(char *const *heads, unsigned count, size_t *length)
{
    char *head = NULL;
    FILE *out = open_memstream(&head, length);

    if (!out)
        return NULL;
    fprintf(out, "{\"version\":%u,\"made\":\"dftmerge %s\",\"runs\":[", VERSION, DFT_VERSION);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? "," : "", heads[i]);
    fputs("]}", out);
    if (fclose(out)) {
        free(head);
        return NULL;
    }
    return head;
}

struct squeezing {
    z_stream stream;
    unsigned char *bytes;
    size_t count, capacity;
};

/* Compresses some bytes more. Returns 0 or -ENOMEM. */
static int squeeze(struct squeezing *squeezing, const void *bytes, size_t length, int flush)
{
    z_stream *stream = &squeezing->stream;
    int state = Z_OK;

    stream->next_in = (unsigned char *)(uintptr_t)bytes;
    do {
        stream->avail_in = length < (1u << 30) ? (uInt)length : 1u << 30;
        length -= stream->avail_in;
        do {
            if (DFT_ARRAY_RESERVE(squeezing->bytes, squeezing->capacity, squeezing->count + 65536))
                return -ENOMEM;
            stream->next_out = squeezing->bytes + squeezing->count;
            stream->avail_out = 65536;
            state = deflate(stream, length ? Z_NO_FLUSH : flush);
            squeezing->count += 65536 - stream->avail_out;
        } while (!stream->avail_out && state == Z_OK);
    } while (length);
    return state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR ? 0 : -ENOMEM;
}

int dft_report_compress(const struct dft_report *reports, char *const *heads, unsigned count, unsigned char **bytes,
                        size_t *length)
{
    struct squeezing squeezing = {.count = 0};
    size_t n = 0;
    char *head = make_head(heads, count, &n);
    uint32_t start[3] = {0, VERSION, (uint32_t)n};
    int rc = -ENOMEM;

    memcpy(start, "DFTR", 4);
    if (head && deflateInit(&squeezing.stream, 6) == Z_OK) {
        rc = squeeze(&squeezing, start, sizeof start, Z_NO_FLUSH);
        if (!rc)
            rc = squeeze(&squeezing, head, n, Z_NO_FLUSH);
        for (unsigned i = 0; i < count && !rc; i++)
            rc = squeeze(&squeezing, reports[i].data.bytes, reports[i].data.count, Z_NO_FLUSH);
        if (!rc)
            rc = squeeze(&squeezing, "", 0, Z_FINISH);
        deflateEnd(&squeezing.stream);
    }
    free(head);
    if (rc)
        free(squeezing.bytes);
    *bytes = rc ? NULL : squeezing.bytes;
    *length = squeezing.count;
    return rc;
}

static void put_base64(FILE *out, const unsigned char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4096];
    size_t n = 0;

    for (size_t i = 0; i < length; i += 3) {
        uint32_t word = (uint32_t)bytes[i] << 16 | (i + 1 < length ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (i + 2 < length ? bytes[i + 2] : 0);

        text[n++] = digits[word >> 18];
        text[n++] = digits[word >> 12 & 63];
        text[n++] = i + 1 < length ? digits[word >> 6 & 63] : '=';
        text[n++] = i + 2 < length ? digits[word & 63] : '=';
        if (n == sizeof text || i + 3 >= length) {
            fwrite(text, 1, n, out);
            n = 0;
        }
    }
}

/* Writes the template from *at to behind the mark. A template without the mark is written whole. */
static void put_until(FILE *out, const char **at, const char *mark)
{
    const char *found = memmem(*at, (size_t)(dft_report_template_end - *at), mark, strlen(mark));
    const char *to = found ? found + strlen(mark) : dft_report_template_end;

    fwrite(*at, 1, (size_t)(to - *at), out);
    *at = to;
}

void dft_report_page(FILE *out, const char *live, const unsigned char *bytes, size_t length)
{
    const char *at = dft_report_template;

    put_until(out, &at, LIVE);
    if (live)
        fputs(live, out);
    put_until(out, &at, DATA);
    put_base64(out, bytes, length);
    fwrite(at, 1, (size_t)(dft_report_template_end - at), out);
}
