/* SPDX-License-Identifier: MIT */
/* Where a record belongs: its process and thread, and the file that it is about. Most records are
 * of the same as the one before: what their members came to is kept until one of them changes, or
 * what it means. */
#include "dftracer/pfw_place.h"

#include <errno.h>

#include "format/hash.h"
#include "format/leb128.h"
#include "dftracer/pfw_memory.h"
#include "dftracer/pfw_names.h"
#include "dftracer/pfw_process.h"
#include "dftracer/pfw_stream.h"

uint64_t dft_pfw_number(const struct dft_pfw_record *record, enum dft_pfw_member member)
{
    const struct dft_pfw_value *value = &record->member[member];
    uint64_t number;
    int negative;

    if (!(record->have >> member & 1))
        return 0;
    if (dft_likely(value->kind == DFT_PFW_INTEGER && !value->negative))
        return value->number;
    if (dft_pfw_unsigned(value, &number, &negative))
        return 0;
    return negative ? 0 - number : number;
}

static uint64_t host_of(struct dft_pfw *pfw, const struct dft_pfw_record *record)
{
    const struct dft_pfw_value *value;
    struct dft_text text;
    uint64_t token;
    char *buffer;

    if (DFT_PFW_HAS(record, HHASH)) {
        value = DFT_PFW_GET(record, HHASH);
        token = dft_pfw_token(value);
        if (dft_unlikely(!pfw->last_host || token != pfw->last_host_token)) {
            pfw->last_host = dft_pfw_resolve(pfw, DFT_HASH_HOST, value);
            pfw->last_host_token = token;
        }
        return pfw->last_host;
    }
    if (!DFT_PFW_HAS(record, HOSTNAME))
        return 0;
    value = DFT_PFW_GET(record, HOSTNAME);
    buffer = dft_pfw_reserve(pfw, value->text.length);
    if (!buffer)
        return 0;
    text = dft_pfw_unescape(value, buffer);
    token = dft_name_id(text.bytes, text.length);
    if (!dft_map_find(&pfw->short_texts, token))
        dft_pfw_keep_short(pfw, token, text);
    return token;
}

/* In the oldest traces all processes are number 0, and their threads tell them apart. */
struct dft_pfw_stream *dft_pfw_stream_of_record(struct dft_pfw *pfw, uint32_t kind)
{
    const uint64_t members = DFT_PFW_BIT(PID) | DFT_PFW_BIT(TID) | DFT_PFW_BIT(HHASH) |
                             DFT_PFW_BIT(HOSTNAME); /* all that is requested here */
    struct dft_pfw_record *record = pfw->record;
    struct dft_pfw_stream *last = pfw->last_stream;
    struct dft_pfw_process *process;
    uint64_t pid, tid, host, have = (record->have & members) | 1;

    if (dft_likely(!kind && !(record->changed & members) && pfw->last_have == have))
        return last;
    pid = dft_pfw_number(record, DFT_PFW_PID);
    tid = dft_pfw_number(record, DFT_PFW_TID);
    host = host_of(pfw, record);
    if (dft_likely(last && !kind && pid == pfw->last_pid && tid == pfw->last_tid &&
                   (!host || host == last->process->host))) {
        pfw->last_have = have;
        record->changed &= ~members;
        return last;
    }
    process = dft_pfw_process(pfw, pid ? pid : tid, host);
    if (!process)
        return NULL;
    last = dft_pfw_stream(pfw, process, tid, kind);
    if (last && !kind) {
        pfw->last_stream = last;
        pfw->last_have = have;
        record->changed &= ~members;
        pfw->last_pid = pid;
        pfw->last_tid = tid;
    }
    return last;
}

uint64_t dft_pfw_file_of(struct dft_pfw *pfw, struct dft_pfw_record *record)
{
    const struct dft_pfw_value *value;
    uint64_t file;
    struct dft_text text;
    char *buffer;

    if (DFT_PFW_HAS(record, FHASH)) {
        if (record->changed & DFT_PFW_BIT(FHASH) || !pfw->last_file) {
            uint64_t noticed = pfw->counts->ambiguous + pfw->counts->unresolved;

            record->changed &= ~DFT_PFW_BIT(FHASH);
            file = dft_pfw_resolve(pfw, DFT_HASH_FILE, DFT_PFW_GET(record, FHASH));
            /* What is to be counted each time is resolved each time. */
            pfw->last_file = noticed == pfw->counts->ambiguous + pfw->counts->unresolved ? file : 0;
            return file;
        }
        return pfw->last_file;
    }
    if (!DFT_PFW_HAS(record, FNAME))
        return 0;
    value = DFT_PFW_GET(record, FNAME);
    buffer = dft_pfw_reserve(pfw, value->text.length);
    if (!buffer || !value->text.length)
        return 0;
    text = dft_pfw_unescape(value, buffer);
    return dft_pfw_file_name(pfw, text);
}
