/* SPDX-License-Identifier: MIT */
/* Owns the language of rules: from text to the steps of rules.c, by recursive descent.
 *
 *     expression   conjunction { OR conjunction }
 *     conjunction  factor { AND factor }
 *     factor       NOT factor | ( expression ) | comparison
 *     comparison   field operator value | field [NOT] IN { value, ... } | field [NOT] LIKE text
 */
#include "settings/rules_text.h"

#include <string.h>

#include "settings/rules_inside.h"
#include "settings/nearest.h"

#define NESTING_MAX 32

enum token { END, WORD, TEXT, NUMBER, SIGN, OTHER };

struct parser {
    const char *text;
    size_t at; /* behind the token */
    uint64_t unit_ns;
    struct dft_rules_fault *fault;
    enum token token;
    size_t begin; /* of the token; of a text, behind its quote */
    size_t length;
    int nesting;
};

static int fail(struct parser *parser, const char *reason)
{
    *parser->fault = (struct dft_rules_fault){.at = parser->begin, .reason = reason};
    return -1;
}

/* The same, and says which word it is about. */
static int fail_at_word(struct parser *parser, const char *reason, const char *nearest)
{
    fail(parser, parser->token == END ? "the rule ends too early" : reason);
    if (parser->token == END)
        return -1;
    parser->fault->word = parser->text + parser->begin;
    parser->fault->length = parser->length;
    parser->fault->nearest = nearest;
    return -1;
}

/* --- tokens ----------------------------------------------------------------------------------- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 128;
}

/* Is it one of these, in any case? */
static int is_word(const struct parser *parser, const char *word)
{
    if (parser->token != WORD || parser->length != strlen(word))
        return 0;
    for (size_t i = 0; i < parser->length; i++)
        if ((parser->text[parser->begin + i] | 32) != (word[i] | 32))
            return 0;
    return 1;
}

static int is_sign(const struct parser *parser, const char *sign)
{
    return parser->token == SIGN && parser->length == strlen(sign) &&
           !memcmp(parser->text + parser->begin, sign, parser->length);
}

static int read_text(struct parser *parser, char quote)
{
    const char *end = strchr(parser->text + parser->begin + 1, quote);

    if (!end)
        return fail(parser, "the text has no closing quote");
    parser->token = TEXT;
    parser->begin++;
    parser->length = (size_t)(end - parser->text) - parser->begin;
    parser->at = parser->begin + parser->length + 1;
    return 0;
}

/* Reads the next token. */
static int next(struct parser *parser)
{
    const char *text = parser->text;
    size_t at = parser->at;
    char c;

    while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')
        at++;
    parser->begin = at;
    c = text[at];
    if (c == '\'' || c == '"')
        return read_text(parser, c);
    if (!c) {
        parser->token = END;
    } else if (is_digit(c) || (c == '-' && is_digit(text[at + 1]))) {
        parser->token = NUMBER;
        for (at++; is_digit(text[at]) || is_letter(text[at]) || text[at] == '.';)
            at++;
    } else if (is_letter(c)) {
        parser->token = WORD;
        while (is_letter(text[at]) || is_digit(text[at]))
            at++;
    } else {
        parser->token = strchr("=!<>(){}[],", c) ? SIGN : OTHER;
        at += 1 + (strchr("=!<>", c) && text[at + 1] == '=');
    }
    parser->length = at - parser->begin;
    parser->at = at;
    return 0;
}

/* --- values ----------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    uint64_t factor;
};
static const struct unit times[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}};
static const struct unit sizes[] = {{"B", 1},          {"K", 1u << 10},   {"M", 1u << 20},  {"G", 1u << 30},
                                    {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30}};
#define COUNT(list) (sizeof list / sizeof *list)

/* Sets the factor of the unit that begins at `at`. */
static int read_unit(struct parser *parser, enum dft_rule_field field, size_t at, uint64_t *factor)
{
    int is_size = field == DFT_RULE_SIZE || field == DFT_RULE_OFFSET || field == DFT_RULE_RET;
    const struct unit *units = field == DFT_RULE_DUR ? times : sizes;
    size_t count = field == DFT_RULE_DUR ? COUNT(times) : is_size ? COUNT(sizes) : 0;
    size_t length = parser->begin + parser->length - at;
    const char *names[COUNT(times) + COUNT(sizes)];

    if (!length)
        return 0;
    for (size_t i = 0; i < count; i++) {
        names[i] = units[i].name;
        if (length == strlen(names[i]) && !memcmp(parser->text + at, names[i], length)) {
            *factor = units[i].factor;
            return 0;
        }
    }
    parser->begin = at;
    parser->length = length;
    return fail_at_word(parser, count ? "this is no unit of the field" : "the field has no units",
                        count ? dft_nearest_of(names, count, parser->text + at, length) : NULL);
}

/* A number with digits behind the point and a unit, as a whole number. */
static int read_number(struct parser *parser, enum dft_rule_field field, int64_t *value)
{
    const char *text = parser->text;
    size_t at = parser->begin + (text[parser->begin] == '-');
    uint64_t whole = 0, part = 0, scale = 1, factor = field == DFT_RULE_DUR ? parser->unit_ns : 1;
    __uint128_t all;

    if (parser->token != NUMBER)
        return fail_at_word(parser, "the field is compared with numbers, not with", NULL);
    for (; is_digit(text[at]); at++) {
        if (whole > INT64_MAX / 10)
            return fail(parser, "the number is too large");
        whole = whole * 10 + (uint64_t)(text[at] - '0');
    }
    if (text[at] == '.')
        for (at++; is_digit(text[at]); at++)
            if (scale < 1000000000) {
                part = part * 10 + (uint64_t)(text[at] - '0');
                scale *= 10;
            }
    if (read_unit(parser, field, at, &factor))
        return -1;
    all = (__uint128_t)whole * factor + (__uint128_t)part * factor / scale;
    if (all > INT64_MAX)
        return fail(parser, "the number is too large");
    *value = text[parser->begin] == '-' ? -(int64_t)all : (int64_t)all;
    return 0;
}

/* --- comparisons ------------------------------------------------------------------------------ */

static const char *const fields[] = {"cat",    "name",  "file", "dur", "size", "ret",
                                     "offset", "errno", "fd",   "pid", "tid"}; /* by enum dft_rule_field */
static const struct {
    const char *sign, *word;
} operators[] = {{"==", "EQ"}, {"!=", "NEQ"}, {">", "GT"}, {">=", "GTE"},
                 {"<", "LT"},  {"<=", "LTE"}, {"", "IN"},  {"", "LIKE"}};

static int is_text_field(enum dft_rule_field field)
{
    return field == DFT_RULE_CAT || field == DFT_RULE_CALL || field == DFT_RULE_PATH;
}

static int too_long(struct parser *parser)
{
    return fail(parser, "the rules are too long: at most 1024 steps, 63 different names, 31 different paths");
}

static int put(struct parser *parser, enum dft_rule_do what)
{
    return dft_rules_put(&(struct dft_rule_step){.what = (uint8_t)what}) ? too_long(parser) : 0;
}

static int read_field(struct parser *parser, enum dft_rule_field *field)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (is_word(parser, fields[i])) {
            *field = (enum dft_rule_field)i;
            return next(parser);
        }
    if (is_word(parser, "fname") || is_word(parser, "filename") || is_word(parser, "path")) {
        *field = DFT_RULE_PATH;
        return next(parser);
    }
    if (parser->token != WORD)
        return fail_at_word(parser, "a field is to stand here, not", NULL);
    return fail_at_word(parser, "there is no field",
                        dft_nearest_of(fields, COUNT(fields), parser->text + parser->begin, parser->length));
}

static int read_operator(struct parser *parser, enum dft_rule_compare *compare)
{
    const char *words[COUNT(operators)];

    for (size_t i = 0; i < COUNT(operators); i++) {
        words[i] = operators[i].word;
        if (is_word(parser, words[i]) || (*operators[i].sign && is_sign(parser, operators[i].sign)) ||
            (!i && is_sign(parser, "="))) {
            *compare = (enum dft_rule_compare)i;
            return next(parser);
        }
    }
    return fail_at_word(parser, "an operator is to stand here, not",
                        parser->token == WORD
                            ? dft_nearest_of(words, COUNT(words), parser->text + parser->begin, parser->length)
                            : NULL);
}

/* The value at the token, and the step that compares with it. */
static int put_value(struct parser *parser, enum dft_rule_field field, enum dft_rule_compare compare)
{
    struct dft_rule_step step = {.what = DFT_RULE_NUMBER, .field = (uint8_t)field, .compare = (uint8_t)compare};

    if (is_text_field(field)) {
        step.what = field == DFT_RULE_PATH ? DFT_RULE_FILE : DFT_RULE_NAME;
        step.value = compare != DFT_RULE_NEQ;
        if (parser->token != TEXT && parser->token != WORD)
            return fail_at_word(parser, "the field is compared with texts in quotes, not with", NULL);
        if (dft_rules_put_test(field, compare == DFT_RULE_LIKE, parser->text + parser->begin, parser->length,
                               &step.bit))
            return too_long(parser);
    } else if (read_number(parser, field, &step.value)) {
        return -1;
    }
    return dft_rules_put(&step) ? too_long(parser) : next(parser);
}

static int put_list(struct parser *parser, enum dft_rule_field field)
{
    const char *end = is_sign(parser, "{") ? "}" : is_sign(parser, "(") ? ")" : is_sign(parser, "[") ? "]" : NULL;

    if (!end)
        return fail_at_word(parser, "a list in braces is to stand here, not", NULL);
    for (int first = 1;; first = 0) {
        if (next(parser) || put_value(parser, field, DFT_RULE_EQ) || (!first && put(parser, DFT_RULE_OR)))
            return -1;
        if (is_sign(parser, end))
            return next(parser);
        if (!is_sign(parser, ","))
            return fail_at_word(parser, "a comma or the end of the list is to stand here, not", NULL);
    }
}

static int put_comparison(struct parser *parser)
{
    enum dft_rule_field field;
    enum dft_rule_compare compare;
    size_t begin;
    int negated;

    if (read_field(parser, &field))
        return -1;
    negated = is_word(parser, "NOT");
    if (negated && next(parser))
        return -1;
    begin = parser->begin;
    if (read_operator(parser, &compare))
        return -1;
    if ((negated && compare != DFT_RULE_IN && compare != DFT_RULE_LIKE) ||
        (is_text_field(field) ? compare != DFT_RULE_EQ && compare != DFT_RULE_NEQ && compare < DFT_RULE_IN
                              : compare == DFT_RULE_LIKE)) {
        parser->begin = begin;
        return fail(parser, negated                ? "behind NOT stands IN or LIKE"
                            : is_text_field(field) ? "a text is compared by ==, !=, IN or LIKE"
                                                   : "a number is not compared by LIKE");
    }
    if (compare == DFT_RULE_IN ? put_list(parser, field) : put_value(parser, field, compare))
        return -1;
    return negated ? put(parser, DFT_RULE_NOT) : 0;
}

/* --- expressions ------------------------------------------------------------------------------ */

static int put_expression(struct parser *parser);

static int put_factor(struct parser *parser)
{
    if (++parser->nesting > NESTING_MAX)
        return fail(parser, "the rule is nested too deeply");
    if (is_word(parser, "NOT")) {
        if (next(parser) || put_factor(parser) || put(parser, DFT_RULE_NOT))
            return -1;
    } else if (is_sign(parser, "(")) {
        if (next(parser) || put_expression(parser))
            return -1;
        if (!is_sign(parser, ")"))
            return fail_at_word(parser, "a closing parenthesis is to stand here, not", NULL);
        if (next(parser))
            return -1;
    } else if (put_comparison(parser)) {
        return -1;
    }
    parser->nesting--;
    return 0;
}

static int put_conjunction(struct parser *parser)
{
    if (put_factor(parser))
        return -1;
    while (is_word(parser, "AND"))
        if (next(parser) || put_factor(parser) || put(parser, DFT_RULE_AND))
            return -1;
    return 0;
}

static int put_expression(struct parser *parser)
{
    if (put_conjunction(parser))
        return -1;
    while (is_word(parser, "OR"))
        if (next(parser) || put_conjunction(parser) || put(parser, DFT_RULE_OR))
            return -1;
    return 0;
}

int dft_rules_compile(const char *text, uint64_t unit_ns, struct dft_rules_fault *fault)
{
    static const char *const joins[] = {"AND", "OR"};
    struct parser parser = {.text = text, .unit_ns = unit_ns, .fault = fault};

    if (next(&parser))
        return -1;
    if (parser.token == END)
        return fail(&parser, "the rule is empty");
    if (put_expression(&parser))
        return -1;
    if (parser.token == END)
        return 0;
    return fail_at_word(&parser, "AND or OR is to stand here, not",
                        parser.token == WORD ? dft_nearest_of(joins, 2, text + parser.begin, parser.length) : NULL);
}
