/* SPDX-License-Identifier: MIT */
/* What rules ask of places: kinds of calls, sums, the directory that most lies below. */
#include <string.h>

#include "findings/facts.h"
#include "format/ops.h"

enum dft_place_calls dft_place_kind(uint8_t op)
{
    switch (op) {
    case DFT_OP_OPEN:
    case DFT_OP_CLOSE:
    case DFT_OP_FOPEN:
    case DFT_OP_FCLOSE:
        return DFT_PLACE_OPENS;
    case DFT_OP_STAT:
        return DFT_PLACE_STATS;
    case DFT_OP_OPENDIR:
    case DFT_OP_READDIR:
    case DFT_OP_CLOSEDIR:
        return DFT_PLACE_LISTS;
    case DFT_OP_SEEK:
    case DFT_OP_FSEEK:
    case DFT_OP_FTELL:
        return DFT_PLACE_SEEKS;
    case DFT_OP_UNLINK:
        return DFT_PLACE_REMOVALS;
    case DFT_OP_RENAME:
        return DFT_PLACE_RENAMES;
    case DFT_OP_TRUNCATE:
        return DFT_PLACE_CUTS;
    case DFT_OP_ALLOCATE:
        return DFT_PLACE_GROWTHS;
    case DFT_OP_MKDIR:
    case DFT_OP_ATTRIBUTE:
    case DFT_OP_LINK:
        return DFT_PLACE_CHANGES;
    default:
        return DFT_PLACE_OTHERS;
    }
}

void dft_place_kind_add(struct dft_place_kind_sum *sum, const struct dft_place_kind_sum *more)
{
    sum->calls += more->calls;
    sum->time_ns += more->time_ns;
    sum->max_ns = more->max_ns > sum->max_ns ? more->max_ns : sum->max_ns;
}

void dft_place_kinds_of_run(const struct dft_facts *facts, struct dft_place_kind_sum kinds[DFT_PLACE_CALLS])
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];

    memset(kinds, 0, DFT_PLACE_CALLS * sizeof *kinds);
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_metrics *metrics = &calls->groups[i].metrics;

        if (calls->groups[i].key.class == DFT_IO_META && !dft_facets_err(calls->groups[i].key.facets))
            dft_place_kind_add(&kinds[dft_place_kind(calls->groups[i].key.op)],
                               &(struct dft_place_kind_sum){metrics->count, metrics->dur_sum, metrics->dur_max});
    }
}

int dft_place_is_of_large(const struct dft_facts *facts, const struct dft_place_kind_sum *calls)
{
    return calls->calls <= 2 * facts->places.large_files;
}

void dft_place_sum_add(struct dft_place_sum *sum, const struct dft_place_sum *more)
{
    sum->files += more->files;
    sum->max_ns = more->max_ns > sum->max_ns ? more->max_ns : sum->max_ns;
    sum->folded += more->folded;
    sum->calls += more->calls;
    sum->opens += more->opens;
    sum->bytes += more->bytes;
    sum->sizes += more->sizes;
    sum->time_ns += more->time_ns;
    sum->meta_ns += more->meta_ns;
}

uint64_t dft_place_sum_cost(const struct dft_place_sum *sum)
{
    return sum->max_ns <= sum->time_ns && sum->max_ns * 2 > sum->time_ns ? sum->time_ns - sum->max_ns : sum->time_ns;
}

/* --- the directory that most lies below --------------------------------------------------------- */

int dft_place_is_below(struct dft_text directory, struct dft_text above)
{
    if (!above.length || (above.length == 1 && *above.bytes == '/'))
        return directory.length && *directory.bytes == '/';
    return directory.length >= above.length && !memcmp(directory.bytes, above.bytes, above.length) &&
           (directory.length == above.length || directory.bytes[above.length] == '/');
}

static uint64_t number_of(const struct dft_file_place *place, size_t offset)
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

/* The candidate that a majority must be, as in a vote: what others have is taken from what it
 * has. */
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
