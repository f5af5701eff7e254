/* SPDX-License-Identifier: MIT */
/* Reads one telemetry record with json-c. Knows its fields, and their older names. */
#include "telemetry/telemetry_record.h"

#include <errno.h>

#ifndef DFT_HAVE_JSON

int dft_telemetry_can_read(void)
{
    return 0;
}

int dft_telemetry_record(struct dft_telemetry *telemetry, const char *text, size_t length,
                         struct dft_telemetry_event *event, const char **reason)
{
    (void)telemetry;
    (void)text;
    (void)length;
    (void)event;
    *reason = "this program was built without a JSON library";
    return -EINVAL;
}

#else

#include <json.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DEPTH_MAX 64

static _Thread_local char reason_text[160];

static int bad(const char **reason, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason_text, sizeof reason_text, format, arguments);
    va_end(arguments);
    *reason = reason_text;
    return -EINVAL;
}

int dft_telemetry_can_read(void)
{
    return 1;
}

/* --- fields ----------------------------------------------------------------------------------- */

enum field_kind { NUMBER = 1, NUMBER_OR_NULL, TEXT, TEXT_OR_NULL, OBJECT };

/* The fields that a record of version 2 must have. */
static const struct field {
    const char *name;
    uint8_t kind;
    int64_t least;
} required[] = {
    {"timestamp_ns", NUMBER, 0},
    {"event_type", TEXT, 0},
    {"collector", TEXT, 0},
    {"sampling_interval_ms", NUMBER, 0},
    {"pid", NUMBER, -1},
    {"host", TEXT, 0},
    {"device_id", NUMBER, INT64_MIN},
    {"allocator_allocated_bytes", NUMBER, 0},
    {"allocator_reserved_bytes", NUMBER, 0},
    {"allocator_active_bytes", NUMBER_OR_NULL, 0},
    {"allocator_inactive_bytes", NUMBER_OR_NULL, 0},
    {"allocator_change_bytes", NUMBER, INT64_MIN},
    {"device_used_bytes", NUMBER, 0},
    {"device_free_bytes", NUMBER_OR_NULL, 0},
    {"device_total_bytes", NUMBER_OR_NULL, 0},
    {"context", TEXT_OR_NULL, 0},
    {"metadata", OBJECT, 0},
};

static int is_blank(const char *text)
{
    return !text[strspn(text, " \t\r\n\v\f")];
}

/* json-c clamps a number that does not fit. The extremes therefore count as too large. */
static int number_of(struct json_object *value, const char *name, int64_t least, int64_t *number, const char **reason)
{
    if (!json_object_is_type(value, json_type_int))
        return bad(reason, "%s is not an integer", name);
    *number = json_object_get_int64(value);
    if (*number == INT64_MAX || *number == INT64_MIN)
        return bad(reason, "%s is too large", name);
    return *number < least ? bad(reason, "%s is below %lld", name, (long long)least) : 0;
}

static int check_field(struct json_object *record, const struct field *field, const char **reason)
{
    struct json_object *value;
    int64_t number;

    if (!json_object_object_get_ex(record, field->name, &value))
        return bad(reason, "%s is missing", field->name);
    if (!value && (field->kind == NUMBER_OR_NULL || field->kind == TEXT_OR_NULL))
        return 0;
    switch (field->kind) {
    case NUMBER:
    case NUMBER_OR_NULL:
        return number_of(value, field->name, field->least, &number, reason);
    case OBJECT:
        return json_object_is_type(value, json_type_object) ? 0 : bad(reason, "%s is not an object", field->name);
    default:
        if (!json_object_is_type(value, json_type_string))
            return bad(reason, "%s is not a text", field->name);
        if (field->kind == TEXT && is_blank(json_object_get_string(value)))
            return bad(reason, "%s is empty", field->name);
        return 0;
    }
}

static struct json_object *member(struct json_object *object, const char *name)
{
    struct json_object *value = NULL;

    if (json_object_is_type(object, json_type_object))
        json_object_object_get_ex(object, name, &value);
    return value;
}

static int has(struct json_object *record, const char *name)
{
    return json_object_object_get_ex(record, name, NULL);
}

/* A value in "metadata". A record without a version may also have the value as a field of its own,
 * "metadata_rank". */
static struct json_object *metadata_of(struct json_object *record, const char *name, int legacy)
{
    struct json_object *value;
    char prefixed[64];

    if (legacy) {
        snprintf(prefixed, sizeof prefixed, "metadata_%s", name);
        if (json_object_object_get_ex(record, prefixed, &value))
            return value;
    }
    return member(member(record, "metadata"), name);
}

/* --- the same in both forms ------------------------------------------------------------------- */

/* Takes a number of the record, else of its metadata. Else `number` stays as it is. */
static int identity_number(struct json_object *record, const char *name, int legacy, int64_t least, int64_t *number,
                           const char **reason)
{
    struct json_object *value = member(record, name);

    if (!value)
        value = metadata_of(record, name, legacy);
    return value ? number_of(value, name, least, number, reason) : 0;
}

static int take_identity(struct dft_telemetry *telemetry, struct json_object *record, int legacy,
                         struct dft_telemetry_event *event, const char **reason)
{
    struct json_object *job = member(record, "job_id");
    int64_t rank = 0, local = 0, world = 1;
    int rc = identity_number(record, "rank", legacy, 0, &rank, reason);

    if (!rc)
        rc = identity_number(record, "local_rank", legacy, 0, &local, reason);
    if (!rc)
        rc = identity_number(record, "world_size", legacy, 1, &world, reason);
    if (rc)
        return rc;
    if (world > DFT_TELEMETRY_WORLD_MAX)
        return bad(reason, "a world_size of %lld is not believed", (long long)world);
    if (rank >= world)
        return bad(reason, "rank %lld is not below world_size %lld", (long long)rank, (long long)world);
    if (local >= world)
        return bad(reason, "local_rank %lld is not below world_size %lld", (long long)local, (long long)world);
    event->rank = (uint32_t)rank;
    event->world_size = (uint32_t)world;
    if (!job)
        job = metadata_of(record, "job_id", legacy);
    if (!job)
        return 0;
    if (!json_object_is_type(job, json_type_string) || is_blank(json_object_get_string(job)))
        return bad(reason, "job_id is not a text, or empty");
    event->job = dft_telemetry_text(telemetry, json_object_get_string(job));
    return event->job ? 0 : -ENOMEM;
}

static int check_bytes(int64_t used, int has_free, int64_t unused, int has_total, int64_t total, const char **reason)
{
    if (used < 0 || (has_free && unused < 0) || (has_total && total < 0))
        return bad(reason, "a number of bytes is below 0");
    if (has_total && used > total)
        return bad(reason, "device_used_bytes %lld is above device_total_bytes %lld", (long long)used,
                   (long long)total);
    if (has_total && has_free && unused > total)
        return bad(reason, "device_free_bytes %lld is above device_total_bytes %lld", (long long)unused,
                   (long long)total);
    return 0;
}

static int take_rest(struct dft_telemetry *telemetry, struct json_object *record, int legacy, const char *type,
                     const char *host, struct dft_telemetry_event *event, const char **reason)
{
    if (event->time_ns < 0 || event->time_ns >= DFT_TELEMETRY_TIME_END)
        return bad(reason, "a timestamp of %lld ns is not believed", (long long)event->time_ns);
    event->is_sample = !strcasecmp(type, "sample");
    event->host = dft_telemetry_text(telemetry, host);
    return event->host ? take_identity(telemetry, record, legacy, event, reason) : -ENOMEM;
}

/* --- version 2 -------------------------------------------------------------------------------- */

static int take_v2(struct dft_telemetry *telemetry, struct json_object *record, struct dft_telemetry_event *event,
                   const char **reason)
{
    struct json_object *unused, *total;
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof required / sizeof *required; i++)
        rc = check_field(record, &required[i], reason);
    if (rc)
        return rc;
    event->time_ns = json_object_get_int64(member(record, "timestamp_ns"));
    event->used_bytes = json_object_get_int64(member(record, "device_used_bytes"));
    event->interval_ms = json_object_get_int64(member(record, "sampling_interval_ms"));
    event->pid = json_object_get_int64(member(record, "pid"));
    unused = member(record, "device_free_bytes");
    total = member(record, "device_total_bytes");
    rc = check_bytes(event->used_bytes, unused != NULL, json_object_get_int64(unused), total != NULL,
                     json_object_get_int64(total), reason);
    return rc ? rc
              : take_rest(telemetry, record, 0, json_object_get_string(member(record, "event_type")),
                          json_object_get_string(member(record, "host")), event, reason);
}

/* --- before versions -------------------------------------------------------------------------- */

/* Takes the first of `names` that the record has; NULL ends the names. Else `number` stays as it
 * is. Returns 1: found, 0, or -EINVAL. */
static int first_number(struct json_object *record, const char *const *names, int64_t *number, const char **reason)
{
    for (; *names; names++) {
        if (!has(record, *names))
            continue;
        return number_of(member(record, *names), *names, INT64_MIN, number, reason) ? -EINVAL : 1;
    }
    return 0;
}

/* Takes a count of units with a fraction. Returns 1, 0 (there is no such number) or -EINVAL. */
static int scaled_number(struct json_object *value, const char *name, double unit, int64_t *number, const char **reason)
{
    double scaled;

    if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
        return 0;
    scaled = json_object_get_double(value) * unit;
    if (!(scaled > -4e18 && scaled < 4e18))
        return bad(reason, "%s is no number that can be used", name);
    *number = (int64_t)scaled;
    return 1;
}

static int legacy_time(struct json_object *record, int64_t *time_ns, const char **reason)
{
    int rc = first_number(record, (const char *const[]){"timestamp_ns", NULL}, time_ns, reason);

    if (!rc)
        rc = scaled_number(member(record, "timestamp"), "timestamp", 1e9, time_ns, reason);
    if (!rc)
        return bad(reason, "it has neither schema_version nor a timestamp");
    return rc < 0 ? rc : 0;
}

static int legacy_bytes(struct json_object *record, int64_t *used, const char **reason)
{
    static const char *const totals[] = {"device_total_bytes", "total_memory", "device_total", "total_bytes"};
    int64_t total = 0, unused = 0;
    struct json_object *value = NULL;
    int rc, found = 0;

    *used = 0;
    rc = first_number(record, (const char *const[]){"allocator_allocated_bytes", "memory_allocated", NULL}, used,
                      reason);
    if (!rc)
        rc = scaled_number(member(record, "memory_mb"), "memory_mb", 1048576, used, reason);
    if (rc >= 0 && *used < 0)
        return bad(reason, "the memory in use is below 0");
    if (rc >= 0)
        rc = first_number(record, (const char *const[]){"device_used_bytes", NULL}, used, reason);
    for (size_t i = 0; rc >= 0 && !found && i < 4; i++) {
        found = has(record, totals[i]);
        value = member(record, totals[i]);
    }
    for (size_t i = 1; rc >= 0 && !found && i < 4; i++) {
        value = metadata_of(record, totals[i], 1);
        found = value != NULL;
    }
    if (rc >= 0 && value)
        rc = number_of(value, "the total memory", INT64_MIN, &total, reason);
    if (rc < 0)
        return rc;
    found = value != NULL;
    value = member(record, "device_free_bytes");
    if (value && number_of(value, "device_free_bytes", INT64_MIN, &unused, reason))
        return -EINVAL;
    return check_bytes(*used, value != NULL, unused, found, total, reason);
}

/* A text of the record, or of its metadata, or `otherwise`. NULL: the text is empty or no text. */
static const char *legacy_text(struct json_object *record, const char *name, int in_metadata, const char *otherwise)
{
    struct json_object *value = member(record, name);

    if (!value && has(record, name))
        return NULL;
    if (!value && in_metadata)
        value = metadata_of(record, name, 1);
    if (!value)
        return otherwise;
    if (!json_object_is_type(value, json_type_string) || is_blank(json_object_get_string(value)))
        return NULL;
    return json_object_get_string(value);
}

static int take_legacy(struct dft_telemetry *telemetry, struct json_object *record, struct dft_telemetry_event *event,
                       const char **reason)
{
    struct json_object *metadata = member(record, "metadata"), *pid = metadata_of(record, "pid", 1);
    const char *type, *host;
    int rc =
        metadata && !json_object_is_type(metadata, json_type_object) ? bad(reason, "metadata is not an object") : 0;

    event->pid = -1;
    if (!rc)
        rc = legacy_time(record, &event->time_ns, reason);
    if (!rc)
        rc = legacy_bytes(record, &event->used_bytes, reason);
    if (!rc && has(record, "sampling_interval_ms"))
        rc = number_of(member(record, "sampling_interval_ms"), "sampling_interval_ms", 0, &event->interval_ms, reason);
    if (!rc && (has(record, "pid") || pid))
        rc = number_of(has(record, "pid") ? member(record, "pid") : pid, "pid", -1, &event->pid, reason);
    if (rc)
        return rc;
    type = legacy_text(record, has(record, "event_type") ? "event_type" : "type", 0, "sample");
    host = legacy_text(record, "host", 1, "unknown");
    if (!type || !host)
        return bad(reason, "%s is not a text, or empty", type ? "host" : "event_type");
    return take_rest(telemetry, record, 1, type, host, event, reason);
}

/* --- the record ------------------------------------------------------------------------------- */

static int take_object(struct dft_telemetry *telemetry, struct json_object *record, struct dft_telemetry_event *event,
                       const char **reason)
{
    int64_t version = 0;

    if (!json_object_is_type(record, json_type_object))
        return bad(reason, "not an object");
    if (!has(record, "schema_version"))
        return take_legacy(telemetry, record, event, reason);
    if (number_of(member(record, "schema_version"), "schema_version", INT64_MIN, &version, reason))
        return -EINVAL;
    if (version != 2)
        return bad(reason, "schema_version %lld is not known", (long long)version);
    return take_v2(telemetry, record, event, reason);
}

int dft_telemetry_record(struct dft_telemetry *telemetry, const char *text, size_t length,
                         struct dft_telemetry_event *event, const char **reason)
{
    struct json_tokener *tokener;
    struct json_object *record;
    int rc;

    memset(event, 0, sizeof *event);
    if (*text != '{')
        return bad(reason, "not an object");
    if (length > INT_MAX)
        return bad(reason, "too long");
    tokener = json_tokener_new_ex(DEPTH_MAX);
    if (!tokener)
        return -ENOMEM;
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    record = json_tokener_parse_ex(tokener, text, (int)length);
    if (json_tokener_get_error(tokener) == json_tokener_success)
        rc = take_object(telemetry, record, event, reason);
    else
        rc = bad(reason, "no JSON: %s", json_tokener_error_desc(json_tokener_get_error(tokener)));
    json_object_put(record);
    json_tokener_free(tokener);
    return rc;
}

#endif
