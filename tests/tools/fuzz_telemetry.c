/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a telemetry file, through reader and analysis. */
#include <stdlib.h>

#include "telemetry/telemetry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dft_telemetry telemetry = {0};
    struct dft_cross_rank result = {0};

    if (dft_telemetry_parse(&telemetry, "input", (const char *)data, size) ||
        dft_cross_rank_analyse(&telemetry, &result))
        abort();
    if (telemetry.count && !result.nseries && !result.nnotes)
        abort();
    for (uint32_t i = 0; i < result.cause.nsuspects; i++)
        if (result.cause.suspects[i].delta <= 0 || result.cause.suspects[i].lead_ns < 0)
            abort();
    dft_cross_rank_fini(&result);
    dft_telemetry_fini(&telemetry);
    return 0;
}
