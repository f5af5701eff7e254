/* SPDX-License-Identifier: MIT */
/* Behind dftrace.h: what annotate.c, span.c, event.c, pause.c, function.c and perfflow.c share. All of it
 * works in signal handlers. */
#ifndef DFT_ANNOTATE_H
#define DFT_ANNOTATE_H

#include <dftrace/dftrace.h>

#include "regions/record.h"
#include "regions/span.h"
#include "regions/pause.h"
#include "regions/event.h"
#include "regions/app_init.h"
#include "regions/argument.h"
#include "regions/region.h"

/* Lets programs see that annotations are recorded. */
void dft_annotate_enable(void);
int dft_annotate_is_enabled(void);
/* What programs have found here leads to another copy of this library from now on. */
void dft_annotate_hand_on(const struct dftrace_api *other);

/* Metadata. scope NULL: of the process. */
void dft_annotate_put_metadata(const char *scope, const struct dftrace_arg *arg);

#endif
