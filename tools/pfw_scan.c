/* The scanner: one object of a line into a record, in one pass. Keys are compared as 64-bit words, ends of strings are
 * looked for 16 bytes at a time, digits taken eight at a time. */
#include "pfw_record.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "leb128.h"

#define INLINE    static inline __attribute__((always_inline))
#define DEPTH_MAX 256 /* of nested values */

static uint64_t load(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

INLINE const char *skip_space(const char *at)
{
    while (dft_unlikely((uint8_t)*at <= ' ') && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* --- strings ------------------------------------------------------------------------------------------------------ */

/* The next quote or backslash at or behind `at`; something at or behind `end` when there is none. */
INLINE const char *next_mark(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i quotes = _mm_set1_epi8('"'), backslashes = _mm_set1_epi8('\\');

    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes)));

        if (dft_likely(mask))
            return at + __builtin_ctz((unsigned)mask);
        if (at >= end)
            return end;
    }
#else
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
#endif
}

/* From behind the opening quote to the closing one, or NULL. */
INLINE const char *string_end(const char *at, const char *end, uint8_t *escaped)
{
    *escaped = 0;
    for (;;) {
        at = next_mark(at, end);
        if (dft_unlikely(at >= end))
            return NULL;
        if (dft_likely(*at == '"'))
            return at;
        *escaped = 1;
        at += 2;
    }
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* How many of the bytes of a word, from its lowest on, are digits. */
INLINE unsigned leading_digits(uint64_t word)
{
    uint64_t value =
        word ^ UINT64_C(0x3030303030303030); /* of a digit 0 to 9; carries only go up, past the first other */
    uint64_t others = ((value + UINT64_C(0x7676767676767676)) | value) & UINT64_C(0x8080808080808080);

    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* Eight digits as a number. */
INLINE uint64_t eight_digits(uint64_t word)
{
    word = (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

static __attribute__((noinline)) uint64_t saturated(const char *at, const char *end)
{
    uint64_t number = 0;

    for (; at < end; at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return UINT64_MAX;
    return number;
}

INLINE const char *digits(const char *at, uint64_t *number)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    const char *start = at;
    uint64_t value = 0;
    unsigned n;

    do {
        uint64_t word = load(at);

        n = leading_digits(word);
        if (n)
            value = value * powers[n] + eight_digits(word << 8 * (8 - n));
        at += n;
    } while (n == 8);
    *number = dft_likely(at - start < 20) ? value : saturated(start, at);
    return at;
}

/* The rest of a number that is no integer. */
static __attribute__((noinline)) const char *real_end(const char *at, const char *end)
{
    while (at < end &&
           ((*at >= '0' && *at <= '9') || *at == '.' || *at == 'e' || *at == 'E' || *at == '+' || *at == '-'))
        at++;
    return at;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* Behind a nested value, or NULL. What is in it is not looked at closer: it is kept as text. */
static const char *nested_end(const char *at, const char *end)
{
    char stack[DEPTH_MAX];
    unsigned depth = 0;

    for (; at < end; at++) {
        uint8_t escaped;

        if (*at == '"') {
            at = string_end(at + 1, end, &escaped);
            if (!at)
                return NULL;
        } else if (*at == '{' || *at == '[') {
            if (depth == DEPTH_MAX)
                return NULL;
            stack[depth++] = *at == '{' ? '}' : ']';
        } else if (*at == '}' || *at == ']') {
            if (!depth || stack[--depth] != *at)
                return NULL;
            if (!depth)
                return at + 1;
        }
    }
    return NULL;
}

static const char *word_end(const char *at, const char *end, struct dft_pfw_value *value)
{
    static const char *const words[] = {"true", "false", "null", "nan", "inf", "NaN", "Infinity"};
    const char *start = at;

    if (*at == '-')
        at++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);

        if (end - at < (ptrdiff_t)n || memcmp(at, words[i], n) != 0)
            continue;
        value->kind = i < 3 ? DFT_PFW_WORD : DFT_PFW_REAL;
        value->text = (struct dft_text){start, (uint32_t)(at + n - start)};
        return at + n;
    }
    return NULL;
}

static __attribute__((noinline)) const char *scan_rare(const char *at, const char *end, struct dft_pfw_value *value)
{
    if (*at != '{' && *at != '[')
        return word_end(at, end, value);
    value->kind = DFT_PFW_NESTED;
    value->text.bytes = at;
    at = nested_end(at, end);
    value->text.length = at ? (uint32_t)(at - value->text.bytes) : 0;
    return at;
}

INLINE const char *scan_number(const char *at, const char *end, struct dft_pfw_value *value)
{
    const char *start = at;

    value->negative = *at == '-';
    at += value->negative;
    if (dft_unlikely(*at < '0' || *at > '9'))
        return scan_rare(start, end, value);
    at = digits(at, &value->number);
    value->kind = DFT_PFW_INTEGER;
    if (dft_unlikely(*at == '.' || *at == 'e' || *at == 'E')) {
        value->kind = DFT_PFW_REAL;
        at = real_end(at, end);
    }
    value->text = (struct dft_text){start, (uint32_t)(at - start)};
    return at <= end ? at : NULL;
}

INLINE const char *scan_value(const char *at, const char *end, struct dft_pfw_value *value)
{
    if (*at == '"') {
        const char *start = at + 1;

        at = string_end(start, end, &value->escaped);
        if (dft_unlikely(!at))
            return NULL;
        value->kind = DFT_PFW_STRING;
        value->text = (struct dft_text){start, (uint32_t)(at - start)};
        return at + 1;
    }
    return scan_number(at, end, value);
}

/* --- members ------------------------------------------------------------------------------------------------------ */

/* Keys are found by a hash that maps all of a set to places of their own: a multiplication and one comparison, where a
 * search would be a row of unforeseeable branches. The multipliers were found by trying; that no two keys share a place
 * is checked by the compiler, which refuses a place that is set twice. */
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

static void learn(struct dft_pfw_guess *guess, const char *key, size_t length, int member)
{
    uint8_t shift = (uint8_t)(8 * (8 - (length + 2)));

    if (member < 0 || !length || length > DFT_PFW_GUESS_LETTERS || key[length + 1] != ':')
        return;
    *guess = (struct dft_pfw_guess){load(key) << shift, shift, (uint8_t)length, (uint8_t)member};
}

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

/* The members of an object, from behind its '{'. A key that stands there twice has its last value, as in JSON readers. */
INLINE const char *scan_members(const char *at, const char *end, struct dft_pfw_record *record, enum level level)
{
    int member = level == TOP ? DFT_PFW_GUESS_TOP : DFT_PFW_GUESS_ARGS;

    at = skip_space(at);
    while (dft_likely(*at == '"')) {
        const char *key = at + 1;
        struct dft_pfw_guess *guess = &record->guess[member];
        struct dft_pfw_value *value;
        size_t length;

        if (level != NESTED && dft_likely(guess->length && load(key) << guess->shift == guess->word)) {
            member = guess->member;
            length = guess->length;
            at = key + length + 2;
        } else {
            at = scan_key(key, end, level, &member, &length);
            if (dft_unlikely(!at))
                return NULL;
            if (level != NESTED)
                learn(guess, key, length, member);
        }
        if (dft_likely(member >= 0)) {
            value = &record->member[member];
            record->have |= UINT64_C(1) << member;
        } else {
            value = place_for_other(record, key, length);
        }
        at = skip_space(at);
        at = level == TOP && member == DFT_PFW_ARGS && *at == '{' ? scan_args(at + 1, end, record)
                                                                  : scan_value(at, end, value);
        if (dft_unlikely(!at))
            return NULL;
        at = skip_space(at);
        if (*at != ',')
            break;
        at = skip_space(at + 1);
        if (member < 0)
            member = level == TOP ? DFT_PFW_GUESS_TOP_OTHER : DFT_PFW_GUESS_ARGS_OTHER;
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
