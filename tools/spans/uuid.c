/* SPDX-License-Identifier: MIT */
/* UUIDs made from names: SHA-1 (RFC 3174) over a name space of ours and the names. */
#include "spans/uuid.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 64u

struct digest {
    uint32_t state[5];
    uint64_t length;
    uint8_t block[BLOCK];
};

static uint32_t rotated(uint32_t value, unsigned by)
{
    return value << by | value >> (32 - by);
}

static void expand(const uint8_t *block, uint32_t words[80])
{
    for (unsigned i = 0; i < 16; i++, block += 4)
        words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (unsigned i = 16; i < 80; i++)
        words[i] = rotated(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
}

static void take_block(struct digest *digest)
{
    uint32_t words[80], *s = digest->state, a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];

    expand(digest->block, words);
    for (unsigned i = 0; i < 80; i++) {
        uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                         : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                         : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                  : (b ^ c ^ d) + 0xca62c1d6u;
        uint32_t next = rotated(a, 5) + mixed + e + words[i];

        e = d;
        d = c;
        c = rotated(b, 30);
        b = a;
        a = next;
    }
    s[0] += a;
    s[1] += b;
    s[2] += c;
    s[3] += d;
    s[4] += e;
}

static void add(struct digest *digest, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    while (length) {
        size_t used = digest->length % BLOCK, n = BLOCK - used < length ? BLOCK - used : length;

        memcpy(digest->block + used, at, n);
        digest->length += n;
        at += n;
        length -= n;
        if (digest->length % BLOCK == 0)
            take_block(digest);
    }
}

static void finish(struct digest *digest, uint8_t bytes[20])
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = digest->length * 8;
    uint8_t length[8];

    for (unsigned i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    add(digest, padding, 1 + (BLOCK + 55 - digest->length % BLOCK) % BLOCK);
    add(digest, length, sizeof length);
    for (unsigned i = 0; i < 20; i++)
        bytes[i] = (uint8_t)(digest->state[i / 4] >> (24 - 8 * (i % 4)));
}

static void digest_names(uint8_t bytes[20], const struct dft_text *names, size_t count)
{
    static const uint8_t space[16] = {0x5c, 0x0b, 0x2a, 0x6e, 0x91, 0x3d, 0x4f, 0x7a,
                                      0x8e, 0x26, 0xd4, 0x17, 0x63, 0xb8, 0xf0, 0x92};
    struct digest digest = {.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};

    add(&digest, space, sizeof space);
    for (size_t i = 0; i < count; i++) {
        uint8_t length[4] = {(uint8_t)(names[i].length >> 24), (uint8_t)(names[i].length >> 16),
                             (uint8_t)(names[i].length >> 8), (uint8_t)names[i].length};

        add(&digest, length, sizeof length);
        add(&digest, names[i].bytes, names[i].length);
    }
    finish(&digest, bytes);
}

static void write_text(struct dft_uuid *uuid, uint8_t bytes[20], unsigned version)
{
    static const char digits[] = "0123456789abcdef";
    char *out = uuid->text;

    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | version << 4);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

void dft_uuid_of(struct dft_uuid *uuid, const struct dft_text *names, size_t count)
{
    uint8_t bytes[20];

    digest_names(bytes, names, count);
    write_text(uuid, bytes, 5);
}

void dft_uuid_at(struct dft_uuid *uuid, int64_t ns, const struct dft_text *names, size_t count)
{
    uint64_t ms = (uint64_t)ns / 1000000;
    uint8_t bytes[20];

    digest_names(bytes, names, count);
    for (unsigned i = 0; i < 6; i++)
        bytes[i] = (uint8_t)(ms >> (40 - 8 * i));
    write_text(uuid, bytes, 8);
}
