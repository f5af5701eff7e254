/* SPDX-License-Identifier: MIT */
/* JSON lines in the form of DFTracer 1.0.8: lines that do not show events. */
#ifndef DFT_EXPORT_PFW_LINES_H
#define DFT_EXPORT_PFW_LINES_H

#include "export/exporting.h"
#include "views/enclosing.h"

struct dft_pfw_out {
    struct dft_export *export;
    struct dft_json json;
    uint64_t id;      /* number of the next line */
    uint64_t *events; /* events written, by process number */
    /* keys that the arguments of the current line have so far, without the user's keys */
    const char *keys[20];
    unsigned nkeys;
    struct dft_enclosing enclosing;
};

/* Begin a line up to its own members, and end these members and the line. */
void dft_pfw_out_begin(struct dft_pfw_out *pfw, struct dft_text name, struct dft_text category, uint32_t pid,
                       uint32_t tid);
void dft_pfw_out_end(struct dft_pfw_out *pfw);
/* Was the process read from a trace of DFTracer? Its start and end are then among its events, if
 * the trace had them. */
int dft_pfw_out_is_imported(const struct dft_source_process *source);
uint64_t dft_pfw_out_host(const struct dft_process *process); /* hash of the host */

/* Write the dictionary of a process (0 or -ENOMEM), and an entry for a file. Write the events that
 * enclose the events of a process: start (0 or -ENOMEM) and end. */
int dft_pfw_out_process(struct dft_pfw_out *pfw, const struct dft_source_process *source);
void dft_pfw_out_file(void *pfw, uint64_t id, struct dft_text text);
int dft_pfw_out_start(struct dft_pfw_out *pfw, const struct dft_source_process *source);
void dft_pfw_out_stop(struct dft_pfw_out *pfw, const struct dft_source_process *source);

#endif
