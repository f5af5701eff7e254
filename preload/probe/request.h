/* SPDX-License-Identifier: MIT */
/* From an asynchronous request to its event: one, from the submission to the moment when the
 * program can first see the end, recorded by the thread that sees it. A request of which no end was
 * ever seen is recorded without one (phase ASYNC_BEGIN). Signals need not be blocked; errno is
 * kept. */
#ifndef DFT_REQUEST_H
#define DFT_REQUEST_H

#include "tables/outstanding.h"
#include "probe/probe.h"

/* Are requests followed here? Not in a vfork child; and a forked child has forgotten those of its
 * parent. */
int dft_requests_on(void);

/* What a request is about: of `args` .fd .size .offset .flags. Returns 0 when its file is of no
 * interest. `request` has its key. */
int dft_request_begin(struct dft_request *request, enum dft_call_number call, enum dft_op op,
                      const struct dft_call_args *args);
/* Its end has been seen; `end` in ticks. */
void dft_request_end(const struct dft_request *request, uint64_t end, int64_t result, int err);
/* Nobody will see its end. */
void dft_request_unseen(const struct dft_request *request);
/* So many requests were accepted that the table had no room for: counted as lost. */
void dft_requests_lost(uint64_t count);

/* The end of a context: what is outstanding of its requests up to number `last` will not be
 * seen. */
void dft_requests_give_up(uint64_t context, uint64_t last);

/* The process ends, or tries an exec: what is outstanding is recorded without an end. Should an end
 * be seen after all (by a thread that still runs, or because the exec failed), it is recorded as
 * ever, under the same id. */
void dft_requests_end(void);

/* In a forked child, alone: requests belong to the parent. */
void dft_requests_forked(void);

#endif
