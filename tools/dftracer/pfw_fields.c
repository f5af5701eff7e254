/* SPDX-License-Identifier: MIT */
/* The fields of an event from the arguments of its record: result, sizes, offset, descriptor.
 *
 * Only calls have fields. Bytes moved follow from the call's operation and its result: that many
 * bytes, or that many items of `size` bytes. What a region calls its size (image_size and the like)
 * is an argument. */
#include "dftracer/pfw_fields.h"

#include <string.h>

#include "dftracer/pfw_calls.h"
#include "dftracer/pfw_stream.h"
#include "format/leb128.h"
#include "dftracer/pfw_time.h"

static inline int integer(const struct dft_pfw_value *value, int64_t *number)
{
    if (dft_unlikely(value->kind != DFT_PFW_INTEGER || value->number > INT64_MAX))
        return dft_pfw_signed(value, number);
    *number = value->negative ? -(int64_t)value->number : (int64_t)value->number;
    return 0;
}

/* An integer argument that was requested; the others become arguments of the event. */
static inline int take(struct dft_pfw_record *record, enum dft_pfw_member member, int64_t *number)
{
    if (!(record->have >> member & 1) || integer(&record->member[member], number))
        return 0;
    record->have &= ~(UINT64_C(1) << member);
    return 1;
}

static inline int has_number(const struct dft_pfw_record *record, enum dft_pfw_member member, int64_t *number)
{
    return (record->have >> member & 1) && !integer(&record->member[member], number);
}

/* Beyond 2^63 a result is none: it stays unknown, and an argument. But a writer may print -1 unsigned. */
static inline int has_result(const struct dft_pfw_record *record)
{
    static const char minus_one[] = "18446744073709551615";
    const struct dft_pfw_value *ret = &record->member[DFT_PFW_RET];
    uint64_t magnitude;
    int negative;

    if (dft_likely(!DFT_PFW_HAS(record, RET) || (ret->kind == DFT_PFW_INTEGER && ret->number <= INT64_MAX)))
        return 1;
    return dft_pfw_unsigned(ret, &magnitude, &negative) || magnitude <= INT64_MAX ||
           (!negative && ret->text.length == sizeof minus_one - 1 &&
            !memcmp(ret->text.bytes, minus_one, sizeof minus_one - 1));
}

/* Items and the bytes of each. */
static void item_fields(struct dft_pfw_record *record, struct dft_event *event)
{
    int64_t size = 1, count = 0;

    if (has_number(record, DFT_PFW_SIZE, &size) && size >= 0 && size <= UINT32_MAX) {
        event->unit = (uint32_t)size;
        record->have &= ~DFT_PFW_BIT(SIZE);
    }
    if (has_number(record, DFT_PFW_COUNT, &count) && count > 0 && event->unit &&
        !__builtin_mul_overflow((uint64_t)count, event->unit, &event->size))
        record->have &= ~DFT_PFW_BIT(COUNT);
}

/* The bytes requested, under the name that the kind of call has for them. */
static void size_field(struct dft_pfw_record *record, enum dft_pfw_member member, struct dft_event *event)
{
    int64_t number;

    if (!has_number(record, member, &number) || number <= 0)
        return;
    event->size = (uint64_t)number;
    record->have &= ~(UINT64_C(1) << member);
}

static void libc_fields(struct dft_pfw_record *record, const struct dft_pfw_call *call, int ours,
                        struct dft_event *event)
{
    int64_t number;

    if (has_result(record))
        take(record, DFT_PFW_RET, &event->result);
    if (dft_op_bytes(call->op) == DFT_BYTES_ITEMS)
        item_fields(record, event);
    else if (dft_op_bytes(call->op) == DFT_BYTES_RESULT)
        size_field(record, DFT_PFW_COUNT, event);
    else
        size_field(record, DFT_PFW_LENGTH, event);
    if (ours && has_number(record, DFT_PFW_SIZE, &number) && number == event->result)
        record->have &= ~DFT_PFW_BIT(SIZE); /* the result once more, for other readers */
    if (has_number(record, DFT_PFW_FD, &number) && number >= 0 && number <= INT32_MAX) {
        event->fd = (int32_t)number;
        record->have &= ~DFT_PFW_BIT(FD);
    }
    if (has_number(record, DFT_PFW_OFFSET, &number) && number >= 0) {
        event->offset = number;
        record->have &= ~DFT_PFW_BIT(OFFSET);
    }
    if (take(record, DFT_PFW_FLAGS, &number))
        event->flags = (uint32_t)number;
    else if ((call->op == DFT_OP_SEEK || call->op == DFT_OP_FSEEK) && take(record, DFT_PFW_WHENCE, &number))
        event->flags = (uint32_t)number;
    if (DFT_PFW_HAS(record, MODE) && take(record, DFT_PFW_MODE, &number))
        event->mode = (uint32_t)number;
    if (has_number(record, DFT_PFW_ERRNO, &number) && number > 0 && number < DFT_ERRNO_UNKNOWN) {
        event->err = (uint16_t)number;
        record->have &= ~DFT_PFW_BIT(ERRNO);
    } else if (event->result < 0 && event->result != DFT_RESULT_UNKNOWN)
        event->err = DFT_ERRNO_UNKNOWN;
}

/* Bytes of which the sum over the file would wrap are not believed: the result stays, as an argument. */
static void check_bytes(struct dft_pfw *pfw, struct dft_pfw_record *record, uint64_t have,
                        const struct dft_pfw_call *call, struct dft_event *event)
{
    enum dft_bytes_rule rule = dft_op_bytes(call->op);
    uint64_t bytes = rule != DFT_BYTES_NOTHING && event->result > 0 ? (uint64_t)event->result : 0;

    if (dft_likely(!bytes))
        return;
    if (rule == DFT_BYTES_ITEMS && dft_unlikely(__builtin_mul_overflow(bytes, event->unit, &bytes)))
        bytes = UINT64_MAX;
    if (dft_likely(dft_pfw_sum_fits(&pfw->byte_sum, bytes))) {
        if (!event->size) /* what was requested is not known: it is taken to be what was moved */
            event->size = bytes;
        return;
    }
    pfw->counts->long_sizes++;
    event->result = DFT_RESULT_UNKNOWN;
    record->have |= have & DFT_PFW_BIT(RET);
}

/* What no field took. */
void dft_pfw_arguments(struct dft_pfw *pfw, struct dft_pfw_stream *stream, const struct dft_pfw_record *record)
{
    static const struct {
        uint8_t member;
        const char *name;
    } left[] = {{DFT_PFW_RET, "ret"},       {DFT_PFW_FD, "fd"},           {DFT_PFW_COUNT, "count"},
                {DFT_PFW_SIZE, "size"},     {DFT_PFW_OFFSET, "offset"},   {DFT_PFW_WHENCE, "whence"},
                {DFT_PFW_FLAGS, "flags"},   {DFT_PFW_MODE, "mode"},       {DFT_PFW_LENGTH, "length"},
                {DFT_PFW_ERRNO, "errno"},   {DFT_PFW_DFT_CNT, "dft_cnt"}, {DFT_PFW_IMAGE_SIZE, "image_size"},
                {DFT_PFW_ARG_NAME, "name"}, {DFT_PFW_ARG_VALUE, "value"}};
    const uint64_t any = DFT_PFW_BIT(RET) | DFT_PFW_BIT(FD) | DFT_PFW_BIT(COUNT) | DFT_PFW_BIT(SIZE) |
                         DFT_PFW_BIT(OFFSET) | DFT_PFW_BIT(WHENCE) | DFT_PFW_BIT(FLAGS) | DFT_PFW_BIT(MODE) |
                         DFT_PFW_BIT(LENGTH) | DFT_PFW_BIT(ERRNO) | DFT_PFW_BIT(DFT_CNT) | DFT_PFW_BIT(IMAGE_SIZE) |
                         DFT_PFW_BIT(ARG_NAME) | DFT_PFW_BIT(ARG_VALUE);

    if (dft_unlikely(record->have & any))
        for (size_t i = 0; i < sizeof left / sizeof *left; i++)
            if (record->have >> left[i].member & 1)
                dft_pfw_arg(pfw, stream, dft_text_from(left[i].name), &record->member[left[i].member]);
    for (uint32_t i = 0; i < record->nothers; i++)
        dft_pfw_arg(pfw, stream, record->other[i].key, &record->other[i].value);
    pfw->counts->arguments += record->left_out;
}

void dft_pfw_fields(struct dft_pfw *pfw, struct dft_pfw_stream *stream, struct dft_pfw_call *call,
                    struct dft_event *event)
{
    struct dft_pfw_record *record = pfw->record;
    int64_t level;

    if (call->libc) {
        uint64_t have = record->have;

        pfw->counts->long_sizes += !has_result(record);
        libc_fields(record, call, stream->process->ours, event);
        check_bytes(pfw, record, have, call, event);
    }
    if (DFT_PFW_HAS(record, LEVEL) && !integer(DFT_PFW_GET(record, LEVEL), &level) && level > 0)
        event->depth = level - 1 < UINT16_MAX ? (uint16_t)(level - 1) : UINT16_MAX;
    event->call = dft_pfw_call_position(pfw, call, call->op, event->file);
    dft_pfw_arguments(pfw, stream, record);
}
