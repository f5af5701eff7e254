/* SPDX-License-Identifier: MIT */
/* dftmerge ranks on telemetry files: which files, and the answer as JSON and as text. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/names.h"
#include "ranks/ranks.h"
#include "ranks/ranks_job.h"
#include "telemetry/telemetry.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "ranks/ranks_regions.h"
#include "judge/source.h"
#include "intake/source_find.h"
#include "judge/source_ending.h"
#include "object/source_notes.h"

#define DEPTH_MAX      64
#define PROBLEMS_SHOWN 20u

/* --- files ------------------------------------------------------------------------------------ */

static int is_telemetry_name(const char *path)
{
    static const char *const endings[] = {".json", ".jsonl", ".ndjson"};
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t m = strlen(endings[i]);

        if (n > m && !strcmp(path + n - m, endings[i]))
            return 1;
    }
    return 0;
}

/* What is below a directory: 1 files of telemetry alone, 0 none, -1 traces. */
static int look_below(const char *path, int depth)
{
    DIR *dir = depth < DEPTH_MAX ? opendir(path) : NULL;
    const struct dirent *entry;
    int found = 0;

    while (dir && found >= 0 && (entry = readdir(dir))) {
        struct stat st;
        char *name;
        int below = 0;

        if (entry->d_name[0] == '.' || asprintf(&name, "%s/%s", path, entry->d_name) < 0)
            continue;
        if (!lstat(name, &st) && S_ISDIR(st.st_mode))
            below = look_below(name, depth + 1);
        else if (dft_trace_name(name))
            below = -1;
        else
            below = is_telemetry_name(name);
        found = below ? below : found;
        free(name);
    }
    if (dir)
        closedir(dir);
    return found;
}

int dft_is_telemetry_path(const char *path)
{
    struct stat st;

    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        return look_below(path, 0) > 0;
    return is_telemetry_name(path);
}

static int read_path(struct dft_telemetry *telemetry, const char *path, int depth);

/* In order of names, so that nothing depends on the order of the directory. */
static int read_directory(struct dft_telemetry *telemetry, const char *path, int depth)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), rc = 0;

    if (count < 0)
        return dft_telemetry_problem(telemetry, "%s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *name = NULL;

        if (!rc && entries[i]->d_name[0] != '.') {
            rc = asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0 ? -ENOMEM : 0;
            if (!rc)
                rc = read_path(telemetry, name, depth + 1);
            free(name);
        }
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int read_path(struct dft_telemetry *telemetry, const char *path, int depth)
{
    struct stat st;

    if (depth && lstat(path, &st))
        return dft_telemetry_problem(telemetry, "%s: %s", path, strerror(errno));
    if (depth ? S_ISDIR(st.st_mode) && depth < DEPTH_MAX : !stat(path, &st) && S_ISDIR(st.st_mode))
        return read_directory(telemetry, path, depth);
    if (depth && !is_telemetry_name(path))
        return 0;
    return dft_telemetry_read(telemetry, path);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_ranks(struct dft_json *json, const char *key, const uint32_t *ranks, uint32_t count)
{
    dft_json_array(json, key);
    for (uint32_t i = 0; i < count; i++)
        dft_json_uint(json, NULL, ranks[i]);
    dft_json_end_array(json);
}

static const char *rank_key(char text[16], uint32_t rank)
{
    snprintf(text, 16, "%" PRIu32, rank);
    return text;
}

/* What a suspect was doing at its spike, as the traces of the job say. */
static void json_phase(struct dft_json *json, const struct dft_ranks_job *phases, uint32_t number)
{
    const struct dft_ranks_moment *moment = number < phases->nmoments ? &phases->moments[number] : NULL;
    struct dft_text category, name;
    char room[18];

    if (!moment || !moment->region) {
        dft_json_null(json, "phase_attribution");
        return;
    }
    dft_names_call(dft_source_names_table(phases->source), moment->region, &category, &name, room);
    dft_json_object(json, "phase_attribution");
    dft_json_text(json, "phase", name.bytes, name.length);
    dft_json_text(json, "category", category.bytes, category.length);
    dft_json_uint(json, "start_timestamp_ns", moment->start_ns);
    dft_json_end_object(json);
}

static void json_suspect(struct dft_json *json, const struct dft_cross_rank *result, uint32_t number,
                         const struct dft_ranks_job *phases)
{
    const struct dft_suspect *suspect = &result->cause.suspects[number];
    uint32_t suspects = result->cause.nsuspects;

    dft_json_object(json, NULL);
    dft_json_uint(json, "rank", suspect->rank);
    dft_json_int(json, "first_spike_timestamp_ns", suspect->time_ns);
    dft_json_int(json, "aligned_first_spike_timestamp_ns", suspect->aligned_ns);
    dft_json_int(json, "peak_delta_bytes", suspect->delta);
    dft_json_uint(json, "spike_window_samples", suspect->samples);
    dft_json_int(json, "lead_over_cluster_onset_ns", suspect->lead_ns);
    dft_json_string(json, "confidence", dft_confidence_name(suspect->confidence));
    dft_json_object(json, "evidence");
    dft_json_int(json, "device_used_delta_bytes", suspect->delta);
    dft_json_uint(json, "supporting_ranks_at_or_before_onset", suspects);
    dft_json_end_object(json);
    json_phase(json, phases, number);
    dft_json_end_object(json);
}

static void print_json(const struct dft_cross_rank *result, const struct dft_ranks_job *phases)
{
    struct dft_json json;
    char text[16];

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_string(&json, "job_id", result->job);
    dft_json_uint(&json, "world_size", result->world_size);
    dft_json_array(&json, "participating_ranks");
    for (uint32_t i = 0; i < result->nseries; i++)
        dft_json_uint(&json, NULL, result->series[i].rank);
    dft_json_end_array(&json);
    json_ranks(&json, "missing_ranks", result->missing, result->nmissing);
    dft_json_object(&json, "rank_sample_counts");
    for (uint32_t i = 0; i < result->nseries; i++) {
        const struct dft_metric_series *series = &result->series[result->appearance[i]];

        dft_json_uint(&json, rank_key(text, series->rank), series->count);
    }
    dft_json_end_object(&json);
    dft_json_object(&json, "alignment_offsets_ns");
    for (uint32_t i = 0; i < result->nseries; i++)
        dft_json_int(&json, rank_key(text, result->series[i].rank), result->series[i].offset_ns);
    dft_json_end_object(&json);
    dft_json_known_int(&json, "cluster_onset_timestamp_ns", result->cause.has_onset, result->cause.onset_ns);
    dft_json_array(&json, "first_cause_suspects");
    for (uint32_t i = 0; i < result->cause.nsuspects; i++)
        json_suspect(&json, result, i, phases);
    dft_json_end_array(&json);
    dft_json_strings(&json, "notes", result->notes, result->nnotes);
    dft_json_end_object(&json);
    putchar('\n');
}

/* --- text ------------------------------------------------------------------------------------- */

void dft_print_ranks(FILE *out, const uint32_t *ranks, uint32_t count, uint32_t most)
{
    uint32_t i = 0, pieces = 0;

    while (i < count && pieces < most) {
        uint32_t from = i;

        while (i + 1 < count && ranks[i + 1] == ranks[i] + 1)
            i++;
        fprintf(out, "%s%" PRIu32, pieces++ ? ", " : "", ranks[from]);
        if (i > from)
            fprintf(out, i == from + 1 ? ", %" PRIu32 : "-%" PRIu32, ranks[i]);
        i++;
    }
    if (i < count)
        fprintf(out, " and %" PRIu32 " more", count - i);
}

static void print_time(int64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    char text[32] = "?";
    struct tm tm;

    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    printf("%s.%03d UTC", text, (int)(ns % 1000000000 / 1000000));
}

static void print_cause(const struct dft_cross_rank *result, const struct dft_ranks_job *phases)
{
    const struct dft_first_cause *cause = &result->cause;
    const struct dft_suspect *first = cause->suspects;
    char text[DFT_TEXT_ROOM];

    printf("cause     ");
    if (!cause->nsuspects) {
        printf("none found: no rank's memory rose by %s\n", "64 MiB, or a tenth of its most, at once");
        return;
    }
    printf("rank %" PRIu32 "'s memory rose first: by %s", first->rank, dft_text_bytes(text, (uint64_t)first->delta));
    if (cause->has_onset)
        printf(", %s before the second rank's", dft_text_ns(text, (uint64_t)first->lead_ns));
    printf(" (confidence: %s)\n          at ", dft_confidence_name(first->confidence));
    print_time(first->time_ns);
    if (phases->nmoments && phases->moments[0].region) {
        struct dft_text category, name;
        char room[18];

        dft_names_call(dft_source_names_table(phases->source), phases->moments[0].region, &category, &name, room);
        fputs(", in ", stdout);
        dft_text_escape(stdout, name.bytes, name.length);
    }
    putchar('\n');
}

static int print_suspects(const struct dft_first_cause *cause)
{
    static const struct dft_grid_column columns[] = {
        {"rank"}, {"rose by"}, {"in samples"}, {"before"}, {"confidence", 1}};
    struct dft_grid *grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    char text[DFT_TEXT_ROOM];
    int rc = 0;

    for (uint32_t i = 0; grid && !rc && i < cause->nsuspects && i < 20; i++) {
        const struct dft_suspect *suspect = &cause->suspects[i];

        snprintf(text, sizeof text, "%" PRIu32, suspect->rank);
        rc = dft_grid_cell(grid, text);
        rc = rc ? rc : dft_grid_cell(grid, dft_text_bytes(text, (uint64_t)suspect->delta));
        snprintf(text, sizeof text, "%" PRIu32, suspect->samples);
        rc = rc ? rc : dft_grid_cell(grid, text);
        rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(text, (uint64_t)suspect->lead_ns));
        rc = rc ? rc : dft_grid_cell(grid, dft_confidence_name(suspect->confidence));
    }
    if (grid && !rc) {
        printf("\nSuspects, up to the onset\n");
        dft_grid_print(grid, stdout);
        if (cause->nsuspects > 20)
            printf("and %" PRIu32 " more at the same time\n", cause->nsuspects - 20);
    }
    rc = grid ? rc : -ENOMEM;
    dft_grid_destroy(grid);
    return rc;
}

static int print_text(const struct dft_cross_rank *result, size_t events, const struct dft_ranks_job *phases)
{
    char text[DFT_TEXT_ROOM];
    size_t samples = 0;

    for (uint32_t i = 0; i < result->nseries; i++)
        samples += result->series[i].count;
    if (result->nseries)
        print_cause(result, phases);
    printf("job       ");
    dft_text_escape(stdout, result->job ? result->job : "-", strlen(result->job ? result->job : "-"));
    printf("\nranks     %" PRIu32 " of %" PRIu32, result->nseries, result->world_size);
    if (result->nmissing) {
        printf("; missing: ");
        dft_print_ranks(stdout, result->missing, result->nmissing, 20);
    }
    printf("\nsamples   %s", dft_text_count(text, samples));
    printf(" of %s records", dft_text_count(text, events));
    if (result->interval_ns)
        printf(", one every %s", dft_text_ns(text, (uint64_t)result->interval_ns));
    printf("\naligned   on the first sample of each rank\n");
    for (size_t i = 0; i < result->nnotes && i < 20; i++) {
        printf(i ? "          " : "notes     ");
        dft_text_escape(stdout, result->notes[i], strnlen(result->notes[i], 400));
        puts(strlen(result->notes[i]) > 400 ? "..." : "");
    }
    return result->cause.nsuspects > 1 ? print_suspects(&result->cause) : 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void report(const struct dft_telemetry *telemetry)
{
    for (size_t i = 0; i < telemetry->nproblems && i < PROBLEMS_SHOWN; i++)
        fprintf(stderr, "dftmerge: %s\n", telemetry->problems[i]);
    if (telemetry->bad > PROBLEMS_SHOWN)
        fprintf(stderr, "dftmerge: and %" PRIu64 " more records or files that could not be used\n",
                telemetry->bad - PROBLEMS_SHOWN);
}

/* *unread: the traces were not all read. Returns 0 or -ENOMEM. */
static int find_phases(struct dft_ranks_job *phases, const char *path, const struct dft_options *options,
                       const struct dft_cross_rank *result, int *unread)
{
    struct dft_source_options asked = options->source;
    char *paths[] = {(char *)(uintptr_t)path};
    int rc;

    asked.paths = paths;
    asked.npaths = 1;
    rc = dft_source_open(&phases->source, &asked);
    if (!rc)
        rc = dft_ranks_phases(phases, &result->cause);
    if (phases->source)
        dft_source_report(phases->source);
    *unread = phases->source && dft_source_status(phases->source);
    return rc;
}

int dft_ranks_telemetry(const struct dft_options *options, const char *phases_path)
{
    struct dft_ranks_job phases = {0};
    int unread = 0;
    struct dft_telemetry telemetry = {0};
    struct dft_cross_rank result = {0};
    int rc = 0, code;

    if (!dft_telemetry_can_read()) {
        fprintf(stderr,
                "dftmerge ranks: telemetry files are JSON, and this dftmerge was built without a JSON library.\n"
                "dftmerge ranks: Install json-c (Debian: libjson-c-dev) and build again. Traces can be read.\n");
        return DFT_EXIT_BAD;
    }
    for (int i = 0; !rc && i < options->source.npaths; i++)
        rc = read_path(&telemetry, options->source.paths[i], 0);
    if (!rc)
        rc = dft_cross_rank_analyse(&telemetry, &result);
    if (!rc && phases_path)
        rc = find_phases(&phases, phases_path, options, &result, &unread);
    if (!rc && options->json)
        print_json(&result, &phases);
    else if (!rc)
        rc = print_text(&result, telemetry.count, &phases);
    if (!options->source.quiet)
        report(&telemetry);
    if (rc)
        fprintf(stderr, "dftmerge ranks: %s\n", strerror(-rc));
    code = rc || unread || telemetry.bad || !result.nseries ? DFT_EXIT_BAD : DFT_EXIT_OK;
    free(phases.rank_of);
    free(phases.moments);
    dft_source_close(phases.source);
    dft_cross_rank_fini(&result);
    dft_telemetry_fini(&telemetry);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "dftmerge: standard output: %s\n", strerror(errno));
        code = DFT_EXIT_BAD;
    }
    return code;
}
