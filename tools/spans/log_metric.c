/* SPDX-License-Identifier: MIT */
/* METRIC lines of any log: TIME ... METRIC span_type span_id key=value key=value. */
#include "spans/logs.h"

static const struct dft_text none = {NULL, 0};

/* Takes KEY=VALUE or KEY="VALUE"; a word of another form is passed over. Returns 0: there is nothing
 * more. */
static int next_value(struct dft_text *at, struct dft_text *key, struct dft_text *value)
{
    while (at->length) {
        struct dft_text rest = *at, word = dft_scan_word(at);
        const char *equals = memchr(word.bytes, '=', word.length);

        if (!equals || equals == word.bytes)
            continue;
        *key = (struct dft_text){word.bytes, (uint32_t)(equals - word.bytes)};
        *value = (struct dft_text){equals + 1, word.length - key->length - 1};
        dft_scan_skip(&rest, key->length + 1);
        if (dft_scan_take(&rest, "\"") && memchr(rest.bytes, '"', rest.length)) {
            *value = (struct dft_text){rest.bytes, 0};
            dft_scan_find(&rest, "\"");
            value->length = (uint32_t)(rest.bytes - value->bytes) - 1;
            *at = rest;
        }
        return 1;
    }
    return 0;
}

int dft_log_metric(struct dft_log *log, struct dft_text line)
{
    struct dft_span_name span = {none, dft_text_from(log->place.run), none, none};
    struct dft_text at = line, key, value;
    struct dft_uuid uuid;
    int rc;

    if (!dft_scan_find(&at, " METRIC "))
        return 0;
    span.type = dft_scan_word(&at);
    span.id = dft_scan_word(&at);
    if (!log->has_time)
        return dft_log_fail(log, "a line of METRIC begins with no time");
    if (!span.type.length || !span.id.length || memchr(span.id.bytes, '=', span.id.length))
        return dft_log_fail(log, "no type and id of a span follow METRIC");
    rc = dft_span_put(&log->import->store, &span, &uuid);
    if (!rc)
        rc = dft_span_event(&log->import->store, &uuid, log->ns, dft_text_from("metric"), none);
    while (!rc && next_value(&at, &key, &value))
        rc = dft_span_metric(&log->import->store, &uuid, log->ns, key, value);
    return rc ? rc : 1;
}
