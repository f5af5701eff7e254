/* SPDX-License-Identifier: MIT */
/* JSON lines in the form of DFTracer 1.0.8: lines that are not of events. */
#ifndef DFT_EXPORT_PFW_LINES_H
#define DFT_EXPORT_PFW_LINES_H

#include "export/exporting.h"
#include "source/enclosing.h"

struct dft_pfw_out {
    struct dft_export *export;
    struct dft_json json;
    uint64_t id;          /* of the next line */
    uint64_t *events;     /* written, by process number */
    const char *keys[20]; /* that the arguments of the line at hand have, but for the user's */
    unsigned nkeys;
    struct dft_enclosing enclosing;
};

/* A line: up to its own members; the end of these and of the line. */
void dft_pfw_out_begin(struct dft_pfw_out *pfw, struct dft_text name, struct dft_text category, uint32_t pid,
                       uint32_t tid);
void dft_pfw_out_end(struct dft_pfw_out *pfw);
/* The same for a line of metadata: its name, and the key of what follows. */
void dft_pfw_out_metadata(struct dft_pfw_out *pfw, const char *name, uint32_t pid, struct dft_text key);
struct dft_text dft_pfw_out_text(const char *text);
/* Was it read from a trace of DFTracer? Then its start and end are among its events, if there were
 * any. */
int dft_pfw_out_is_imported(const struct dft_source_process *source);
uint64_t dft_pfw_out_host(const struct dft_process *process); /* hash of the host */

/* Dictionary of a process (0 or -ENOMEM); an entry for a file; the events around its own: start (0 or -ENOMEM), end. */
int dft_pfw_out_process(struct dft_pfw_out *pfw, const struct dft_source_process *source);
void dft_pfw_out_file(void *pfw, uint64_t id, struct dft_text text);
int dft_pfw_out_start(struct dft_pfw_out *pfw, const struct dft_source_process *source);
void dft_pfw_out_stop(struct dft_pfw_out *pfw, const struct dft_source_process *source);

#endif
