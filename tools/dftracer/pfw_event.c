/* SPDX-License-Identifier: MIT */
/* Records that have a time: calls, regions, counters, points. And repetitions, which are recognized by them.
 *
 * REPETITIONS. A child that was forked writes its parent's buffer once more, so whole runs of lines
 * stand there twice. A thread's records come in order of their ends; a line that goes back behind
 * the latest end of its thread (or has the same end, and an id that is not above the last one's)
 * may be a repetition, no other line can be. The hashes of such lines are kept, and the second
 * reading counts how often each line stands there. Where nothing goes back, nothing is kept and
 * nothing read twice. Lines without an id or a time are few: of them all hashes are kept. */
#include "dftracer/pfw_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dftracer/pfw_calls.h"
#include "dftracer/pfw_fields.h"
#include "dftracer/pfw_names.h"
#include "dftracer/pfw_place.h"
#include "dftracer/pfw_process.h"
#include "dftracer/pfw_stream.h"
#include "format/hash.h"
#include "format/leb128.h"
#include "dftracer/pfw_time.h"
#include "dftracer/pfw_unit.h"

#define SEEN_MAX    ((size_t)1 << 19)
#define PARENTS_MAX ((size_t)1 << 20)

/* --- time ------------------------------------------------------------------------------------- */

static uint64_t duration_of(struct dft_pfw *pfw, const struct dft_pfw_record *record)
{
    uint64_t ns;

    if (!DFT_PFW_HAS(record, DUR))
        return 0;
    if (dft_unlikely(dft_pfw_when(pfw, DFT_PFW_GET(record, DUR), &ns)))
        ns = UINT64_MAX;
    return dft_pfw_duration(pfw, ns, 1);
}

/* --- repetitions ------------------------------------------------------------------------------ */

/* Nothing that can be a repetition goes by. */
static void suspect(struct dft_pfw *pfw, struct dft_text line)
{
    if (pfw->known->repeated.count >= SEEN_MAX)
        pfw->counts->unchecked++;
    else if (!dft_map_put(&pfw->known->repeated, dft_name_id(line.bytes, line.length)))
        pfw->error = -ENOMEM;
    pfw->surveys = 1;
}

/* Lines that have no order. */
void dft_pfw_see(struct dft_pfw *pfw, struct dft_text line)
{
    uint64_t *times;

    if (pfw->second)
        return;
    if (pfw->seen.count >= SEEN_MAX) {
        pfw->counts->unchecked++;
        return;
    }
    times = dft_map_put(&pfw->seen, dft_name_id(line.bytes, line.length));
    if (!times)
        pfw->error = -ENOMEM;
    else if ((*times)++)
        suspect(pfw, line);
}

static void look_back(struct dft_pfw *pfw, struct dft_pfw_stream *stream, uint64_t end_ns, struct dft_text line)
{
    uint64_t id = dft_pfw_number(pfw->record, DFT_PFW_ID);

    if (pfw->second)
        return;
    if (!DFT_PFW_HAS(pfw->record, ID)) {
        dft_pfw_see(pfw, line);
    } else if (dft_likely(end_ns > stream->max_end || (end_ns == stream->max_end && id > stream->last_id) ||
                          (!stream->max_end && !stream->last_id))) {
        stream->max_end = end_ns;
        stream->last_id = id;
    } else {
        suspect(pfw, line);
    }
}

/* --- enclosing events ------------------------------------------------------------------------- */

static uint64_t parent_key(uint64_t pid, uint64_t id)
{
    uint64_t words[2] = {pid, id};

    return dft_name_id(words, sizeof words);
}

/* The call of the event around this one. It ends, and is written, later: its name takes a second
 * reading. */
static uint64_t region_of(struct dft_pfw *pfw, const struct dft_pfw_process *process)
{
    const struct dft_pfw_record *record = pfw->record;
    uint64_t key, *id, *text;
    int64_t parent;
    uint32_t length;

    if (!DFT_PFW_HAS(record, P_IDX) || (DFT_PFW_GET(record, P_IDX)->negative) ||
        dft_pfw_signed(DFT_PFW_GET(record, P_IDX), &parent) || parent < 0)
        return 0;
    key = parent_key(process->pid, (uint64_t)parent);
    if (!pfw->second) {
        if (pfw->known->parents.count < PARENTS_MAX && !dft_map_put(&pfw->known->parents, key))
            pfw->error = -ENOMEM;
        pfw->surveys = 1;
        return 0;
    }
    id = dft_map_find(&pfw->known->parents, key);
    if (!id || !*id)
        return 0;
    text = dft_map_find(&pfw->known->parent_texts, *id);
    if (text) {
        memcpy(&length, pfw->known->texts + *text, sizeof length);
        dft_pfw_name_put(pfw, *id, (struct dft_text){pfw->known->texts + *text + sizeof length, length}, 0);
    }
    return *id;
}

/* Is this one that others have named as theirs? Where it comes before them, as in our own export,
 * the second reading finds it, since the first one did not know that they would. */
static void answer_children(struct dft_pfw *pfw, const struct dft_pfw_process *process, const struct dft_pfw_call *call)
{
    struct dft_pfw_known *known = pfw->known;
    uint64_t *id, *text;

    if (!known->parents.count || !DFT_PFW_HAS(pfw->record, ID))
        return;
    id = dft_map_find(&known->parents, parent_key(process->pid, dft_pfw_number(pfw->record, DFT_PFW_ID)));
    if (!id || *id)
        return;
    *id = call->id;
    if (dft_map_find(&known->parent_texts, call->id))
        return;
    text = dft_map_put(&known->parent_texts, call->id);
    if (!text || DFT_ARRAY_RESERVE(known->texts, known->texts_capacity,
                                   known->texts_used + call->text.length + sizeof call->text.length)) {
        pfw->error = -ENOMEM;
        return;
    }
    *text = known->texts_used;
    memcpy(known->texts + known->texts_used, &call->text.length, sizeof call->text.length);
    memcpy(known->texts + known->texts_used + sizeof call->text.length, call->text.bytes, call->text.length);
    known->texts_used += sizeof call->text.length + call->text.length;
}

/* --- events ----------------------------------------------------------------------------------- */

/* What "end" says about units, before its own time is looked at. */
static void take_configuration(struct dft_pfw *pfw, const struct dft_pfw_record *record)
{
    for (uint32_t i = 0; i < record->nothers; i++)
        if (record->other[i].key.length == 3 && !memcmp(record->other[i].key.bytes, "cfg", 3))
            dft_pfw_unit(pfw, &record->other[i].value);
}

/* "start" and "end" of the tracer itself. Returns whether they were events: in what our own export
 * writes they are not. */
static int is_event(struct dft_pfw *pfw, struct dft_pfw_process *process, const struct dft_pfw_call *call, uint64_t ns)
{
    const struct dft_pfw_record *record = pfw->record;

    if (dft_likely(!call->bookkeeping))
        return 1;
    if (call->bookkeeping == 1) {
        dft_pfw_process_start(pfw, process, record, ns);
    } else {
        process->ended = 1;
        process->end_ns = ns > process->end_ns ? ns : process->end_ns;
    }
    return !process->ours;
}

/* Takes the argument with this key from the record. Returns whether there was one. */
static int take_other(struct dft_pfw_record *record, const char *key, struct dft_pfw_value *value)
{
    for (uint32_t i = 0; i < record->nothers; i++) {
        if (record->other[i].key.length != strlen(key) || memcmp(record->other[i].key.bytes, key, strlen(key)) != 0)
            continue;
        *value = record->other[i].value;
        memmove(&record->other[i], &record->other[i + 1], (--record->nothers - i) * sizeof *record->other);
        return 1;
    }
    return 0;
}

/* What our own export says of the record in the argument "dftrace"; empty: nothing. */
static struct dft_text mark_of(const struct dft_pfw_record *record)
{
    for (uint32_t i = 0; i < record->nothers; i++)
        if (record->other[i].key.length == 7 && !memcmp(record->other[i].key.bytes, "dftrace", 7))
            return record->other[i].value.text;
    return (struct dft_text){NULL, 0};
}

/* Is it what a call between two files wrote, which is counted where it read? */
static int take_written(struct dft_pfw_record *record, struct dft_text mark)
{
    struct dft_pfw_value value;

    return mark.length == 7 && !memcmp(mark.bytes, "written", 7) && take_other(record, "dftrace", &value);
}

static void convert(struct dft_pfw *pfw, struct dft_pfw_stream *stream, struct dft_pfw_call *call, struct dft_text mark,
                    uint64_t start_ns, uint64_t duration_ns)
{
    struct dft_event *event;
    uint64_t region = region_of(pfw, stream->process), file = dft_pfw_file_of(pfw, pfw->record);
    int written;

    if (pfw->surveys || pfw->error)
        return;
    if (pfw->repeated) {
        stream = dft_pfw_stream(pfw, stream->process, stream->thread, DFT_STREAM_REPEATED);
        if (!stream)
            return;
    }
    dft_pfw_calls_bound(pfw);
    event = dft_pfw_event_new(pfw, stream);
    if (!event)
        return;
    event->start_ns = start_ns;
    event->dur_ns = duration_ns;
    event->file = file;
    event->region = region;
    written = dft_unlikely(mark.length) && take_written(pfw->record, mark);
    dft_pfw_fields(pfw, stream, call, event);
    if (dft_unlikely(written)) {
        event->calls = 0;
        event->call = dft_pfw_call_position(pfw, call, DFT_OP_WRITE, file);
    }
    dft_pfw_event_done(pfw, stream);
}

/* Our own export has no phase for instants and the like that the analysers would read: they are
 * calls without length, and marked. Returns what it stands for, 0: a call. */
static uint8_t marked_phase(const struct dft_text value)
{
    static const struct {
        const char *text;
        uint8_t phase;
    } marks[] = {{"instant", DFT_PHASE_INSTANT},     {"async_begin", DFT_PHASE_ASYNC_BEGIN},
                 {"async_end", DFT_PHASE_ASYNC_END}, {"flow_start", DFT_PHASE_FLOW_START},
                 {"flow_step", DFT_PHASE_FLOW_STEP}, {"flow_end", DFT_PHASE_FLOW_END}};

    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
        if (value.length == strlen(marks[m].text) && !memcmp(value.bytes, marks[m].text, value.length))
            return marks[m].phase;
    return 0;
}

/* The phase that such a call stands for, with its id. What says so is no argument of the event. */
static uint8_t take_mark(struct dft_pfw_record *record, struct dft_text mark, uint64_t *id)
{
    struct dft_pfw_value value;
    uint8_t phase = marked_phase(mark);
    int negative;

    if (!phase || !take_other(record, "dftrace", &value))
        return 0;
    *id = 0;
    if (take_other(record, "async_id", &value) && dft_pfw_unsigned(&value, id, &negative))
        *id = 0;
    return phase;
}

/* Counters, instants, and what else has a time and no length. Their arguments are kept as they
 * are. */
static int put_point(struct dft_pfw *pfw, uint8_t phase, uint64_t id)
{
    static const uint8_t ops[DFT_PHASE_LAST + 1] = {[DFT_PHASE_INSTANT] = DFT_OP_INSTANT,
                                                    [DFT_PHASE_COUNTER] = DFT_OP_COUNTER,
                                                    [DFT_PHASE_FLOW_START] = DFT_OP_FLOW,
                                                    [DFT_PHASE_FLOW_STEP] = DFT_OP_FLOW,
                                                    [DFT_PHASE_FLOW_END] = DFT_OP_FLOW};
    struct dft_pfw_record *record = pfw->record;
    struct dft_pfw_stream *stream;
    struct dft_pfw_call *call;
    struct dft_event *event;
    uint64_t start_ns;

    if (!DFT_PFW_HAS(record, NAME) || DFT_PFW_GET(record, NAME)->kind != DFT_PFW_STRING || !DFT_PFW_HAS(record, TS))
        return -1;
    if (dft_pfw_start(pfw, &start_ns))
        return 0;
    call = dft_pfw_call(pfw, record);
    stream = call ? dft_pfw_stream_of_record(pfw, pfw->repeated ? DFT_STREAM_REPEATED : 0) : NULL;
    if (!stream || pfw->surveys || pfw->error)
        return 0;
    dft_pfw_calls_bound(pfw);
    event = dft_pfw_event_new(pfw, stream);
    if (!event)
        return 0;
    event->start_ns = start_ns;
    event->phase = phase;
    event->result = 0;
    event->file = dft_pfw_file_of(pfw, record);
    if ((phase >= DFT_PHASE_ASYNC_BEGIN && phase <= DFT_PHASE_FLOW_END) || phase == DFT_PHASE_FLOW_STEP)
        event->id = id;
    event->call = dft_pfw_call_position(pfw, call, ops[phase] ? ops[phase] : call->op, 0);
    dft_pfw_arguments(pfw, stream, record);
    dft_pfw_event_done(pfw, stream);
    return 0;
}

int dft_pfw_point(struct dft_pfw *pfw, uint8_t phase)
{
    return put_point(pfw, phase, dft_pfw_number(pfw->record, DFT_PFW_ID));
}

int dft_pfw_complete(struct dft_pfw *pfw, struct dft_text line)
{
    struct dft_text mark = {NULL, 0};
    struct dft_pfw_record *record = pfw->record;
    struct dft_pfw_stream *stream;
    struct dft_pfw_call *call;
    uint64_t start_ns, duration_ns;

    if (dft_unlikely(!DFT_PFW_HAS(record, NAME) || DFT_PFW_GET(record, NAME)->kind != DFT_PFW_STRING ||
                     !DFT_PFW_HAS(record, TS)))
        return -1;
    call = dft_pfw_call(pfw, record);
    if (call && dft_unlikely(call->bookkeeping == 2))
        take_configuration(pfw, record);
    if (dft_unlikely(dft_pfw_start(pfw, &start_ns)))
        return 0;
    stream = call ? dft_pfw_stream_of_record(pfw, 0) : NULL;
    if (!stream)
        return 0;
    duration_ns = duration_of(pfw, record);
    look_back(pfw, stream, start_ns + duration_ns, line);
    answer_children(pfw, stream->process, call);
    if (!is_event(pfw, stream->process, call, start_ns))
        return 0;
    if (dft_unlikely(record->nothers)) {
        uint64_t id;
        uint8_t phase;

        mark = mark_of(record);
        phase = take_mark(record, mark, &id);

        if (phase)
            return put_point(pfw, phase, id);
    }
    pfw->counts->events++;
    convert(pfw, stream, call, mark, start_ns, duration_ns);
    return 0;
}
