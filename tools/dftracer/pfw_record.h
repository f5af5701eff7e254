/* SPDX-License-Identifier: MIT */
/* One record of a DFTracer trace as the scanner finds it: slices of the line, nothing copied,
 * nothing converted but integers.
 *
 * The order of keys means nothing. A line is accepted as long as its structure is whole: control
 * characters, bytes that are no UTF-8, unknown escapes and a comma before a closing brace are let
 * pass, as old writers leave them. A quote inside a string, or a line cut in two, breaks the
 * structure: such a line is no record. */
#ifndef DFT_PFW_RECORD_H
#define DFT_PFW_RECORD_H

#include <stddef.h>

#include "format/text.h"

/* Bytes behind a line that must be readable (whatever they are): the scanner looks at 16 at a
 * time. */
#define DFT_PFW_PADDING 64u

/* Arguments beyond the known ones that a record may have; more are counted and left out. */
#define DFT_PFW_OTHERS 128u

enum dft_pfw_kind {
    DFT_PFW_INTEGER = 1,
    DFT_PFW_REAL,   /* a number with a point, an exponent, or "nan" */
    DFT_PFW_STRING, /* without its quotes */
    DFT_PFW_NESTED, /* an object or a list, as it stands */
    DFT_PFW_WORD,   /* true, false, null */
};

struct dft_pfw_value {
    struct dft_text text;
    uint64_t number;  /* INTEGER: its magnitude; UINT64_MAX when it is larger */
    uint8_t kind;     /* enum dft_pfw_kind */
    uint8_t negative; /* INTEGER */
    uint8_t escaped;  /* STRING: there is a backslash in it */
};

/* Members that mean something. DFT_PFW_KEY(NAME, its letters, padded to eight) */
#define DFT_PFW_TOP_KEYS                                                                                               \
    DFT_PFW_KEY(ID, 'i', 'd', 0, 0, 0, 0, 0, 0)                                                                        \
    DFT_PFW_KEY(NAME, 'n', 'a', 'm', 'e', 0, 0, 0, 0)                                                                  \
    DFT_PFW_KEY(CAT, 'c', 'a', 't', 0, 0, 0, 0, 0)                                                                     \
    DFT_PFW_KEY(PID, 'p', 'i', 'd', 0, 0, 0, 0, 0)                                                                     \
    DFT_PFW_KEY(TID, 't', 'i', 'd', 0, 0, 0, 0, 0)                                                                     \
    DFT_PFW_KEY(TS, 't', 's', 0, 0, 0, 0, 0, 0)                                                                        \
    DFT_PFW_KEY(DUR, 'd', 'u', 'r', 0, 0, 0, 0, 0)                                                                     \
    DFT_PFW_KEY(PH, 'p', 'h', 0, 0, 0, 0, 0, 0)                                                                        \
    DFT_PFW_KEY(TYPE, 't', 'y', 'p', 'e', 0, 0, 0, 0)                                                                  \
    DFT_PFW_KEY(ARGS, 'a', 'r', 'g', 's', 0, 0, 0, 0)
#define DFT_PFW_ARG_KEYS                                                                                               \
    DFT_PFW_KEY(HHASH, 'h', 'h', 'a', 's', 'h', 0, 0, 0)                                                               \
    DFT_PFW_KEY(FHASH, 'f', 'h', 'a', 's', 'h', 0, 0, 0)                                                               \
    DFT_PFW_KEY(HOSTNAME, 'h', 'o', 's', 't', 'n', 'a', 'm', 'e')                                                      \
    DFT_PFW_KEY(FNAME, 'f', 'n', 'a', 'm', 'e', 0, 0, 0)                                                               \
    DFT_PFW_KEY(LEVEL, 'l', 'e', 'v', 'e', 'l', 0, 0, 0)                                                               \
    DFT_PFW_KEY(P_IDX, 'p', '_', 'i', 'd', 'x', 0, 0, 0)                                                               \
    DFT_PFW_KEY(RET, 'r', 'e', 't', 0, 0, 0, 0, 0)                                                                     \
    DFT_PFW_KEY(FD, 'f', 'd', 0, 0, 0, 0, 0, 0)                                                                        \
    DFT_PFW_KEY(COUNT, 'c', 'o', 'u', 'n', 't', 0, 0, 0)                                                               \
    DFT_PFW_KEY(SIZE, 's', 'i', 'z', 'e', 0, 0, 0, 0)                                                                  \
    DFT_PFW_KEY(OFFSET, 'o', 'f', 'f', 's', 'e', 't', 0, 0)                                                            \
    DFT_PFW_KEY(WHENCE, 'w', 'h', 'e', 'n', 'c', 'e', 0, 0)                                                            \
    DFT_PFW_KEY(FLAGS, 'f', 'l', 'a', 'g', 's', 0, 0, 0)                                                               \
    DFT_PFW_KEY(MODE, 'm', 'o', 'd', 'e', 0, 0, 0, 0)                                                                  \
    DFT_PFW_KEY(LENGTH, 'l', 'e', 'n', 'g', 't', 'h', 0, 0)                                                            \
    DFT_PFW_KEY(ERRNO, 'e', 'r', 'r', 'n', 'o', 0, 0, 0)                                                               \
    DFT_PFW_KEY(DFT_CNT, 'd', 'f', 't', '_', 'c', 'n', 't', 0)                                                         \
    DFT_PFW_KEY(ARG_NAME, 'n', 'a', 'm', 'e', 0, 0, 0, 0)                                                              \
    DFT_PFW_KEY(ARG_VALUE, 'v', 'a', 'l', 'u', 'e', 0, 0, 0)

enum dft_pfw_member {
#define DFT_PFW_KEY(name, ...) DFT_PFW_##name,
    DFT_PFW_TOP_KEYS DFT_PFW_ARG_KEYS
#undef DFT_PFW_KEY
        DFT_PFW_IMAGE_SIZE, /* "image_size", the one known key of more than eight letters */
    DFT_PFW_MEMBERS
};

struct dft_pfw_other {
    struct dft_text key;
    struct dft_pfw_value value;
};

/* What stood behind a member in the last record where it was another: the next one probably has the
 * same there. Up to six letters, the quote and the colon, at the top of a word. Arguments have
 * guesses of their own for each of some sets of names, since writers that order keys by a hash
 * order them by what else there is. */
struct dft_pfw_guess {
    uint64_t word;
    uint64_t bit;   /* 1 << member */
    uint8_t shift;  /* what brings them there */
    uint8_t length; /* of quote and colon too */
    uint8_t member;
};
#define DFT_PFW_GUESS_LETTERS 6u
#define DFT_PFW_GUESS_SETS    8u
/* Behind the brace of the record, behind that of its arguments, behind unknown members of both. */
enum {
    DFT_PFW_GUESS_TOP = DFT_PFW_MEMBERS,
    DFT_PFW_GUESS_ARGS,
    DFT_PFW_GUESS_TOP_OTHER,
    DFT_PFW_GUESS_ARGS_OTHER,
    DFT_PFW_GUESSES
};

/* A member's last value as it stood there, with the byte behind it: where the next record has the
 * same bytes, the value is the same too, and is not read again. */
struct dft_pfw_memo {
    uint64_t word; /* the first eight bytes at most, at the top of a word */
    uint64_t more[2], mask[2];
    uint8_t shift;
    uint8_t length; /* of the value, quotes included */
    uint8_t quote;  /* it has them */
    uint8_t is_long;
};
#define DFT_PFW_MEMO_BYTES 24u

struct dft_pfw_record {
    uint64_t have;    /* 1 << enum dft_pfw_member */
    uint64_t changed; /* the same: members that were read anew, since whoever cares has cleared their bits */
    struct dft_pfw_value member[DFT_PFW_MEMBERS]; /* kept from one record to the next: goes with `memo` */
    struct dft_pfw_other other[DFT_PFW_OTHERS];
    uint32_t nothers;
    uint32_t left_out;                /* arguments for which there was no room */
    struct dft_pfw_guess *guess_args; /* the set for the arguments of the record at hand */
    struct dft_pfw_guess guess[1 + DFT_PFW_GUESS_SETS][DFT_PFW_GUESSES]; /* the first set: keys of the record itself */
    struct dft_pfw_memo memo[DFT_PFW_MEMBERS];
};

/* Before the first record. */
void dft_pfw_record_init(struct dft_pfw_record *record);

#define DFT_PFW_BIT(name)         (UINT64_C(1) << DFT_PFW_##name)
#define DFT_PFW_HAS(record, name) (((record)->have >> DFT_PFW_##name) & 1)
#define DFT_PFW_GET(record, name) (&(record)->member[DFT_PFW_##name])

/* Scans the object that begins with '{' at `at`. Returns the place behind it, or NULL: it is not
 * whole. */
const char *dft_pfw_scan(const char *at, const char *end, struct dft_pfw_record *record);

/* The members of a nested value, as `other`s of a record. Returns 0, or -1: it is no object. */
int dft_pfw_scan_nested(struct dft_text text, struct dft_pfw_record *record);

/* A value as an integer, in parts of which `unit` are one: a number, or one in quotes. All digits of a fraction count, and
 * what is finer than a part is rounded to the nearest. *number is UINT64_MAX when it is larger. Returns 0, or -1: it is
 * no number. */
int dft_pfw_scaled(const struct dft_pfw_value *value, uint64_t unit, uint64_t *number, int *negative);
/* The same of ones. */
int dft_pfw_unsigned(const struct dft_pfw_value *value, uint64_t *number, int *negative);
int dft_pfw_signed(const struct dft_pfw_value *value, int64_t *number);
int dft_pfw_double(const struct dft_pfw_value *value, double *number);

/* The text of a string, its escapes resolved into `text` (value->text.length bytes are enough). */
struct dft_text dft_pfw_unescape(const struct dft_pfw_value *value, char *text);

#endif
