/* SPDX-License-Identifier: MIT */
/* Reads telemetry files: finds the records in a file's text and has them read one by one.
 *
 * Brackets and quotes alone tell where a record ends. A record that is no JSON thus costs only
 * itself, not the list around it. A line that was cut off costs only that line. */
#include "telemetry/telemetry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "telemetry/telemetry_record.h"

#define TEXT_MAX (INT64_C(1) << 30) /* largest size of a file in bytes */

struct reading {
    struct dft_telemetry *telemetry;
    const char *name;
    const char *at, *end;
    const char *line_start; /* lines are counted up to here */
    uint64_t line, index;   /* line of line_start (from 1), number of the next record (from 0) */
};

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

static uint64_t line_of(struct reading *reading, const char *at)
{
    for (; reading->line_start < at; reading->line_start++)
        reading->line += *reading->line_start == '\n';
    return reading->line;
}

/* Returns the place behind the string that begins at `at`. NULL: the string has no end on its
 * line. */
static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '\n'; at++) {
        if (*at == '"')
            return at + 1;
        if (*at == '\\' && at + 1 < end)
            at++;
    }
    return NULL;
}

/* Returns the place behind the value that begins at `at`. NULL: the value has no end. */
static const char *value_end(const char *at, const char *end)
{
    size_t depth = 0;

    while (at < end) {
        char c = *at;

        if (!depth && (c == ',' || c == ']' || c == '}'))
            return at;
        if (c == '"') {
            at = string_end(at, end);
            if (!at)
                return NULL;
        } else {
            depth += c == '{' || c == '[';
            at++;
            if (c == '}' || c == ']')
                depth--;
            else if (!is_space(c))
                continue;
        }
        if (!depth)
            return at;
    }
    return depth ? NULL : at;
}

static int take_record(struct reading *reading, const char *from, const char *to)
{
    struct dft_telemetry_event event;
    const char *reason = NULL;
    uint64_t index = reading->index++;
    int rc = dft_telemetry_record(reading->telemetry, from, (size_t)(to - from), &event, &reason);

    if (rc == -ENOMEM)
        return rc;
    if (!rc)
        return dft_telemetry_add(reading->telemetry, &event);
    return dft_telemetry_problem(reading->telemetry, "%s: event %llu (line %llu): %s; left out", reading->name,
                                 (unsigned long long)index, (unsigned long long)line_of(reading, from), reason);
}

static int unfinished(struct reading *reading, const char *from, const char *what)
{
    return dft_telemetry_problem(reading->telemetry, "%s: event %llu (line %llu): %s", reading->name,
                                 (unsigned long long)reading->index++, (unsigned long long)line_of(reading, from),
                                 what);
}

/* Reads the list that begins at `at`, and sets *at behind the list. */
static int take_list(struct reading *reading, const char **at)
{
    const char *here = skip_spaces(*at + 1, reading->end);
    int rc = 0;

    while (!rc && here < reading->end && *here != ']') {
        const char *end = value_end(here, reading->end);

        if (!end) {
            *at = reading->end;
            return unfinished(reading, here, "cut off, or quotes or brackets without an end; the rest is left out");
        }
        if (end > here)
            rc = take_record(reading, here, end);
        here = skip_spaces(end, reading->end);
        if (here < reading->end && *here == '}') {
            *at = reading->end;
            return rc ? rc : unfinished(reading, here, "a bracket too many; the rest is left out");
        }
        if (here < reading->end && *here == ',')
            here = skip_spaces(here + 1, reading->end);
    }
    if (!rc && here == reading->end)
        rc = dft_telemetry_problem(reading->telemetry, "%s: the list has no end: the file was cut off", reading->name);
    *at = here < reading->end ? here + 1 : here;
    return rc;
}

/* Finds the list that is the member "events" of the object [at, end). NULL: none. */
static const char *find_events(const char *at, const char *end)
{
    at = skip_spaces(at + 1, end);
    while (at < end && *at == '"') {
        const char *key = at + 1, *behind = string_end(at, end);

        if (!behind)
            return NULL;
        at = skip_spaces(behind, end);
        if (at == end || *at != ':')
            return NULL;
        at = skip_spaces(at + 1, end);
        if (behind - key == 7 && !memcmp(key, "events\"", 7) && at < end && *at == '[')
            return at;
        at = value_end(at, end);
        if (!at)
            return NULL;
        at = skip_spaces(at, end);
        if (at == end || *at != ',')
            return NULL;
        at = skip_spaces(at + 1, end);
    }
    return NULL;
}

static int take_object(struct reading *reading)
{
    const char *from = reading->at, *end = value_end(from, reading->end);
    const char *events = find_events(from, end ? end : reading->end);
    int rc;

    if (events) {
        rc = take_list(reading, &events);
        reading->at = end ? end : reading->end;
        return rc;
    }
    if (end) {
        reading->at = end;
        return take_record(reading, from, end);
    }
    rc = unfinished(reading, from, "cut off, or quotes or brackets without an end; left out");
    while (reading->at < reading->end && *reading->at != '\n')
        reading->at++;
    return rc;
}

static int take_all(struct reading *reading)
{
    int rc = 0;

    while (!rc && (reading->at = skip_spaces(reading->at, reading->end)) < reading->end) {
        if (*reading->at == '[') {
            rc = take_list(reading, &reading->at);
        } else if (*reading->at == '{') {
            rc = take_object(reading);
        } else {
            rc = unfinished(reading, reading->at, "neither an object nor a list; the line is left out");
            while (reading->at < reading->end && *reading->at != '\n')
                reading->at++;
        }
    }
    return rc;
}

int dft_telemetry_parse(struct dft_telemetry *telemetry, const char *name, const char *text, size_t length)
{
    struct reading reading = {
        .telemetry = telemetry, .name = name, .at = text, .end = text + length, .line_start = text, .line = 1};

    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        reading.at += 3;
    if (skip_spaces(reading.at, reading.end) == reading.end)
        return dft_telemetry_problem(telemetry, "%s: empty", name);
    return take_all(&reading);
}

/* Reads up to `size` bytes. *length: number of bytes read. */
static int read_all(int fd, char *text, size_t size, size_t *length)
{
    for (*length = 0; *length < size;) {
        ssize_t n = read(fd, text + *length, size - *length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (!n)
            break;
        *length += (size_t)n;
    }
    return 0;
}

int dft_telemetry_read(struct dft_telemetry *telemetry, const char *path)
{
    struct stat st;
    int fd = dft_open_regular(path, O_RDONLY, &st), rc = fd < 0 ? fd : 0;
    size_t length = 0;
    char *text = NULL;

    if (!rc && st.st_size > TEXT_MAX)
        rc = -EFBIG;
    if (!rc) {
        text = malloc((size_t)st.st_size + 1);
        rc = text ? read_all(fd, text, (size_t)st.st_size, &length) : -ENOMEM;
    }
    if (fd >= 0)
        close(fd);
    if (!rc)
        rc = dft_telemetry_parse(telemetry, path, text, length);
    else if (rc != -ENOMEM)
        rc = dft_telemetry_problem(telemetry, "%s: %s", path, dft_open_reason(-rc));
    free(text);
    return rc;
}
