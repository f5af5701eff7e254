/* SPDX-License-Identifier: MIT */
/* One event as a line of text or of JSON. */
#ifndef DFT_DUMP_EVENT_H
#define DFT_DUMP_EVENT_H

#include <stdio.h>

#include "source/source_object.h"

struct dft_dump {
    FILE *out;
    const struct dft_names *names;
    uint64_t origin_ns; /* origin of the times in text */
    uint64_t events;    /* number of events written */
};

void dft_dump_json(struct dft_dump *dump, const struct dft_event_at *at);
void dft_dump_text(struct dft_dump *dump, const struct dft_event_at *at);

/* Which values does an event have? Text, JSON and tables use the same rules. */
int dft_dump_has_result(const struct dft_event_at *at);
int dft_dump_has_size(const struct dft_event_at *at);  /* bytes asked for */
int dft_dump_has_bytes(const struct dft_event_at *at); /* bytes moved */
int dft_dump_has_flags(const struct dft_event_at *at);
int dft_dump_has_mode(const struct dft_event_at *at);
/* "begin", "instant" ...; NULL for a complete event. */
const char *dft_dump_phase(uint8_t phase);

#endif
