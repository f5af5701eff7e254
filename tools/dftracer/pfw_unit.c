/* SPDX-License-Identifier: MIT */
/* The unit of time of a trace, and the period of its aggregated records. */
#include "dftracer/pfw_unit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dftracer/pfw_memory.h"

static uint64_t unit_of(struct dft_text text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"NS", 1}, {"US", 1000}, {"MS", 1000000}, {"SEC", 1000000000}, {"S", 1000000000}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text.length == strlen(units[i].name) && !strncasecmp(text.bytes, units[i].name, text.length))
            return units[i].ns;
    return 0;
}

/* The same file makes the same bytes, whatever was converted before. */
void dft_pfw_encoder_begin(struct dft_pfw *pfw)
{
    dft_pfw_choose_compression(pfw);
    dft_encoder_coarse_times(pfw->encoder, pfw->known->unit_ns >= 1000);
}

/* A unit that becomes known only behind events takes a second reading. */
static void set_unit(struct dft_pfw *pfw, uint64_t ns)
{
    if (!ns || pfw->second || ns == pfw->known->unit_ns)
        return;
    pfw->known->unit_ns = ns;
    if (pfw->timed)
        pfw->surveys = 1;
    else
        dft_pfw_encoder_begin(pfw);
}

/* The same for the period of aggregated records, of which the user knows best. */
static void set_period(struct dft_pfw *pfw, const struct dft_pfw_value *value)
{
    uint64_t ms, ns;
    int negative;

    if (pfw->second || pfw->job->period_ns || dft_pfw_unsigned(value, &ms, &negative) || negative || !ms ||
        __builtin_mul_overflow(ms, 1000000, &ns) || ns > DFT_INTERVAL_NS_MAX || ns == pfw->known->period_ns)
        return;
    pfw->known->period_ns = ns;
    pfw->surveys |= pfw->periodic;
}

static const struct dft_pfw_value *member(const struct dft_pfw_record *record, const char *key)
{
    for (uint32_t i = 0; i < record->nothers; i++)
        if (record->other[i].key.length == strlen(key) && !memcmp(record->other[i].key.bytes, key, strlen(key)))
            return &record->other[i].value;
    return NULL;
}

void dft_pfw_unit(struct dft_pfw *pfw, const struct dft_pfw_value *value)
{
    struct dft_pfw_record *nested;

    if (value->kind != DFT_PFW_NESTED) {
        set_unit(pfw, unit_of(value->text));
        return;
    }
    nested = malloc(sizeof *nested);
    if (!nested)
        return;
    if (!dft_pfw_scan_nested(value->text, nested)) {
        value = member(nested, "time_metric");
        if (value)
            set_unit(pfw, unit_of(value->text));
        value = member(nested, "trace_interval_ms");
        if (value)
            set_period(pfw, value);
    }
    free(nested);
}
