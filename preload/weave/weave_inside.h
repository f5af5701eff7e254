/* SPDX-License-Identifier: MIT */
/* What the parts of weaving share. */
#ifndef DFT_WEAVE_INSIDE_H
#define DFT_WEAVE_INSIDE_H

#include <dftrace/dftrace.h>

#include "loader/library.h"
#include "regions/annotate.h"
#include "weave/weave.h"
#include "weave/weave_prototype.h"

enum dft_weave_pointcut { DFT_WEAVE_AROUND, DFT_WEAVE_BEFORE, DFT_WEAVE_AFTER };

/* A product of arguments and numbers; no arguments: not known. */
#define DFT_WEAVE_FACTORS 3u
struct dft_weave_amount {
    uint64_t times;
    uint32_t count;
    enum dft_weave_kind plain; /* of the one argument that is all of it; else void */
    int arguments[DFT_WEAVE_FACTORS];
};

/* What is said of every call of a function. */
struct dft_weave_constant {
    const char *key, *text;
    struct dft_weave_constant *next;
};

/* A line of a weave file. */
struct dft_weave_rule {
    const char *library; /* pattern of file names or sonames */
    const char *version; /* NULL: any */
    struct dft_weave_function function;
    struct dftrace_site site;
    uint64_t captured; /* arguments that are recorded, by number */
    struct dft_weave_constant *constants;
    struct dft_weave_amount size, offset;
    int finds; /* argument that points to where the function puts the address of another one; -1: none */
    enum dft_weave_pointcut pointcut;
    ffi_cif cif;
    ffi_type *types[DFT_WEAVE_ARGUMENTS];
    int met;       /* the symbol was found */
    int installed; /* the line is one of ours: it may be of a later version of the library than the one that is loaded */
    struct dft_weave_rule *next;
};

/* A function of a rule at its address, and what is called instead. */
struct dft_weave_target {
    struct dft_weave_rule *rule; /* NULL: one of the loader's own functions (weave_loader.c) */
    const char *name;
    void *real;
    void *code;
    ffi_closure *closure; /* NULL with those of the loader */
    uint32_t seen;        /* number of the scan that last found it; 0: it is gone */
    struct dft_weave_target *next;
};

extern struct dft_weave_rule *dft_weave_rules; /* in the order of their lines */

/* Is this the process of a job that tells what is wrong with DFTRACER_WEAVE? Before main. */
int dft_weave_tells(void);

/* Reads these files, with colons between them; errors are reported, line by line. */
void dft_weave_read_rules(const char *list);

/* A role behind a prototype. Returns 0, -EINVAL with text->wrong, or -ENOMEM. */
int dft_weave_parse_role(struct dft_weave_text *text, struct dft_weave_rule *rule);

/* What is recorded of a call that begins; `arguments` are where libffi has them. Becomes arguments of
 * the innermost region. Returns what the region ends with. */
struct dft_region_data dft_weave_capture(struct dft_thread *self, const struct dft_weave_rule *rule, void **arguments);
void dft_weave_capture_result(struct dft_thread *self, const struct dft_weave_rule *rule, const void *result);

/* Looks for functions of rules in what is loaded, and sends calls to them through their closures.
 * `handle`: what dlopen just gave; NULL: after a dlclose, or at the start (everything is loaded and
 * relocated then). */
void dft_weave_scan(void *handle);

/* After a name was found by this handle: scans where the loader has loaded something since the
 * handle was last looked at. */
void dft_weave_complete(void *handle);

/* dl_iterate_phdr; from the first scan on. */
extern int (*dft_weave_iterate)(int (*callback)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/* The loader's functions, before the first scan. */
void dft_weave_begin_loader(void);

#endif
