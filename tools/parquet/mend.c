/* SPDX-License-Identifier: MIT */
/* Texts as UTF-8; see mend.h. */
#include "parquet/mend.h"

#include "base/write_line.h"

#define HIGHS UINT64_C(0x8080808080808080)

/* Bytes of ASCII at the beginning. */
static size_t ascii(const char *bytes, size_t length)
{
    size_t at = 0;

    while (at + 8 <= length && !(dft_load64(bytes + at) & HIGHS))
        at += 8;
    while (at < length && (unsigned char)bytes[at] < 0x80)
        at++;
    return at;
}

int dft_parquet_is_utf8(const char *bytes, size_t length)
{
    size_t at = ascii(bytes, length), step;

    for (; at < length; at += step + ascii(bytes + at + step, length - at - step)) {
        step = dft_utf8_length(bytes + at, length - at);
        if (!step)
            return 0;
    }
    return 1;
}

void dft_parquet_mend(struct dft_bytes *out, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t plain = ascii(bytes + at, length - at), step;

        dft_bytes_put(out, bytes + at, plain);
        at += plain;
        if (at == length)
            return;
        step = dft_utf8_length(bytes + at, length - at);
        if (step)
            dft_bytes_put(out, bytes + at, step);
        else
            dft_bytes_put(out, "\xef\xbf\xbd", 3);
        at += step ? step : 1;
    }
}
