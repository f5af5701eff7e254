/* SPDX-License-Identifier: MIT */
/* Reads one record of telemetry from JSON text. */
#ifndef DFT_TELEMETRY_RECORD_H
#define DFT_TELEMETRY_RECORD_H

#include "telemetry/telemetry.h"

/* Returns 0 with the event, -EINVAL with *why (valid until the next call in this thread), or
 * -ENOMEM. */
int dft_telemetry_record(struct dft_telemetry *telemetry, const char *text, size_t length,
                         struct dft_telemetry_event *event, const char **reason);

#endif
