/* SPDX-License-Identifier: MIT */
/* Records of processes without names: program, command line, host, job, settings, mounts. */
#include "anonymize/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize/blocks.h"
#include "format/notes.h"

#define FIELDS_MAX 16u
#define BOOT_BYTES 36u

/* A record under construction. Texts have a place when all are there, for memory moves. */
struct record {
    struct dft_texts *texts;
    struct dft_long_text all;
    struct {
        struct dft_text *field;
        size_t at;
    } made[FIELDS_MAX];
    unsigned count;
};

static struct dft_text cut(const char *from, const char *to)
{
    return (struct dft_text){from, (uint32_t)(to - from)};
}

/* Calls `put` with each part of a text; each part ends in `end`, which stays. */
static void each_part(struct record *record, struct dft_text text, char end,
                      void (*put)(struct record *record, struct dft_text part))
{
    const char *at = text.bytes, *stop = at + text.length;

    while (at < stop) {
        const char *next = memchr(at, end, (size_t)(stop - at));

        put(record, cut(at, next ? next : stop));
        if (next)
            dft_long_text_add(&record->all, &end, 1);
        at = next ? next + 1 : stop;
    }
}

/* --- parts ------------------------------------------------------------------------------------ */

static void put_path(struct record *record, struct dft_text text)
{
    dft_texts_path(record->texts, text, &record->all);
}

static void put_name(struct record *record, struct dft_text text)
{
    dft_texts_name(record->texts, text, &record->all);
}

static void put_words(struct record *record, struct dft_text text)
{
    dft_texts_words(record->texts, text, &record->all);
}

static void put_as_it_is(struct record *record, struct dft_text text)
{
    dft_long_text_add(&record->all, text.bytes, text.length);
}

/* Numbers, too: an argument may be a password. */
static void put_argument(struct record *record, struct dft_text text)
{
    if (text.length && memchr(text.bytes, '/', text.length))
        put_path(record, text);
    else
        put_name(record, text);
}

static void put_command(struct record *record, struct dft_text text)
{
    each_part(record, text, 0, put_argument);
}

static void put_line(struct record *record, struct dft_text text)
{
    if (dft_public_has(&record->texts->public, DFT_PUBLIC_FUNCTION, text.bytes, text.length))
        put_as_it_is(record, text);
    else
        put_words(record, text);
}

static void put_lines(struct record *record, struct dft_text text)
{
    each_part(record, text, '\n', put_line);
}

/* Fixed texts of the library, but for names of other libraries. */
static void put_note(struct record *record, struct dft_text text)
{
    size_t head = strlen(DFT_NOTES_TAKEN);

    if (text.length <= head || memcmp(text.bytes, DFT_NOTES_TAKEN, head)) {
        put_as_it_is(record, text);
        return;
    }
    put_as_it_is(record, cut(text.bytes, text.bytes + head));
    put_words(record, cut(text.bytes + head, text.bytes + text.length));
}

static void put_notes(struct record *record, struct dft_text text)
{
    each_part(record, text, '\n', put_note);
}

/* The id of a machine's start, as Linux writes it. */
static void put_boot_id(struct record *record, struct dft_text text)
{
    uint8_t d[16];
    char id[BOOT_BYTES + 1];

    if (!text.length)
        return;
    dft_hashes_digest(&record->texts->words, text.bytes, text.length, d);
    snprintf(id, sizeof id, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", d[0], d[1], d[2],
             d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11], d[12], d[13], d[14], d[15]);
    dft_long_text_add(&record->all, id, BOOT_BYTES);
}

/* --- settings --------------------------------------------------------------------------------- */

static void put_setting_part(struct record *record, struct dft_text text)
{
    dft_long_text_add(&record->all, "!", text.length && *text.bytes == '!');
    if (text.length && *text.bytes == '!')
        text = cut(text.bytes + 1, text.bytes + text.length);
    dft_texts_any(record->texts, text, &record->all);
}

static void put_parts(struct record *record, struct dft_text text)
{
    each_part(record, text, ':', put_setting_part);
}

static const struct setting {
    const char *name;
    int is_text;
} settings[] = {
#define DFT_OPTION(field, name, type, initial, help)                                                                   \
    {"DFTRACER_" #name "=", sizeof #type == sizeof "TEXT" && #type[0] == 'T'},
#include <dftrace/config.def>
#undef DFT_OPTION
};

static void put_value(struct record *record, const struct setting *setting, struct dft_text value)
{
    if (!setting->is_text)
        put_as_it_is(record, value);
    else if (!strcmp(setting->name, "DFTRACER_JOB_ID=") || !strcmp(setting->name, "DFTRACER_RUN_ID="))
        put_name(record, value);
    else if (!strcmp(setting->name, "DFTRACER_ROLE="))
        put_words(record, value);
    else
        put_parts(record, value);
}

/* A line that is no setting may hold anything. */
static void put_setting(struct record *record, struct dft_text line)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        size_t length = strlen(settings[i].name);

        if (line.length < length || memcmp(line.bytes, settings[i].name, length) != 0)
            continue;
        dft_long_text_add(&record->all, line.bytes, length);
        put_value(record, &settings[i], cut(line.bytes + length, line.bytes + line.length));
        return;
    }
}

static void put_settings(struct record *record, struct dft_text text)
{
    each_part(record, text, '\n', put_setting);
}

/* --- mounts ----------------------------------------------------------------------------------- */

static int octal(const char *at)
{
    return (at[0] - '0') << 6 | (at[1] - '0') << 3 | (at[2] - '0');
}

/* Undoes the kernel's escapes (\040), so that a mount point is the path that files have. */
static struct dft_text unescaped(struct dft_text text, char *to)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < text.length; i++) {
        const char *at = text.bytes + i;

        if (*at == '\\' && i + 3 < text.length && strspn(at + 1, "01234567") >= 3) {
            to[n++] = (char)octal(at + 1);
            i += 3;
        } else {
            to[n++] = *at;
        }
    }
    return (struct dft_text){to, n};
}

static void put_point(struct record *record, struct dft_text text, char *room)
{
    put_path(record, unescaped(text, room));
    dft_long_text_add(&record->all, " ", 1);
}

/* "mount point, space, type", or with the directory that leads there before it. What is kept of a path has no
 * blank. */
static void put_mount(struct record *record, struct dft_text line)
{
    const char *space = line.length ? memrchr(line.bytes, ' ', line.length) : NULL;
    const char *middle = space ? memchr(line.bytes, ' ', (size_t)(space - line.bytes)) : NULL;
    char *point = space ? malloc(line.length + 1) : NULL;

    if (!space)
        return;
    if (!point) {
        record->all.rc = -ENOMEM;
        return;
    }
    if (middle)
        put_point(record, cut(line.bytes, middle), point);
    put_point(record, cut(middle ? middle + 1 : line.bytes, space), point);
    free(point);
    put_words(record, cut(space + 1, line.bytes + line.length));
}

static void put_mounts(struct record *record, struct dft_text text)
{
    each_part(record, text, '\n', put_mount);
}

/* --- the record ------------------------------------------------------------------------------- */

static void make(struct record *record, struct dft_text *field,
                 void (*put)(struct record *record, struct dft_text text))
{
    record->made[record->count].field = field;
    record->made[record->count++].at = record->all.length;
    if (field->length)
        put(record, *field);
}

int dft_anonymizer_process(struct dft_anonymizer *anonymizer, const struct dft_process *process,
                           struct dft_process *other, char **memory)
{
    struct record record = {.texts = &anonymizer->texts};

    *other = *process;
    other->key = dft_anonymizer_key(anonymizer, process->key);
    other->parent_key = dft_anonymizer_key(anonymizer, process->parent_key);
    other->live_path.length = 0;
    dft_long_text_add(&record.all, "", 0);
    make(&record, &other->host, put_name);
    make(&record, &other->job_id, put_name);
    make(&record, &other->run_id, put_name);
    make(&record, &other->exe, put_path);
    make(&record, &other->command, put_command);
    make(&record, &other->cwd, put_path);
    make(&record, &other->version, put_words);
    make(&record, &other->options, put_settings);
    make(&record, &other->notes, process->clock_offset ? put_notes : put_lines);
    make(&record, &other->boot_id, put_boot_id);
    make(&record, &other->role, put_words);
    make(&record, &other->mounts, put_mounts);
    for (unsigned i = 0; i < record.count && !record.all.rc; i++) {
        size_t end = i + 1 < record.count ? record.made[i + 1].at : record.all.length;

        *record.made[i].field = cut(record.all.bytes + record.made[i].at, record.all.bytes + end);
    }
    *memory = record.all.bytes;
    return record.all.rc;
}

int dft_anonymizer_lines(struct dft_anonymizer *anonymizer, struct dft_text lines)
{
    struct record record = {.texts = &anonymizer->texts, .all = anonymizer->text};

    record.all.length = 0;
    dft_long_text_add(&record.all, "", 0);
    put_lines(&record, lines);
    anonymizer->text = record.all;
    return record.all.rc;
}
