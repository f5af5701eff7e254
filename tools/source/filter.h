/* SPDX-License-Identifier: MIT */
/* The events that a command is asked about: --from, --to, --rank, --pid, --cat, --name, --file. */
#ifndef DFT_FILTER_H
#define DFT_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "source/source_object.h"

/* Both bounds belong to the range. */
struct dft_filter_range {
    uint64_t low, high;
};

/* An event passes when it starts in [from_ns, to_ns) and fits an entry of each list that is not
 * empty. Texts point into argv. */
struct dft_filter {
    /* Unix ns; 0 and UINT64_MAX: all events. dft_filter_begin makes both absolute */
    uint64_t from_ns, to_ns;
    int has_from, has_to;
    int64_t from_rel_ns, to_rel_ns; /* as given: relative to the start of the first process */
    struct dft_filter_range *ranks, *pids;
    size_t nranks, npids;
    /* shell patterns (fnmatch without flags: * also matches '/') */
    const char **cats, **names, **files;
    size_t ncats, nnames, nfiles;
    const struct dft_names *table; /* set by dft_filter_begin */
};

void dft_filter_init(struct dft_filter *filter);
void dft_filter_fini(struct dft_filter *filter);

/* Each function adds the argument of an option. They return 0, -EINVAL (the text makes no sense) or
 * -ENOMEM. Ranges: "0,4-7". Patterns: "read,p*". Seconds: "1.5", at most nine decimals. */
int dft_filter_add_ranges(struct dft_filter_range **list, size_t *count, const char *text);
int dft_filter_add_patterns(const char ***list, size_t *count, char *text);
int dft_filter_seconds(int64_t *ns, const char *text);
/* Does a text fit any of the patterns? */
int dft_patterns_fit(const char *const *patterns, size_t count, struct dft_text text);

/* Prepares a filter for a source: makes its times absolute. A caller that asks about files or calls
 * (cat, name) by itself fetches their texts before. */
void dft_filter_begin(struct dft_filter *filter, struct dft_source *source);

/* Does the process pass (rank, pid)? A process without a rank never passes a list of ranks. */
int dft_filter_process(const struct dft_filter *filter, const struct dft_source_process *process);
/* Does a rank pass --rank? */
int dft_filter_rank(const struct dft_filter *filter, uint64_t rank);
/* The bounds of --from and --to, relative to a start. UINT64_MAX for --to: the option was not
 * given. */
void dft_filter_window(const struct dft_filter *filter, uint64_t start_ns, uint64_t *from_ns, uint64_t *to_ns);
/* The options that were given, such as " --rank --name". The caller frees the text; NULL: no
 * memory. */
char *dft_filter_given(const struct dft_filter *filter);
/* May the block hold an event that passes, judged by process and time? */
int dft_filter_block(const struct dft_filter *filter, const struct dft_source_process *process,
                     const struct dft_block *block);
/* Does a call pass (cat, name)? */
int dft_filter_call(const struct dft_filter *filter, uint64_t call);
/* Does an event of a process that passes pass as well? `call` is its name id. A file fits when the
 * first or the second path fits. */
int dft_filter_event(const struct dft_filter *filter, const struct dft_event *event, uint64_t call);
/* Does an event pass by its time alone? */
static inline int dft_filter_time(const struct dft_filter *filter, const struct dft_event *event)
{
    return event->start_ns >= filter->from_ns && (event->start_ns < filter->to_ns || filter->to_ns == UINT64_MAX);
}
/* Does a file (name id) pass? */
int dft_filter_file(const struct dft_filter *filter, uint64_t file);
/* Does the filter ask about files? Call rows know nothing of files. */
int dft_filter_has_files(const struct dft_filter *filter);
/* Does the filter ask about calls? Their texts must be known then. */
int dft_filter_has_calls(const struct dft_filter *filter);

#endif
