/* SPDX-License-Identifier: MIT */
/* CRC32C (Castagnoli, as in RFC 3720), by the processor's instruction where it has one. */
#include "format/crc32c.h"

#include "format/crc32c.h"
#include "crc32c_table.h"
#include "format/leb128.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

uint32_t dft_crc32c_by_table(uint32_t crc, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    crc = ~crc;
    for (size_t i = 0; i < length; i++)
        crc = crc >> 8 ^ crc32c_of_byte[(crc ^ at[i]) & 255];
    return ~crc;
}

#if defined(__x86_64__)

static int ask_processor(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t length)
{
    uint64_t sum = ~crc;

    for (; length >= 8; length -= 8, at += 8)
        sum = __builtin_ia32_crc32di(sum, dft_load64(at));
    crc = (uint32_t)sum;
    for (; length; length--)
        crc = __builtin_ia32_crc32qi(crc, *at++);
    return ~crc;
}

#elif defined(__aarch64__)

static int ask_processor(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

__attribute__((target("+crc"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t length)
{
    crc = ~crc;
    for (; length >= 8; length -= 8, at += 8)
        crc = __crc32cd(crc, dft_load64(at));
    for (; length; length--)
        crc = __crc32cb(crc, *at++);
    return ~crc;
}

#else

static int ask_processor(void)
{
    return 0;
}

static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t length)
{
    return dft_crc32c_by_table(crc, at, length);
}

#endif

static int known; /* atomic: 0 not queried yet, 1 no, 2 yes */

void dft_crc32c_use(int instruction)
{
    __atomic_store_n(&known, instruction ? 2 : 1, __ATOMIC_RELAXED);
}

/* Threads that ask at the same time get the same answer. */
static int have_instruction(void)
{
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (!answer) {
        answer = ask_processor() ? 2 : 1;
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer == 2;
}

uint32_t dft_crc32c(uint32_t crc, const void *bytes, size_t length)
{
    return have_instruction() ? by_instruction(crc, bytes, length) : dft_crc32c_by_table(crc, bytes, length);
}
