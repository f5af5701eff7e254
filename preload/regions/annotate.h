/* SPDX-License-Identifier: MIT */
/* Behind dftrace.h: what annotate.c, span.c, event.c, pause.c, function.c and perfflow.c share. All of it
 * works in signal handlers. */
#ifndef DFT_ANNOTATE_H
#define DFT_ANNOTATE_H

#include <dftrace/dftrace.h>

#include "regions/record.h"

/* Lets programs see that annotations are recorded. */
void dft_annotate_enable(void);
int dft_annotate_is_enabled(void);
/* What programs have found here leads to another copy of this library from now on. */
void dft_annotate_hand_on(const struct dftrace_api *other);

/* Ends the open regions of the calling thread, which ends, or its process: `what` becomes their
 * argument "ended_by". left: the program could have ended them itself. */
void dft_annotate_end_all(struct dft_thread *self, const char *what, int left);

/* Arguments as items, behind those of the open regions, until the use is set back to what it was
 * before. Texts are cut, numbers are kept whole or not at all. */
void dft_annotate_keep_args(struct dft_thread *self, const struct dftrace_arg *args, uint32_t count);
void dft_annotate_keep_int(struct dft_thread *self, const char *key, int64_t value);
/* A text of the library itself, which DFTRACER_PRIVATE does not leave out. */
void dft_annotate_keep_own(struct dft_thread *self, const char *key, const char *text);
/* The same of the innermost open region: others may see them while it is open. */
void dft_region_keep_args(struct dft_thread *self, const struct dftrace_arg *args, uint32_t count);

/* A relation to an entity (DFTracer's "used:ID" and the like) for which the region of that name has
 * no room becomes a record of its own, in which that region stands. Returns 0: it is no relation, or
 * there is room. */
int dft_annotate_put_apart(struct dft_thread *self, uint64_t region, const struct dftrace_arg *arg);

/* Changes a number that a region was told of before. Returns 0: there is none like it. */
int dft_annotate_change(struct dft_thread *self, _Atomic uint32_t *of, const struct dftrace_arg *arg);

/* Metadata. scope NULL: of the process. */
void dft_annotate_put_metadata(const char *scope, const struct dftrace_arg *arg);

/* Regions by the id of their name. start 0: calls are attributed to it, no event comes of it.
 * frame: of a function where its hook's frame lies, of a span its id; 0 of others. */
void dft_region_begin(struct dft_thread *self, uint64_t name, uint64_t start, uint64_t frame);
/* Ends it, and those within. Returns the number of those within, or -1: it is not open. */
int dft_region_end(struct dft_thread *self, uint64_t name, uint64_t end);
/* Closes the innermost region, if it has this name, without an event. */
void dft_region_drop(struct dft_thread *self, uint64_t name);
/* The same of a call of a library, which says more; its frame is the one it began with. */
struct dft_region_data {
    uint64_t size;  /* asked for; 0: not known */
    int64_t offset; /* -1: not known */
};
/* Ends the region that was left open at this frame, and those within: a call that begins there
 * shows that it is over. */
void dft_region_end_left(struct dft_thread *self, uint64_t end, uint64_t frame);
int dft_region_end_call(struct dft_thread *self, uint64_t name, uint64_t end, uint64_t frame,
                        const struct dft_region_data *data);
/* The same of a function whose exit hook has this frame; `left`: its own is gone. */
int dft_function_end(struct dft_thread *self, uint64_t name, uint64_t end, uint64_t frame, int left);
/* Where the innermost region's arguments are, NULL: of none that is known. Those of the innermost
 * one of a name: NULL: it is not open. */
_Atomic uint32_t *dft_region_args(struct dft_thread *self);
_Atomic uint32_t *dft_region_args_of(struct dft_thread *self, uint64_t name);
/* The items from args_from on become arguments of the innermost region of that name. Returns 0, or
 * -1: it is not open. */
int dft_region_give_args(struct dft_thread *self, uint64_t name, uint32_t args_from);
/* The id of the innermost span of that name which goes on here; 0: there is none. */
uint64_t dft_region_span(struct dft_thread *self, uint64_t name);
int dft_region_leave(struct dft_thread *self, uint64_t name, uint64_t id);

/* span.c, pause.c */
void dft_span_begin(struct dftrace_span *span, struct dftrace_site *site, const struct dftrace_span *parent,
                    const struct dftrace_arg *args, uint32_t count);
void dft_span_since(struct dftrace_span *span, const struct dftrace_span *earlier);
void dft_span_end(struct dftrace_span *span, const struct dftrace_arg *args, uint32_t count);
void dft_span_resume(const struct dftrace_span *span);
void dft_span_suspend(const struct dftrace_span *span);
void dft_span_async_begin(struct dftrace_site *site, uint64_t id, const struct dftrace_arg *args, uint32_t count);
void dft_span_async_end(struct dftrace_site *site, uint64_t id, const struct dftrace_arg *args, uint32_t count);
void dft_span_flow(struct dftrace_site *site, uint64_t id, int what);
uint64_t dft_span_new_id(void);
uint64_t dft_span_next_id(struct dft_thread *self); /* of this process alone */
/* A span around a function: its end is found by its name, as that of a region. Returns -1: it was
 * not begun. */
void dft_span_enter(struct dft_thread *self, uint64_t name, uint32_t args_from);
int dft_span_leave(struct dft_thread *self, uint64_t name, uint32_t args_from);
enum dft_pause_of { DFT_PAUSE_THREAD = 0, DFT_PAUSE_PROCESS = 1 };
void dft_pause(int what);
void dft_resume(int what);
void dft_flush(void);

/* event.c: a complete event with start and duration in ns, by the clock of now. */
void dft_event(struct dftrace_site *site, uint64_t start_ns, uint64_t duration_ns, const struct dftrace_arg *args,
               uint32_t count);
void dft_span_event(struct dftrace_site *site, uint64_t start_ns, uint64_t duration_ns, uint64_t bytes,
                    const struct dftrace_arg *args, uint32_t count);
uint64_t dft_event_now(void);

/* app_init.c: what a program says that was not preloaded. */
void dft_app_init(const char *log_file, const char *data_dirs, const int *process_id, int bind);

#endif
