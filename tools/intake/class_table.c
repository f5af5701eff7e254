/* SPDX-License-Identifier: MIT */
/* Reads a user's table of classes, finds the files that fit its rows, and gives events on these
 * files their class. */
#include "intake/class_table.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/facet_words.h"
#include "base/nearest_word.h"
#include "base/table_file.h"
#include "base/write_text.h"
#include "format/event.h"
#include "format/file_class.h"
#include "mpi/comm.h"
#include "object/source_inside.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

/* As in classes.def. */
enum where { WHERE_START, WHERE_PART, WHERE_END, WHERE_VERSION, WHERES };
static const char *const where_words[WHERES] = {"START", "PART", "END", "VERSION"};

struct dft_class_row {
    char *text;
    size_t length;
    unsigned line; /* of the user's file */
    uint8_t where, io;
};

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
    struct dft_table_file file;
    struct dft_class_table table;
};

/* Cuts the first word off. */
static char *next_word(char **text)
{
    char *word = *text;

    while (**text && !isspace((unsigned char)**text))
        ++*text;
    if (**text)
        *(*text)++ = 0;
    *text = dft_trimmed(*text);
    return word;
}

/* A comment begins the line, or stands behind a blank: names of files may have a #. */
static void drop_comment(char *line)
{
    char *at = line;

    while (*at && (*at != '#' || (at > line && !isspace((unsigned char)at[-1]))))
        at++;
    *at = 0;
}

static int number_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, words[i]))
            return (int)i;
    return -1;
}

static int check_text(const struct reading *reading, const struct dft_class_row *row)
{
    char why[64];

    if (!row->length)
        return dft_table_file_fail(&reading->file, "",
                                   "a text is missing. A line is CLASS WHERE TEXT, as in `read END .h5`.", NULL);
    if (row->where == WHERE_START && *row->text != '/' && row->text[row->length - 1] != ':')
        return dft_table_file_fail(
            &reading->file, row->text,
            ": START takes a path from the root, as in /opt/conda, or a kind, as in pipe:", NULL);
    for (size_t i = 0; i < reading->table.count; i++) {
        const struct dft_class_row *other = &reading->table.rows[i];

        snprintf(why, sizeof why, " is already in line %u.", other->line);
        if (other->where == row->where && !strcmp(other->text, row->text))
            return dft_table_file_fail(&reading->file, row->text, why, NULL);
    }
    return 0;
}

static int parse_line(void *context, char *line)
{
    struct reading *reading = context;
    struct dft_class_row row = {.line = reading->file.line};
    const char *classes[DFT_IO_COUNT], *word;
    char *text;
    int io, where;

    drop_comment(line);
    text = dft_trimmed(line);
    if (!*text)
        return 0;
    for (unsigned i = 0; i < DFT_IO_COUNT; i++)
        classes[i] = dft_io_word((uint8_t)i);
    word = next_word(&text);
    io = number_of(word, classes, DFT_IO_COUNT);
    if (io < 0)
        return dft_table_file_fail(&reading->file, word,
                                   " is no class. Classes are read, write, sync, meta, wait, startup and none.",
                                   dft_nearest_word(word, strlen(word), classes, DFT_IO_COUNT));
    word = next_word(&text);
    where = number_of(word, where_words, WHERES);
    if (where < 0 && *word)
        return dft_table_file_fail(&reading->file, word, " does not say where. START, PART, END and VERSION do.",
                                   dft_nearest_word(word, strlen(word), where_words, WHERES));
    row.io = (uint8_t)io;
    row.where = (uint8_t)where;
    row.text = text;
    row.length = strlen(text); /* none behind a class alone */
    while (row.where == WHERE_START && row.length > 1 && text[row.length - 1] == '/')
        text[--row.length] = 0;
    if (check_text(reading, &row))
        return -EINVAL;
    row.text = strdup(text);
    return row.text ? DFT_ARRAY_PUSH(reading->table.rows, reading->table.capacity, reading->table.count, row) : -ENOMEM;
}

int dft_class_table_read(struct dft_class_table *table, const char *path, char *error, size_t size)
{
    struct reading reading = {.file = {.path = path, .error = error, .size = size}};
    struct dft_class_table before = *table;
    int rc = dft_table_file_read(&reading.file, parse_line, &reading);

    if (!rc)
        *table = reading.table;
    dft_class_table_fini(rc ? &reading.table : &before);
    return rc;
}

void dft_class_table_fini(struct dft_class_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->rows[i].text);
    free(table->rows);
    dft_map_fini(&table->files);
    *table = (struct dft_class_table){0};
}

/* --- files that fit --------------------------------------------------------------------------- */

static int ends_with(const struct dft_class_row *row, const char *path, size_t length)
{
    return length >= row->length && !memcmp(path + length - row->length, row->text, row->length);
}

/* The length without the last version: a point with digits behind it. 0: there is none. */
static size_t without_version(const char *path, size_t length)
{
    size_t point = length;

    while (point && isdigit((unsigned char)path[point - 1]))
        point--;
    return point && point < length && path[point - 1] == '.' ? point - 1 : 0;
}

static int fits(const struct dft_class_row *row, struct dft_text path)
{
    int ends = ends_with(row, path.bytes, path.length);

    switch ((enum where)row->where) {
    case WHERE_START:
        return path.length >= row->length && !memcmp(path.bytes, row->text, row->length) &&
               (path.length == row->length || row->text[row->length - 1] == ':' || row->length == 1 ||
                path.bytes[row->length] == '/');
    case WHERE_PART:
        return memmem(path.bytes, path.length, row->text, row->length) != NULL;
    case WHERE_VERSION:
        for (size_t n = path.length; !ends && (n = without_version(path.bytes, n)) != 0;)
            ends = ends_with(row, path.bytes, n);
        return ends;
    default:
        return ends;
    }
}

struct finding {
    struct dft_class_table *table;
    pthread_mutex_t lock;
};

/* The first row that fits holds. Names of calls and of stacks have bytes that no path has, or fit
 * no event's file. */
static int find_file(void *context, uint64_t id, struct dft_text text)
{
    struct finding *finding = context;
    const struct dft_class_table *table = finding->table;
    size_t i = 0;
    uint64_t *io;

    while (i < table->count && !fits(&table->rows[i], text))
        i++;
    if (i == table->count || !id)
        return 0;
    pthread_mutex_lock(&finding->lock);
    io = dft_map_put(&finding->table->files, id);
    if (io)
        *io = table->rows[i].io + 1u;
    pthread_mutex_unlock(&finding->lock);
    return io ? 0 : -ENOMEM;
}

static int take_files(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_class_table *table = context;

    (void)rank;
    for (size_t i = 0; i < length / sizeof(struct dft_map_slot); i++) {
        struct dft_map_slot slot;
        uint64_t *io;

        memcpy(&slot, (const char *)bytes + i * sizeof slot, sizeof slot);
        io = dft_map_put(&table->files, slot.key);
        if (!io)
            return -ENOMEM;
        *io = slot.value;
    }
    return 0;
}

/* Each rank has looked at its share of the blocks. */
static int exchange_files(struct dft_class_table *table)
{
    struct dft_map_slot *found = malloc((table->files.count + 1) * sizeof *found);
    size_t n = 0;
    int rc = dft_comm_agree(found ? 0 : -ENOMEM);

    for (size_t i = 0; !rc && i < table->files.capacity; i++)
        if (table->files.slots[i].key)
            found[n++] = table->files.slots[i];
    if (!rc)
        rc = dft_comm_exchange(found, n * sizeof *found, take_files, table);
    free(found);
    return rc;
}

static void note_aggregates(struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    uint64_t rows = 0, all = 0;
    char share[DFT_TEXT_ROOM];

    for (uint32_t i = 0; i < count; i++) {
        rows += processes[i].rows_only;
        all += processes[i].events + processes[i].rows_only;
    }
    if (rows)
        dft_source_note(source, 0,
                        "--classes applies to events only: %s of the calls are known as aggregates and keep their "
                        "class",
                        dft_text_share(share, rows, all));
}

int dft_source_classify(struct dft_source *source, struct dft_class_table *table)
{
    struct finding finding = {.table = table};
    int rc;

    pthread_mutex_init(&finding.lock, NULL);
    rc = dft_comm_agree(dft_source_names_each(source, find_file, &finding));
    pthread_mutex_destroy(&finding.lock);
    if (!rc && dft_comm_size() > 1)
        rc = exchange_files(table);
    if (rc)
        return rc;
    note_aggregates(source);
    source->classes = table;
    return 0;
}

int dft_source_is_classified(const struct dft_source *source)
{
    return source->classes != NULL;
}

/* --- events ----------------------------------------------------------------------------------- */

/* The number of the call that is as this one, of another class. Returns 0 or -ENOMEM. */
static int find_call(struct dft_classed_calls *calls, uint32_t *number, enum dft_io io)
{
    uint64_t *place = dft_map_put(&calls->places, (uint64_t)*number * DFT_IO_COUNT + io + 1);

    if (!place)
        return -ENOMEM;
    if (!*place) {
        struct dft_call call = calls->list[*number];

        call.io = (uint8_t)io;
        if (DFT_ARRAY_PUSH(calls->list, calls->capacity, calls->count, call))
            return -ENOMEM;
        *place = calls->count - 1;
    }
    *number = (uint32_t)*place;
    return 0;
}

int dft_class_table_apply(const struct dft_class_table *table, struct dft_classed_calls *calls, struct dft_batch *batch)
{
    int rc = DFT_ARRAY_RESERVE(calls->list, calls->capacity, batch->ncalls);

    if (rc || !table->files.count || !batch->ncalls)
        return rc;
    memcpy(calls->list, batch->calls, batch->ncalls * sizeof *calls->list);
    calls->count = batch->ncalls;
    dft_map_clear(&calls->places);
    for (uint32_t i = 0; !rc && i < batch->count; i++) {
        struct dft_event *event = &batch->events[i];
        const uint64_t *own = event->file ? dft_map_find(&table->files, event->file) : NULL;
        enum dft_io io;

        if (!own || event->call >= batch->ncalls)
            continue;
        io = *own == DFT_IO_NONE + 1 ? DFT_IO_NONE : dft_io_on(calls->list[event->call].op, (enum dft_io)(*own - 1));
        if (io != calls->list[event->call].io)
            rc = find_call(calls, &event->call, io);
    }
    batch->calls = calls->list;
    batch->ncalls = (uint32_t)calls->count;
    return rc;
}
