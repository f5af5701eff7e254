/* SPDX-License-Identifier: MIT */
/* Owns the functions that are woven, at their addresses: those of rules in the libraries that are
 * loaded, and the loader's own. */
#include "weave/weave_target.h"

#include <stdatomic.h>
#include <fnmatch.h>
#include <string.h>

#include "os/sys.h"
#include "weave/weave_closure.h"
#include "weave/weave_loaded.h"

#define SAME_NAME_MAX 8u /* versions of one function in a library */
#define SPARE_TARGETS 64u

static struct dft_weave_target *_Atomic targets; /* only ever grows, at its head */
static struct dft_weave_target *spare;           /* made ahead: nothing is allocated while the loader waits */
static const struct dft_weave_loader *stand_ins; /* DFT_WEAVE_LOADER of them */
uint32_t dft_weave_newest;
int dft_weave_is_short;

void dft_weave_stand_in(const struct dft_weave_loader *functions)
{
    stand_ins = functions;
}

/* Bits of the addresses of targets: most slots hold none of them. */
static _Atomic uint64_t some[64];

static void note_address(const void *real)
{
    atomic_fetch_or(&some[(uintptr_t)real >> 10 & 63], UINT64_C(1) << ((uintptr_t)real >> 4 & 63));
}

static int may_be_target(const void *real)
{
    return atomic_load_explicit(&some[(uintptr_t)real >> 10 & 63], memory_order_relaxed) >>
               ((uintptr_t)real >> 4 & 63) &
           1;
}

struct dft_weave_target *dft_weave_find_target(const void *real)
{
    if (!may_be_target(real))
        return NULL;
    for (struct dft_weave_target *target = atomic_load(&targets); target; target = target->next)
        if (target->real == real && target->seen)
            return target;
    return NULL;
}

static void publish(struct dft_weave_target *target)
{
    note_address(target->real);
    target->next = atomic_load(&targets);
    atomic_store(&targets, target);
}

static struct dft_weave_target *find_target_of(const struct dft_weave_rule *rule, const void *real)
{
    for (struct dft_weave_target *target = atomic_load(&targets); target; target = target->next)
        if (target->real == real && target->rule == rule)
            return target;
    return NULL;
}

static void add_target(struct dft_weave_rule *rule, void *real, uint32_t scan)
{
    struct dft_weave_target *target = dft_weave_find_target(real);

    rule->met = 1;
    if (target && target->seen == scan)
        return; /* an earlier line's */
    target = find_target_of(rule, real);
    if (!target) {
        target = spare;
        if (!target) {
            dft_weave_is_short = 1;
            return;
        }
        spare = target->next;
        if (dft_weave_aim(target, rule, real))
            return;
        publish(target);
    }
    if (!target->seen)
        dft_weave_newest = scan;
    target->seen = scan;
}

static int is_library_of(const struct dft_weave_rule *rule, const struct dft_weave_object *object)
{
    return !fnmatch(rule->library, dft_weave_file_name(object->path), 0) ||
           (object->library.soname && !fnmatch(rule->library, object->library.soname, 0));
}

void dft_weave_find_loader(uint32_t scan)
{
    for (const struct dft_weave_object *object = dft_weave_objects; object; object = object->next) {
        const char *file = dft_weave_file_name(object->path);

        if (strncmp(file, "libc.so.", 8) && strncmp(file, "libdl.so.", 9))
            continue;
        for (size_t i = 0; i < DFT_WEAVE_LOADER; i++) {
            const struct dft_weave_loader *function = &stand_ins[i];
            void *addresses[SAME_NAME_MAX];
            size_t n = dft_library_find_all(&object->library, function->name, NULL, addresses, SAME_NAME_MAX);

            for (size_t k = 0; k < n && !dft_weave_find_target(addresses[k]); k++) {
                struct dft_weave_target *target = dft_weave_reserve(sizeof *target);

                if (!target)
                    return;
                *target = (struct dft_weave_target){
                    .name = function->name, .real = addresses[k], .code = function->code, .seen = scan};
                *function->real = addresses[k];
                publish(target);
            }
        }
    }
}

void dft_weave_find_targets(uint32_t scan)
{
    for (struct dft_weave_rule *rule = dft_weave_rules; rule; rule = rule->next)
        for (struct dft_weave_object *object = rule->met < 0 ? NULL : dft_weave_objects; object;
             object = object->next) {
            void *addresses[SAME_NAME_MAX];
            size_t n = 0;

            if (object->complete && object->seen == scan && is_library_of(rule, object))
                n = dft_library_find_all(&object->library, rule->function.name, rule->version, addresses,
                                         SAME_NAME_MAX);
            for (size_t i = 0; i < n; i++)
                add_target(rule, addresses[i], scan);
        }
    for (struct dft_weave_target *target = atomic_load(&targets); target; target = target->next)
        if (target->rule && target->seen != scan)
            target->seen = 0;
}

void *dft_weave_replacement(void *function)
{
    const struct dft_weave_target *target = function ? dft_weave_find_target(function) : NULL;

    return target ? target->code : function;
}

int dft_weave_is_wanted(const char *name)
{
    for (const struct dft_weave_target *target = atomic_load(&targets); target; target = target->next)
        if (target->seen && !strcmp(target->name, name))
            return 1;
    return 0;
}

int dft_weave_make_spares(void)
{
    unsigned count = 0;

    for (const struct dft_weave_target *target = spare; target; target = target->next)
        count++;
    for (; count < SPARE_TARGETS; count++) {
        struct dft_weave_target *target = dft_weave_new_target();

        if (!target)
            break;
        target->next = spare;
        spare = target;
    }
    dft_weave_is_short = 0;
    return spare != NULL;
}
