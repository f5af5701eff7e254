/* SPDX-License-Identifier: MIT */
/* The directory that most of a number lies below. */
#include <string.h>

#include "findings/places.h"

int dft_place_is_below(struct dft_text directory, struct dft_text above)
{
    if (!above.length || (above.length == 1 && *above.bytes == '/'))
        return directory.length && *directory.bytes == '/';
    return directory.length >= above.length && !memcmp(directory.bytes, above.bytes, above.length) &&
           (directory.length == above.length || directory.bytes[above.length] == '/');
}

static uint64_t number_of(const struct dft_place *place, size_t offset)
{
    uint64_t number;

    memcpy(&number, (const char *)place + offset, sizeof number);
    return number;
}

/* What lies below, or in, a directory. */
static uint64_t sum_below(const struct dft_places *dirs, size_t offset, struct dft_text above)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < dirs->count; i++)
        if (dirs->list[i].text.length && dft_place_is_below(dirs->list[i].text, above))
            sum += number_of(&dirs->list[i], offset);
    return sum;
}

/* The first part of a directory that is one component deeper. Returns 0: there is none. */
static int go_deeper(struct dft_text directory, uint32_t length, struct dft_text *deeper)
{
    const char *slash;

    if (directory.length <= length || directory.length == 1)
        return 0;
    slash = memchr(directory.bytes + length + 1, '/', directory.length - length - 1);
    *deeper = (struct dft_text){directory.bytes, slash ? (uint32_t)(slash - directory.bytes) : directory.length};
    return 1;
}

/* The candidate that a majority must be, as in a vote: what others have is taken from what it has. */
static struct dft_text vote(const struct dft_places *dirs, size_t offset, struct dft_text above)
{
    struct dft_text leader = {NULL, 0};
    uint64_t lead = 0;

    for (size_t i = 0; i < dirs->count; i++) {
        uint64_t number = number_of(&dirs->list[i], offset);
        struct dft_text deeper;

        if (!number || !dft_place_is_below(dirs->list[i].text, above) ||
            !go_deeper(dirs->list[i].text, above.length, &deeper))
            continue;
        if (leader.bytes && deeper.length == leader.length && !memcmp(deeper.bytes, leader.bytes, leader.length)) {
            lead += number;
        } else if (number > lead) {
            lead = number - lead;
            leader = deeper;
        } else {
            lead -= number;
        }
    }
    return leader;
}

struct dft_text dft_places_common(const struct dft_places *dirs, size_t offset)
{
    struct dft_text common = {"", 0};
    uint64_t all = sum_below(dirs, offset, common);

    for (;;) {
        struct dft_text next = vote(dirs, offset, common);

        if (!next.length || sum_below(dirs, offset, next) < all / 5 * 4)
            return common.length ? common : (struct dft_text){"/", 1};
        common = next;
    }
}
