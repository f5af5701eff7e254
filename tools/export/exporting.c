/* SPDX-License-Identifier: MIT */
/* What the formats of export share; see exporting.h. */
#include "export/exporting.h"

#include <string.h>

#include "base/names.h"
#include "format/ops.h"

char dft_export_phase(const struct dft_event *event, uint8_t op)
{
    static const char letters[] = {
        [DFT_PHASE_COMPLETE] = 'X',   [DFT_PHASE_BEGIN] = 'B',       [DFT_PHASE_END] = 'E',
        [DFT_PHASE_INSTANT] = 'i',    [DFT_PHASE_ASYNC_BEGIN] = 'b', [DFT_PHASE_ASYNC_END] = 'e',
        [DFT_PHASE_FLOW_START] = 's', [DFT_PHASE_FLOW_END] = 'f',    [DFT_PHASE_COUNTER] = 'C',
        [DFT_PHASE_METADATA] = 'M',   [DFT_PHASE_FLOW_STEP] = 't'};

    if (op == DFT_OP_INSTANT)
        return 'i';
    if (op == DFT_OP_COUNTER)
        return 'C';
    if (op == DFT_OP_METADATA)
        return 'M';
    if ((op == DFT_OP_EXEC || op == DFT_OP_FORK) && event->phase == DFT_PHASE_BEGIN)
        return 'X'; /* the call did not return here (exec, vfork): there will be no end */
    return event->phase < sizeof(letters) ? letters[event->phase] : 'X';
}

int dft_export_open(const struct dft_export *export, struct dft_outfile *out, const char *path)
{
    return export->is_inside ? dft_outfile_open_inside(out, path) : dft_outfile_open(out, path);
}

const char *dft_export_mark(const struct dft_event *event, uint8_t op)
{
    switch (dft_export_phase(event, op)) {
    case 'i':
        return "instant";
    case 'b':
        return "async_begin";
    case 'e':
        return "async_end";
    case 's':
        return "flow_start";
    case 't':
        return "flow_step";
    case 'f':
        return "flow_end";
    default: /* what a call between two files wrote; the event that read counts the call */
        return event->calls ? NULL : "written";
    }
}

const struct dft_arg *dft_export_argument(const struct dft_export *export, const struct dft_event_at *at,
                                          const char *name)
{
    struct dft_text category, text;
    char buffer[18];

    for (uint32_t i = 0; i < at->nargs; i++) {
        dft_names_call(export->names, at->args[i].key, &category, &text, buffer);
        if (dft_text_is(text, name))
            return &at->args[i];
    }
    return NULL;
}

int dft_export_is_last(const struct dft_event_at *at, uint32_t i)
{
    for (uint32_t later = i + 1; later < at->nargs; later++)
        if (at->args[later].key == at->args[i].key)
            return 0;
    return 1;
}

void dft_export_value(struct dft_json *json, const struct dft_arg *arg)
{
    if (arg->type == DFT_ARG_INT)
        dft_json_int(json, NULL, arg->i);
    else if (arg->type == DFT_ARG_DOUBLE)
        dft_json_double(json, NULL, arg->d);
    else
        dft_json_text(json, NULL, arg->s.bytes, arg->s.length);
}
