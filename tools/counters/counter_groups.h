/* SPDX-License-Identifier: MIT */
/* Counters put together by process, rank or host. */
#ifndef DFT_COUNTER_GROUPS_H
#define DFT_COUNTER_GROUPS_H

#include "views/source_counters.h"

enum dft_counter_by { DFT_COUNTER_BY_PROCESS, DFT_COUNTER_BY_RANK, DFT_COUNTER_BY_HOST, DFT_COUNTER_BYS };

/* A line of the answer. For several processes: `first`, `last` and `change` are sums, `least` and `most`
 * are of a single sample. */
struct dft_counter_group {
    struct dft_text category, name;
    const struct dft_source_process *process; /* one of the group; its keys are those of the group */
    uint8_t unit, kind, real;
    uint32_t processes;
    uint64_t samples, first_ns, last_ns;
    dft_counter_value first, last, least, most, sum, change;
    double over_time[DFT_COUNTER_BINS]; /* level, or growth a second; negative: not known */
};

struct dft_counter_groups {
    struct dft_counter_group *list; /* by category, name, keys */
    size_t count;
    unsigned by[DFT_COUNTER_BYS], nby;
};

/* The keys of a text "rank,host". Returns 0, or -EINVAL and the word that is none. */
int dft_counter_groups_parse(struct dft_counter_groups *groups, const char *text, const char **wrong);
const char *dft_counter_by_name(enum dft_counter_by by);
/* Returns 0 or -ENOMEM. */
int dft_counter_groups_make(struct dft_counter_groups *groups, const struct dft_source *source,
                            const struct dft_counter_facts *facts);
void dft_counter_groups_fini(struct dft_counter_groups *groups);

/* The mean growth a second of a total, the mean of the samples of a level. 0 where there is none. */
dft_counter_value dft_counter_group_mean(const struct dft_counter_group *group);

/* Output. */
void dft_counters_json(const struct dft_counter_groups *groups, struct dft_source *source, int csv);
int dft_counters_text(const struct dft_counter_groups *groups);

#endif
