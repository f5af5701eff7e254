/* SPDX-License-Identifier: MIT */
/* Prefix codes: Huffman's lengths, no longer than a table look-up can take, and canonical bits. */
#include "code.h"

#include <string.h>

#define KRAFT (1u << DFT_CODE_LENGTH) /* the sum of what a complete code's symbols take of the table */

static unsigned share(unsigned length)
{
    return KRAFT >> length;
}

/* Symbols in use, rarest first, as count << 8 | symbol. Returns their number. */
static unsigned sort_symbols(const uint16_t *counts, unsigned n, uint32_t *sorted)
{
    unsigned used = 0;

    for (unsigned symbol = 0; symbol < n; symbol++) {
        uint32_t one = (uint32_t)counts[symbol] << 8 | symbol;
        unsigned at = used;

        if (!counts[symbol])
            continue;
        for (; at && sorted[at - 1] > one; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = one;
        used++;
    }
    return used;
}

/* Huffman's tree over sorted leaves: inner nodes are made lightest first, so that two queues do for
 * a heap (J. van Leeuwen, 1976). Gives the depth of each leaf. n > 1. */
static void find_depths(const uint32_t *sorted, unsigned n, uint8_t *depths)
{
    uint32_t weights[2 * DFT_CODE_SYMBOLS];
    uint8_t parents[2 * DFT_CODE_SYMBOLS];
    unsigned leaf = 0, inner = n;

    for (unsigned i = 0; i < n; i++)
        weights[i] = sorted[i] >> 8;
    for (unsigned node = n; node < 2 * n - 1; node++) {
        weights[node] = 0;
        for (int child = 0; child < 2; child++) {
            unsigned lightest = leaf < n && (inner == node || weights[leaf] <= weights[inner]) ? leaf++ : inner++;

            weights[node] += weights[lightest];
            parents[lightest] = (uint8_t)node;
        }
    }
    depths[2 * n - 2] = 0;
    for (unsigned node = 2 * n - 2; node-- > 0;)
        depths[node] = (uint8_t)(depths[parents[node]] + 1);
}

/* Cuts what is too long, makes room for it by longer codes of rare symbols, and gives frequent ones
 * what is over. */
static void limit_depths(uint8_t *depths, unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++) {
        if (depths[i] > DFT_CODE_LENGTH)
            depths[i] = DFT_CODE_LENGTH;
        sum += share(depths[i]);
    }
    for (unsigned i = 0; sum > KRAFT; i++)
        for (; sum > KRAFT && depths[i] < DFT_CODE_LENGTH; depths[i]++)
            sum -= share(depths[i]) / 2;
    while (sum < KRAFT)
        for (unsigned i = n; i-- > 0;)
            for (; sum + share(depths[i]) <= KRAFT; depths[i]--)
                sum += share(depths[i]);
}

void dft_code_lengths(const uint16_t *counts, unsigned n, uint8_t *lengths)
{
    uint32_t sorted[DFT_CODE_SYMBOLS];
    uint8_t depths[2 * DFT_CODE_SYMBOLS];
    unsigned used = sort_symbols(counts, n, sorted);

    find_depths(sorted, used, depths);
    limit_depths(depths, used);
    memset(lengths, 0, n);
    for (unsigned i = 0; i < used; i++)
        lengths[sorted[i] & 255] = depths[i];
}

/* The next code of that length, first bit lowest: one is added at the last bit, and carries go
 * towards the first. */
static unsigned next_code(unsigned code, unsigned length)
{
    unsigned bit = 1u << (length - 1);

    for (; code & bit; bit >>= 1)
        code ^= bit;
    return code | bit;
}

int dft_code_bits(const uint8_t *lengths, unsigned n, uint8_t *bits)
{
    unsigned starts[DFT_CODE_LENGTH + 2] = {0}, sum = 0, code = 0;
    uint8_t order[DFT_CODE_SYMBOLS];

    for (unsigned symbol = 0; symbol < n; symbol++) {
        if (lengths[symbol] > DFT_CODE_LENGTH)
            return -1;
        starts[lengths[symbol] + 1]++;
        sum += lengths[symbol] ? share(lengths[symbol]) : 0;
    }
    if (sum != KRAFT)
        return -1;
    for (unsigned length = 1; length <= DFT_CODE_LENGTH; length++)
        starts[length + 1] += starts[length];
    for (unsigned symbol = 0; symbol < n; symbol++)
        order[starts[lengths[symbol]]++] = (uint8_t)symbol;
    for (unsigned i = starts[0]; i < n; i++) { /* those that are not in use come first */
        bits[order[i]] = (uint8_t)code;
        code = next_code(code, lengths[order[i]]);
    }
    return 0;
}
