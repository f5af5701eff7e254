/* SPDX-License-Identifier: MIT */
/* The conversion of one file: lines to records, records to where they belong, and all that once
 * more when the first reading has found what only a second one can put right: a hash defined behind
 * its use, an event around others, a unit of time, lines that stand there twice. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/hash.h"
#include "format/leb128.h"
#include "base/array.h"
#include "dftracer/pfw_event.h"
#include "dftracer/pfw_inside.h"
#include "dftracer/pfw_time.h"
#include "dftracer/pfw_lines.h"
#include "dftracer/pfw_metadata.h"
#include "dftracer/pfw_names.h"
#include "dftracer/pfw_process.h"
#include "dftracer/pfw_rows.h"
#include "dftracer/pfw_stream.h"
#include "dftracer/pfw_unit.h"

#define UNIT_DEFAULT_NS UINT64_C(1000)
#define PROGRESS_LINES  8192u

struct dft_pfw_worker {
    void *memory; /* the encoder's */
    struct dft_encoder *encoder;
    struct dft_pfw_record record;
};

struct dft_pfw_worker *dft_pfw_worker_create(void)
{
    struct dft_pfw_worker *worker = calloc(1, sizeof *worker);

    if (!worker)
        return NULL;
    worker->memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (worker->memory == MAP_FAILED) {
        free(worker);
        return NULL;
    }
    worker->encoder = dft_encoder_init(worker->memory);
    dft_pfw_record_init(&worker->record);
    return worker;
}

void dft_pfw_worker_destroy(struct dft_pfw_worker *worker)
{
    if (!worker)
        return;
    munmap(worker->memory, dft_encoder_bytes());
    free(worker);
}

struct dft_encoder *dft_pfw_worker_encoder(struct dft_pfw_worker *worker)
{
    return worker->encoder;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Letters of 1.x and numbers of 2.x. 0: not known. */
static char phase_of(const struct dft_pfw_record *record)
{
    static const char numbers[] = {0, 'X', 'C', 'A', 'M'};
    const struct dft_pfw_value *value = DFT_PFW_GET(record, PH);
    uint64_t number;
    int negative;

    if (!DFT_PFW_HAS(record, PH))
        return 0;
    if (dft_likely(value->kind == DFT_PFW_STRING && value->text.length == 1 && value->text.bytes[0] > '9'))
        return value->text.bytes[0];
    return !dft_pfw_unsigned(value, &number, &negative) && !negative && number < sizeof numbers ? numbers[number] : 0;
}

static int take_point(struct dft_pfw *pfw, char phase, struct dft_text line)
{
    static const char letters[] = "BEiIbesftC";
    static const uint8_t phases[] = {
        DFT_PHASE_BEGIN,     DFT_PHASE_END,        DFT_PHASE_INSTANT,  DFT_PHASE_INSTANT,   DFT_PHASE_ASYNC_BEGIN,
        DFT_PHASE_ASYNC_END, DFT_PHASE_FLOW_START, DFT_PHASE_FLOW_END, DFT_PHASE_FLOW_STEP, DFT_PHASE_COUNTER};
    const char *letter = phase ? strchr(letters, phase) : NULL;

    if (!letter) {
        pfw->counts->unknown++;
        return 0;
    }
    dft_pfw_see(pfw, line);
    if (dft_pfw_point(pfw, phases[letter - letters]))
        return -1;
    pfw->counts->counters += phase == 'C';
    return 0;
}

/* One whole record. Returns 0, or -1: it is not one of ours. */
static int take_record(struct dft_pfw *pfw, struct dft_text line)
{
    uint64_t *times;
    char phase;

    pfw->repeated = 0;
    if (dft_unlikely(pfw->second && pfw->known->repeated.count)) {
        times = dft_map_find(&pfw->known->repeated, dft_name_id(line.bytes, line.length));
        pfw->repeated = times && (*times)++;
        pfw->counts->repeated += (uint64_t)pfw->repeated;
    }
    if (dft_unlikely(pfw->nwaiting && DFT_PFW_HAS(pfw->record, TS))) {
        /* The scan of what waits takes the record's place. */
        dft_pfw_when(pfw, DFT_PFW_GET(pfw->record, TS), &pfw->now_ns);
        dft_pfw_metadata_waiting(pfw);
        dft_pfw_scan(line.bytes, line.bytes + line.length, pfw->record);
    }
    phase = phase_of(pfw->record);
    if (dft_likely(phase == 'X'))
        return dft_pfw_complete(pfw, line);
    if (phase == 'M')
        return dft_pfw_metadata(pfw, line);
    if (phase == 'A' || (phase == 'C' && DFT_PFW_HAS(pfw->record, DFT_CNT))) { /* profiles: how many calls? */
        dft_pfw_see(pfw, line);
        if (dft_pfw_aggregated(pfw))
            return -1;
        pfw->counts->aggregated++;
        return 0;
    }
    return take_point(pfw, phase, line);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void invalid(struct dft_pfw *pfw, uint64_t number)
{
    if (!pfw->counts->invalid++)
        pfw->counts->first_invalid = number;
}

/* A dictionary entry whose text has quotes in it: the text ends where the value begins. The line
 * counts as invalid all the same. */
static void rescue_definition(struct dft_pfw *pfw, const char *at, const char *end)
{
    static const char middle[] = "\",\"value\":", start[] = "\"args\":{";
    struct dft_pfw_value name = {.kind = DFT_PFW_STRING}, hash = {.kind = DFT_PFW_INTEGER};
    const char *args = memmem(at, (size_t)(end - at), start, sizeof start - 1), *text, *behind;
    enum dft_pfw_hash kind = memmem(at, (size_t)(end - at), "\"name\":\"FH\"", 11)   ? DFT_HASH_FILE
                             : memmem(at, (size_t)(end - at), "\"name\":\"SH\"", 11) ? DFT_HASH_STRING
                                                                                     : (enum dft_pfw_hash)0;

    text = args && kind ? memmem(args, (size_t)(end - args), "\"name\":\"", 8) : NULL;
    behind = text ? memmem(text + 8, (size_t)(end - text - 8), middle, sizeof middle - 1) : NULL;
    if (!behind)
        return;
    name.text = (struct dft_text){text + 8, (uint32_t)(behind - text - 8)};
    behind += sizeof middle - 1;
    if (*behind == '"') {
        hash.kind = DFT_PFW_STRING;
        behind++;
    }
    hash.text.bytes = behind;
    for (; behind < end && *behind != '"' && *behind != '}'; behind++)
        if (hash.kind == DFT_PFW_INTEGER && *behind >= '0' && *behind <= '9')
            hash.number = hash.number * 10 + (uint64_t)(*behind - '0');
    hash.text.length = (uint32_t)(behind - hash.text.bytes);
    if (behind < end && hash.text.length)
        dft_pfw_define(pfw, kind, &hash, &name);
}

/* Where a record may begin inside of a broken one: writers that cut a line leave out its end. `*id`
 * is where such a search found the first way to begin, in the same line and not behind `end`, or
 * NULL: it is not searched for again before that is passed, or a long line would take for ever. */
static const char *next_start(const char *at, const char *end, const char **id)
{
    const char *name;

    if (!*id || *id < at) {
        *id = memmem(at, (size_t)(end - at), "{\"id\":", 6);
        *id = *id ? *id : end;
    }
    name = memmem(at, (size_t)(*id - at), "{\"name\":\"", 9);
    return name ? name : *id < end ? *id : NULL;
}

static int is_frame(char c)
{
    return c == '[' || c == ']' || c == ',' || c == ' ' || c == '\t' || c == '\r' || !c;
}

/* Is the object at hand a record, and not a part of one? */
static int is_record(const struct dft_pfw_record *record)
{
    return DFT_PFW_HAS(record, NAME) && (DFT_PFW_HAS(record, PH) || DFT_PFW_HAS(record, TS)) &&
           (DFT_PFW_HAS(record, PID) || DFT_PFW_HAS(record, TID) || DFT_PFW_HAS(record, CAT));
}

/* A line has one record, none, or, where lines are glued together, several. */
static void take_line(struct dft_pfw *pfw, const char *at, const char *end, uint64_t number)
{
    const char *id = NULL;
    int broken = 0;

    pfw->counts->lines++;
    for (;;) {
        const char *start, *behind;

        while (at < end && is_frame(*at)) {
            pfw->closed = *at == ']' ? 1 : *at == '[' ? 0 : pfw->closed;
            at++;
        }
        if (at == end)
            break;
        start = at;
        behind = *at == '{' ? dft_pfw_scan(at, end, pfw->record) : NULL;
        if (dft_likely(behind && is_record(pfw->record) &&
                       !take_record(pfw, (struct dft_text){start, (uint32_t)(behind - start)}))) {
            pfw->counts->records++;
            pfw->closed = 0;
            at = behind;
            continue;
        }
        if (!broken)
            invalid(pfw, number);
        if (!behind && !broken)
            rescue_definition(pfw, start, end);
        broken = 1;
        at = next_start(behind ? behind : start + 1, end, &id);
        if (!at)
            break;
    }
}

static int read_lines(struct dft_pfw *pfw)
{
    struct dft_lines lines;
    const char *line = NULL;
    size_t length = 0;
    int rc = dft_lines_open(&lines, pfw->job->path);
    uint64_t invalid_before = 0;

    if (rc)
        return rc;
    while (!pfw->error && (rc = dft_lines_next(&lines, &line, &length)) > 0) {
        invalid_before = pfw->counts->invalid;
        if (dft_likely(length))
            take_line(pfw, line, line + length, lines.number);
        if (dft_unlikely(!(lines.number % PROGRESS_LINES)) && pfw->job->progress)
            pfw->job->progress(pfw->job->context, lines.bytes_read);
    }
    pfw->counts->torn = lines.torn && pfw->counts->invalid > invalid_before;
    pfw->counts->long_lines = lines.too_long;
    pfw->counts->reason = lines.reason;
    dft_lines_close(&lines);
    return pfw->error ? pfw->error : rc;
}

/* --- once, and once more ---------------------------------------------------------------------- */

static void free_stream(struct dft_pfw_stream *stream)
{
    dft_table_destroy(stream->rows);
    free(stream->events);
    free(stream->args);
    free(stream->text);
    free(stream);
}

static void pfw_fini(struct dft_pfw *pfw)
{
    for (uint32_t i = 0; i < pfw->nstreams; i++)
        free_stream(pfw->streams[i]);
    for (uint32_t i = 0; i < pfw->nprocesses; i++) {
        for (uint32_t k = 0; k < pfw->processes[i]->nowned; k++)
            free(pfw->processes[i]->owned[k]);
        free(pfw->processes[i]);
    }
    for (uint32_t i = 0; i < pfw->nkinds; i++) {
        free((char *)(uintptr_t)pfw->kinds[i]->text.bytes);
        free(pfw->kinds[i]);
    }
    for (uint32_t i = 0; i < pfw->nwaiting; i++)
        free(pfw->waiting[i].text);
    dft_map_fini(&pfw->definitions);
    dft_map_fini(&pfw->ambiguous);
    dft_map_fini(&pfw->unresolved);
    dft_map_fini(&pfw->seen);
    dft_map_fini(&pfw->named);
    dft_map_fini(&pfw->short_texts);
    dft_map_fini(&pfw->kind_of);
    dft_map_fini(&pfw->process_of);
    dft_map_fini(&pfw->stream_of);
    free(pfw->streams);
    free(pfw->processes);
    free(pfw->kinds);
    free(pfw->waiting);
    free(pfw->strings);
    free(pfw->names);
    free(pfw->name_text);
    free(pfw->calls);
    free(pfw->cache);
    free(pfw->buffer);
}

static void write_rest(struct dft_pfw *pfw)
{
    dft_pfw_metadata_waiting(pfw);
    for (uint32_t i = 0; i < pfw->nstreams; i++)
        dft_pfw_stream_flush(pfw, pfw->streams[i]);
    for (uint32_t i = 0; i < pfw->nstreams; i++)
        dft_pfw_rows_flush(pfw, pfw->streams[i]);
    dft_pfw_names_flush(pfw);
    dft_pfw_processes_put(pfw);
}

/* Returns 1 when the file is to be read again. */
static int read_once(struct dft_pfw_worker *worker, const struct dft_pfw_job *job, struct dft_pfw_known *known,
                     int second, struct dft_pfw_counts *counts)
{
    struct dft_pfw pfw = {.job = job,
                          .worker = worker,
                          .encoder = worker->encoder,
                          .record = &worker->record,
                          .counts = counts,
                          .known = known,
                          .second = second};
    int rc = -ENOMEM;

    memset(counts, 0, sizeof *counts);
    dft_pfw_encoder_begin(&pfw);
    pfw.cache = calloc(DFT_PFW_CALL_CACHE, sizeof *pfw.cache);
    if (pfw.cache)
        rc = read_lines(&pfw);
    if (!rc && !pfw.surveys)
        write_rest(&pfw);
    counts->bytes = pfw.byte_sum;
    counts->time_ns = pfw.time_sum;
    if (!rc)
        rc = pfw.error ? pfw.error : pfw.surveys;
    pfw_fini(&pfw);
    return rc;
}

int dft_pfw_convert(struct dft_pfw_worker *worker, const struct dft_pfw_job *job, struct dft_pfw_counts *counts)
{
    struct dft_pfw_known known = {.unit_ns = UNIT_DEFAULT_NS,
                                  .period_ns = job->period_ns ? job->period_ns : DFT_PFW_PERIOD_NS};
    uint64_t unchecked;
    int rc = read_once(worker, job, &known, 0, counts);

    if (rc == 1) {
        unchecked = counts->unchecked;
        rc = job->again(job->context);
        if (!rc)
            rc = read_once(worker, job, &known, 1, counts);
        counts->unchecked = unchecked;
    }
    dft_map_fini(&known.definitions);
    dft_map_fini(&known.classes);
    dft_map_fini(&known.parents);
    dft_map_fini(&known.parent_texts);
    dft_map_fini(&known.repeated);
    free(known.texts);
    return rc;
}

uint64_t dft_pfw_version(uint64_t period_ns, int period_ends)
{
    uint64_t words[2] = {period_ns, period_ends != 0};

    return !period_ns && !period_ends ? DFT_PFW_VERSION : dft_name_id(words, sizeof words) << 8 | DFT_PFW_VERSION;
}

int dft_pfw_looks_like(const void *bytes, size_t length)
{
    const char *at = bytes, *end = at + length;

    if (length >= 2 && (uint8_t)at[0] == 0x1f && (uint8_t)at[1] == 0x8b)
        return 1;
    while (at < end && (is_frame(*at) || *at == '\n'))
        at++;
    return at < end ? *at == '{' : length && memchr(bytes, '[', length);
}
