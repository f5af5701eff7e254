/* SPDX-License-Identifier: MIT */
/* The result of a replay for programs. */
#include "replay/replay_output.h"

#include "base/facet_words.h"
#include "base/names.h"
#include "base/write_json.h"
#include "object/source_notes.h"

static void write_tally(struct dft_json *json, const char *key, const struct dft_replay_tally *tally)
{
    dft_json_object(json, key);
    dft_json_uint(json, "calls", tally->calls);
    dft_json_uint(json, "bytes", tally->bytes);
    dft_json_uint(json, "time_ns", tally->ns);
    dft_json_uint(json, "p99_ns", dft_tally_p99(tally));
    dft_json_end_object(json);
}

static void write_classes(struct dft_json *json, const struct dft_replay_result *result)
{
    dft_json_array(json, "classes");
    for (uint8_t io = 0; io < DFT_IO_COUNT; io++) {
        if (!result->plan->recorded.by_io[io].events)
            continue;
        dft_json_object(json, NULL);
        dft_json_string(json, "class", dft_io_word(io));
        write_tally(json, "recorded", &result->plan->recorded.by_io[io]);
        if (result->threads)
            write_tally(json, "replayed", &result->threads->outcome.tallies.by_io[io]);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void write_calls(struct dft_json *json, const struct dft_replay_result *result)
{
    dft_json_array(json, "calls");
    for (unsigned i = 0; i < DFT_REPLAY_CALLS; i++) {
        if (!result->plan->kinds[i])
            continue;
        dft_json_object(json, NULL);
        dft_json_string(json, "call", dft_replay_call_word((enum dft_replay_call)i));
        dft_json_uint(json, "recorded", result->plan->kinds[i]);
        if (result->threads) {
            dft_json_uint(json, "made", result->threads->outcome.done[i]);
            dft_json_uint(json, "other_result", result->threads->outcome.differs[i]);
            dft_json_uint(json, "not_made", result->threads->outcome.skipped[i]);
        }
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void write_left(struct dft_json *json, const struct dft_replay_plan *plan)
{
    struct dft_text category, name;
    char text[18];

    dft_json_array(json, "left_out");
    for (size_t i = 0; i < plan->lefts.count; i++) {
        const struct dft_replay_left *left = &plan->lefts.list[i];

        dft_names_call(plan->resolver.names, left->call, &category, &name, text);
        dft_json_object(json, NULL);
        dft_json_text(json, "cat", category.bytes, category.length);
        dft_json_text(json, "name", name.bytes, name.length);
        dft_json_uint(json, "events", left->events);
        dft_json_string(json, "reason", dft_replay_reason_text(left->reason));
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void write_plan(struct dft_json *json, const struct dft_replay_plan *plan)
{
    dft_json_uint(json, "processes", plan->processes);
    dft_json_uint(json, "threads", plan->threads.count);
    dft_json_uint(json, "events", plan->events);
    dft_json_uint(json, "files", plan->files);
    dft_json_uint(json, "folders", plan->folders);
    dft_json_uint(json, "bytes_at_start", plan->start_bytes);
    dft_json_uint(json, "bytes_needed", plan->need_bytes);
    dft_json_uint(json, "recorded_ns", plan->last_ns - plan->first_ns);
}

int dft_replay_json(const struct dft_replay_result *result, struct dft_source *source)
{
    const struct dft_replay_threads *threads = result->threads;
    struct dft_json json;
    size_t nnotes;
    char *const *notes = dft_source_notes(source, &nnotes);

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    write_plan(&json, result->plan);
    dft_json_string(&json, "speed", result->speed);
    dft_json_string(&json, "root", result->root);
    if (threads) {
        dft_json_uint(&json, "replayed_ns", threads->end_ns - threads->begin_ns);
        dft_json_uint(&json, "threads_at_once", threads->most_live);
        dft_json_uint(&json, "late_ns", threads->outcome.late_ns);
        dft_json_uint(&json, "refused", threads->outcome.refused);
        dft_json_uint(&json, "in_pieces", threads->outcome.pieces);
    }
    write_classes(&json, result);
    write_calls(&json, result);
    write_left(&json, result->plan);
    dft_json_strings(&json, "notes", notes, nnotes);
    dft_json_end_object(&json);
    putchar('\n');
    return 0;
}
