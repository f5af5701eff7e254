/* SPDX-License-Identifier: MIT */
/* One event as a line of text or of JSON. */
#ifndef DFT_DUMP_EVENT_H
#define DFT_DUMP_EVENT_H

#include <stdio.h>

#include "object/object.h"

struct dft_dump {
    FILE *out;
    const struct dft_names *names;
    uint64_t origin_ns; /* origin of the times in text */
    uint64_t events;    /* number of events written */
};

void dft_dump_json(struct dft_dump *dump, const struct dft_event_at *at);
void dft_dump_text(struct dft_dump *dump, const struct dft_event_at *at);

#endif
