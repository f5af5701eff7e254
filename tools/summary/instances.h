/* SPDX-License-Identifier: MIT */
/* Instances of regions: each time that one was open, and the I/O meanwhile. */
#ifndef DFT_INSTANCES_H
#define DFT_INSTANCES_H

#include "summary/summary.h"

#define DFT_INSTANCES_MAX 100000u /* at most; the longest ones */
#define DFT_INSTANCE_ARGS 48u

struct dft_instance_sums {
    uint64_t calls, io_ns, wait_ns, read, written;
};

struct dft_instance {
    uint64_t start_ns, end_ns, call; /* Unix; name id of the region */
    uint32_t process, tid;
    uint32_t number;                /* of this region in its thread, from 1; 0: some were left out */
    char args[DFT_INSTANCE_ARGS];   /* "epoch 1, step 3" */
    struct dft_instance_sums own;   /* of calls of its thread that started while it was open */
    struct dft_instance_sums every; /* ... of all processes and threads */
};

struct dft_instances {
    struct dft_instance *list;
    size_t count, capacity;
    uint64_t found; /* of which the others were left out */
};

/* Collects the instances of regions that pass --region, and counts the calls that pass the other
 * filters. Waiting is time in calls of class wait but fork, and in regions that wait for data
 * (overlap.h). From events. Returns 0 or -ENOMEM. */
int dft_instances_collect(struct dft_instances *instances, struct dft_source *source, const struct dft_filter *filter);
void dft_instances_fini(struct dft_instances *instances);

/* `dftmerge summary --by instance`. Returns 0, -EINVAL (the options make no sense; stderr says why)
 * or -ENOMEM. */
int dft_summary_instances_check(const struct dft_summary *summary);
int dft_summary_instances(struct dft_summary *summary);

#endif
