/* SPDX-License-Identifier: MIT */
/* Prefix codes: Huffman's lengths, no longer than a table look-up can take, and canonical bits. */
#include "code.h"

#include <string.h>

#define KRAFT (1u << DFT_CODE_LENGTH) /* the sum of what a complete code's symbols take of the table */

static inline unsigned share(unsigned length)
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
    uint32_t leaves[DFT_CODE_SYMBOLS + 1], inner[DFT_CODE_SYMBOLS];
    uint8_t leaf_parents[DFT_CODE_SYMBOLS], parents[DFT_CODE_SYMBOLS], inner_depths[DFT_CODE_SYMBOLS];
    unsigned leaf = 0, first = 0;

    for (unsigned i = 0; i < n; i++)
        leaves[i] = sorted[i] >> 8;
    leaves[n] = inner[0] = UINT32_MAX; /* heavier than all */
    for (unsigned node = 0; node < n - 1; node++) {
        uint32_t weight = 0;

        for (int child = 0; child < 2; child++) {
            if (leaves[leaf] <= inner[first]) {
                weight += leaves[leaf];
                leaf_parents[leaf++] = (uint8_t)node;
            } else {
                weight += inner[first];
                parents[first++] = (uint8_t)node;
            }
        }
        inner[node] = weight;
        inner[node + 1] = UINT32_MAX;
    }
    inner_depths[n - 2] = 0;
    for (unsigned node = n - 2; node-- > 0;)
        inner_depths[node] = (uint8_t)(inner_depths[parents[node]] + 1);
    for (unsigned i = 0; i < n; i++)
        depths[i] = (uint8_t)(inner_depths[leaf_parents[i]] + 1);
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
    uint8_t depths[DFT_CODE_SYMBOLS];
    unsigned used = sort_symbols(counts, n, sorted);

    find_depths(sorted, used, depths);
    limit_depths(depths, used);
    memset(lengths, 0, n);
    for (unsigned i = 0; i < used; i++)
        lengths[sorted[i] & 255] = depths[i];
}

static unsigned reversed(unsigned code)
{
    static const uint8_t four[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

    return (unsigned)four[code & 15] << 4 | four[code >> 4];
}

/* Codes are places in a table that is shared out by length: their first bits, most significant
 * first. */
int dft_code_bits(const uint8_t *lengths, unsigned n, uint8_t *bits)
{
    unsigned taken[DFT_CODE_LENGTH + 1] = {0}, at = 0;

    for (unsigned symbol = 0; symbol < n; symbol++) {
        if (lengths[symbol] > DFT_CODE_LENGTH)
            return -1;
        taken[lengths[symbol]] += share(lengths[symbol]);
    }
    for (unsigned length = 1; length <= DFT_CODE_LENGTH; length++) {
        unsigned next = at + taken[length];

        taken[length] = at;
        at = next;
    }
    if (at != KRAFT)
        return -1;
    for (unsigned symbol = 0; symbol < n; symbol++) {
        unsigned length = lengths[symbol];

        bits[symbol] = (uint8_t)reversed(taken[length] % KRAFT);
        taken[length] += share(length);
    }
    return 0;
}
