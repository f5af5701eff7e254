/* SPDX-License-Identifier: MIT */
/* The scanner: one object of a line into a record, in one pass. Keys are compared as 64-bit words;
 * keys and values that stand where the last record had the same are not read again. */
#include "dftracer/pfw_record.h"

#include "dftracer/pfw_scan_value.h"

/* Keys are found by a hash that maps all of a set to places of their own: a multiplication and one
 * comparison, where a search would be a row of unforeseeable branches. The multipliers were found
 * by trying; that no two keys share a place is checked by the compiler, which refuses a place that
 * is set twice. */
#define KEY_WORD(a, b, c, d, e, f, g, h)                                                                               \
    ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | (uint64_t)(e) << 32 |            \
     (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)
#define TOP_PLACE(word) ((word)*UINT64_C(0xb9d179e06c0fd4f5) >> 60)
#define ARG_PLACE(word) ((word)*UINT64_C(0x2649c1b0c6b5a1c7) >> 59)

struct key {
    uint64_t word;
    int member;
};

#pragma GCC diagnostic error "-Woverride-init"
static const struct key top_keys[16] = {
#define DFT_PFW_KEY(name, ...) [TOP_PLACE(KEY_WORD(__VA_ARGS__))] = {KEY_WORD(__VA_ARGS__), DFT_PFW_##name},
    DFT_PFW_TOP_KEYS
#undef DFT_PFW_KEY
};
static const struct key arg_keys[32] = {
#define DFT_PFW_KEY(name, ...) [ARG_PLACE(KEY_WORD(__VA_ARGS__))] = {KEY_WORD(__VA_ARGS__), DFT_PFW_##name},
    DFT_PFW_ARG_KEYS
#undef DFT_PFW_KEY
};

INLINE uint64_t key_word(const char *at, size_t length)
{
    return length ? load(at) << 8 * (8 - length) >> 8 * (8 - length) : 0;
}

/* An empty place has word 0, which is the key of no letters: it is not a known one. */
INLINE int top_key(const char *at, size_t length)
{
    uint64_t word = dft_likely(length <= 8) ? key_word(at, length) : 0;
    const struct key *key = &top_keys[TOP_PLACE(word)];

    return dft_likely(word && key->word == word) ? key->member : -1;
}

INLINE int arg_key(const char *at, size_t length)
{
    uint64_t word = dft_likely(length <= 8) ? key_word(at, length) : 0;
    const struct key *key = &arg_keys[ARG_PLACE(word)];

    if (dft_likely(word && key->word == word))
        return key->member;
    return length == 10 && memcmp(at, "image_size", 10) == 0 ? DFT_PFW_IMAGE_SIZE : -1;
}

static struct dft_pfw_value *place_for_other(struct dft_pfw_record *record, const char *key, size_t length)
{
    struct dft_pfw_other *other = &record->other[record->nothers];

    if (record->nothers == DFT_PFW_OTHERS) {
        record->left_out++;
        return &record->member[DFT_PFW_ARGS]; /* nobody reads it */
    }
    record->nothers++;
    other->key = (struct dft_text){key, (uint32_t)length};
    return &other->value;
}

static const char *scan_args(const char *at, const char *end, struct dft_pfw_record *record);

enum level { TOP, ARGS, NESTED };

/* --- as in the last record -------------------------------------------------------------------- */

/* Words that nothing matches: what is compared with them has zeros in its lowest byte. */
#define NOTHING  UINT64_C(1)
#define NO_GUESS ((struct dft_pfw_guess){.word = NOTHING, .shift = 8})
#define NO_MEMO  ((struct dft_pfw_memo){.word = NOTHING, .shift = 8})

/* Members that are other ones in each record. */
#define UNSTEADY                                                                                                       \
    (DFT_PFW_BIT(ID) | DFT_PFW_BIT(TS) | DFT_PFW_BIT(DUR) | DFT_PFW_BIT(ARGS) | DFT_PFW_BIT(ARG_NAME) |                \
     DFT_PFW_BIT(ARG_VALUE) | DFT_PFW_BIT(OFFSET))

void dft_pfw_record_init(struct dft_pfw_record *record)
{
    memset(record, 0, sizeof *record);
    record->guess_args = record->guess[1];
    for (unsigned set = 0; set <= DFT_PFW_GUESS_SETS; set++)
        for (unsigned i = 0; i < DFT_PFW_GUESSES; i++)
            record->guess[set][i] = NO_GUESS;
    for (unsigned i = 0; i < DFT_PFW_MEMBERS; i++)
        record->memo[i] = NO_MEMO;
}

static void learn(struct dft_pfw_guess *guess, const char *key, size_t length, int member)
{
    uint8_t shift = (uint8_t)(8 * (8 - (length + 2)));

    if (member < 0 || !length || length > DFT_PFW_GUESS_LETTERS || key[length + 1] != ':')
        return;
    *guess = (struct dft_pfw_guess){load(key) << shift, UINT64_C(1) << member, shift, (uint8_t)(length + 2),
                                    (uint8_t)member};
}

INLINE int is_as_before(const struct dft_pfw_memo *memo, const char *at, const char *end)
{
    if (load(at) << memo->shift != memo->word || at + memo->length > end)
        return 0;
    return dft_likely(!memo->is_long) ||
           !(((load(at + 8) & memo->mask[0]) ^ memo->more[0]) | ((load(at + 16) & memo->mask[1]) ^ memo->more[1]));
}

/* `length` bytes, and the one behind them, which shows that the value ends there. */
INLINE void remember(struct dft_pfw_memo *memo, const char *at, size_t length)
{
    size_t bytes = length + 1;

    memo->length = (uint8_t)length;
    memo->quote = *at == '"';
    memo->is_long = bytes > 8;
    memo->shift = bytes < 8 ? (uint8_t)(8 * (8 - bytes)) : 0;
    memo->word = load(at) << memo->shift;
    if (dft_likely(bytes <= 8))
        return;
    memo->mask[0] = bytes < 16 ? ~UINT64_C(0) >> 8 * (16 - bytes) : ~UINT64_C(0);
    memo->mask[1] = bytes > 16 ? ~UINT64_C(0) >> 8 * (24 - bytes) : 0;
    memo->more[0] = load(at + 8) & memo->mask[0];
    memo->more[1] = load(at + 16) & memo->mask[1];
}

/* --- members ---------------------------------------------------------------------------------- */

/* From behind the quote of a key to its value (behind the colon), or NULL. */
INLINE const char *scan_key(const char *key, const char *end, enum level level, int *member, size_t *length)
{
    uint8_t escaped;
    const char *at = string_end(key, end, &escaped);

    if (dft_unlikely(!at))
        return NULL;
    *length = (size_t)(at - key);
    *member = level == TOP ? top_key(key, *length) : level == ARGS ? arg_key(key, *length) : -1;
    at = skip_space(at + 1);
    return dft_likely(*at == ':') ? at + 1 : NULL;
}

/* The value of a known member that is another one than before. */
INLINE const char *scan_member(const char *at, const char *end, struct dft_pfw_record *record, enum level level,
                               int member)
{
    struct dft_pfw_memo *memo = &record->memo[member];
    const char *behind;

    at = skip_space(at);
    record->changed |= UINT64_C(1) << member;
    if (level == TOP && member == DFT_PFW_ARGS && *at == '{')
        return scan_args(at + 1, end, record);
    behind = scan_value(at, end, &record->member[member]);
    if (UNSTEADY >> member & 1)
        return behind;
    if (dft_likely(behind && behind < end && behind - at < (ptrdiff_t)DFT_PFW_MEMO_BYTES))
        remember(memo, at, (size_t)(behind - at));
    else
        *memo = NO_MEMO;
    if (level == TOP && member == DFT_PFW_NAME)
        record->guess_args = record->guess[1 + (load(at) * UINT64_C(0x9e3779b97f4a7c15) >> 61)];
    return behind;
}

/* The members of an object, from behind its '{'. A key that stands there twice has its last value,
 * as in JSON readers. */
INLINE const char *scan_members(const char *at, const char *end, struct dft_pfw_record *record, enum level level)
{
    int member = level == TOP ? DFT_PFW_GUESS_TOP : DFT_PFW_GUESS_ARGS;
    struct dft_pfw_guess *guesses = level == ARGS ? record->guess_args : record->guess[0];

    for (;;) {
        struct dft_pfw_guess *guess = &guesses[member];
        const char *key;
        size_t length;

        if (dft_unlikely(*at != '"') && *(at = skip_space(at)) != '"')
            break;
        key = at + 1;
        if (level != NESTED && dft_likely(load(key) << guess->shift == guess->word)) {
            member = guess->member;
            record->have |= guess->bit;
            at = key + guess->length;
        } else {
            at = scan_key(key, end, level, &member, &length);
            if (dft_unlikely(!at))
                return NULL;
            if (member >= 0)
                record->have |= UINT64_C(1) << member;
            if (level != NESTED)
                learn(guess, key, length, member);
        }
        if (dft_likely(member >= 0)) {
            const struct dft_pfw_memo *memo = &record->memo[member];

            if (dft_likely(is_as_before(memo, at, end))) {
                record->member[member].text.bytes = at + memo->quote;
                at += memo->length;
            } else {
                at = scan_member(at, end, record, level, member);
            }
        } else {
            at = scan_value(skip_space(at), end, place_for_other(record, key, length));
            member = level == TOP ? DFT_PFW_GUESS_TOP_OTHER : DFT_PFW_GUESS_ARGS_OTHER;
        }
        if (dft_unlikely(!at))
            return NULL;
        if (dft_unlikely(*at != ',') && *(at = skip_space(at)) != ',')
            break;
        at++;
    }
    return dft_likely(at < end && *at == '}') ? at + 1 : NULL;
}

static const char *scan_args(const char *at, const char *end, struct dft_pfw_record *record)
{
    return scan_members(at, end, record, ARGS);
}

const char *dft_pfw_scan(const char *at, const char *end, struct dft_pfw_record *record)
{
    record->have = 0;
    record->nothers = 0;
    record->left_out = 0;
    return scan_members(at + 1, end, record, TOP);
}

int dft_pfw_scan_nested(struct dft_text text, struct dft_pfw_record *record)
{
    record->have = 0;
    record->nothers = 0;
    record->left_out = 0;
    if (!text.length || *text.bytes != '{')
        return -1;
    return scan_members(text.bytes + 1, text.bytes + text.length, record, NESTED) ? 0 : -1;
}
