/* SPDX-License-Identifier: MIT */
/* What a trace tells of a training: who trains and who loads, its samples, steps and epochs. */
#ifndef DFT_EXPORT_DLIO_FACTS_H
#define DFT_EXPORT_DLIO_FACTS_H

#include "export/export_model.h"

/* Numbers are 0 where nothing was recorded. */
struct dft_dlio_facts {
    uint64_t trainers; /* processes with regions of epochs, steps or computing; else those that load */
    uint64_t loaders;  /* processes that read the data */
    uint64_t threads;  /* of them */
    uint64_t workers;  /* of each trainer at a time */
    int has_regions;   /* that say who trains */
    int is_torch, has_workers;
    struct dft_text trainer;        /* program of one */
    struct dft_text ending, folder; /* of the files with most of the data; without its dot */
    struct dft_text prefix;         /* of their names, up to a number */
    uint64_t files, file_bytes, file_stdev, file_min, file_max; /* file_bytes: sum; stdev: of one */
    uint64_t read_bytes, reads;                                 /* of these files */
    uint64_t transfer;                                          /* bytes of most reads */
    uint64_t epochs, passes;                                    /* passes: how often the files were read */
    uint64_t steps, samples;                                    /* of all trainers and epochs */
    uint64_t step_ns, compute_ns, data_ns;                      /* sums */
    uint64_t checkpoints;                                       /* of one trainer */
    uint64_t checkpoint_bytes;                                  /* of each */
    uint64_t other_files;                                       /* that were read, too */
};

/* The texts of files must be known. Returns 0, -ENOMEM, or -ENODATA: nothing was read. */
int dft_dlio_facts_find(struct dft_dlio_facts *facts, const struct dft_model *model);

#endif
