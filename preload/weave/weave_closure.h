/* SPDX-License-Identifier: MIT */
/* Closures of libffi, which stand in for woven functions. */
#ifndef DFT_WEAVE_CLOSURE_H
#define DFT_WEAVE_CLOSURE_H

#include "weave/weave_inside.h"

/* At the start, before main: loads libffi. Returns 0 or -ENOENT. */
int dft_weave_load_ffi(void);
/* Makes the rule ready for calls. Where libffi cannot pass its types, the rule meets no function. */
void dft_weave_prepare(struct dft_weave_rule *rule);
/* After all rules: calls may come from now on. */
void dft_weave_begin_calls(void);

/* A target for any function; NULL: no memory. Allocates. */
struct dft_weave_target *dft_weave_new_target(void);
/* Makes it that of a rule's function at `real`. Returns 0 or -EINVAL: libffi cannot. */
int dft_weave_aim(struct dft_weave_target *target, struct dft_weave_rule *rule, void *real);

#endif
