/* SPDX-License-Identifier: MIT */
/* Where records for PerfFlowAspect go: the files of processes, and the list of records that wait
 * for their time. */
#ifndef DFT_EXPORT_PERFFLOW_FILES_H
#define DFT_EXPORT_PERFFLOW_FILES_H

#include "export/exporting.h"

/* Where the records of a process go. */
struct dft_perfflow_sink {
    char *path; /* NULL: the exporter's stream */
    char *buffer;
    size_t used;
    char options[512];
    int compact, object, begun;
};

struct dft_perfflow_waiting {
    uint64_t ns, start_ns, order;
    uint32_t sink;
    char *line;
};

struct dft_perfflow {
    struct dft_export *export;
    const char *directory;
    /* by process number; one sink when all processes go into one file */
    struct dft_perfflow_sink *sinks;
    uint32_t nsinks;
    struct dft_perfflow_waiting *waiting; /* the next record to write stands last */
    size_t nwaiting, capacity;
    uint64_t order;
    int error;
};

/* The value of an option that PERFFLOW_OPTIONS gave to the process. */
int dft_perfflow_option(const struct dft_perfflow_sink *sink, const char *name, char *value, size_t capacity);
/* The path of a process's file; NULL: no memory. */
char *dft_perfflow_name(const struct dft_perfflow *p, const struct dft_perfflow_sink *sink,
                        const struct dft_process *process);

/* Makes a record wait for its time. The record is from malloc, and the function takes ownership.
 * Among records of one time, the record of the event that began later comes first. Errors stay in
 * p->error. */
void dft_perfflow_wait(struct dft_perfflow *p, uint32_t sink, uint64_t ns, uint64_t start_ns, char *line);
/* Writes all records up to this time. */
void dft_perfflow_let_go(struct dft_perfflow *p, uint64_t until_ns);
/* Ends the files. */
void dft_perfflow_finish(struct dft_perfflow *p);

#endif
