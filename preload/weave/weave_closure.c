/* SPDX-License-Identifier: MIT */
/* Owns the closures of libffi: a call of a woven function comes here, becomes a region with what is
 * captured, and goes on to the real one. */
#include "weave/weave_closure.h"

#include <errno.h>

#include "ring/bursts.h"
#include "regions/annotate.h"
#include "os/clock.h"
#include "settings/config.h"
#include "loader/own_calls.h"
#include "os/sys.h"
#include "unwind/unwind.h"
#include "weave/weave_loaded.h"

/* --- libffi ----------------------------------------------------------------------------------- */

static struct {
    __typeof__(&ffi_prep_cif) prep_cif;
    __typeof__(&ffi_call) call;
    __typeof__(&ffi_closure_alloc) closure_alloc;
    __typeof__(&ffi_prep_closure_loc) prep_closure_loc;
} ffi;

static int load_types(void *library)
{
    static const char *const names[DFT_WEAVE_KINDS] = {
        [DFT_WEAVE_VOID] = "ffi_type_void",      [DFT_WEAVE_I8] = "ffi_type_sint8",
        [DFT_WEAVE_U8] = "ffi_type_uint8",       [DFT_WEAVE_I16] = "ffi_type_sint16",
        [DFT_WEAVE_U16] = "ffi_type_uint16",     [DFT_WEAVE_I32] = "ffi_type_sint32",
        [DFT_WEAVE_U32] = "ffi_type_uint32",     [DFT_WEAVE_I64] = "ffi_type_sint64",
        [DFT_WEAVE_U64] = "ffi_type_uint64",     [DFT_WEAVE_FLOAT] = "ffi_type_float",
        [DFT_WEAVE_DOUBLE] = "ffi_type_double",  [DFT_WEAVE_LONG_DOUBLE] = "ffi_type_longdouble",
        [DFT_WEAVE_POINTER] = "ffi_type_pointer"};

    for (int i = 0; i < DFT_WEAVE_KINDS; i++) {
        dft_weave_ffi_types[i] = names[i] ? dft_own_in_loaded(library, names[i]) : NULL;
        if (names[i] && !dft_weave_ffi_types[i])
            return -ENOENT;
    }
    dft_weave_ffi_types[DFT_WEAVE_TEXT] = dft_weave_ffi_types[DFT_WEAVE_POINTER];
    return 0;
}

/* What libffi does on its own account (a look for SELinux at the first closure, a file for code) is
 * not the program's: it is not recorded. Where there are threads tracing stays on for their
 * sake. */
struct hush {
    struct dft_signals signals;
    int on;
};

static struct hush hush(void)
{
    struct hush before = {dft_signals_block(), dft_on};

    if (dft_is_single())
        dft_on = 0;
    return before;
}

static void hush_is_over(struct hush before)
{
    dft_on = before.on;
    dft_signals_restore(before.signals);
}

static ffi_closure *allocate(void **code)
{
    struct hush before = hush();
    ffi_closure *closure = ffi.closure_alloc(sizeof *closure, code);

    hush_is_over(before);
    return closure;
}

int dft_weave_load_ffi(void)
{
    static const char *const names[] = {"libffi.so.8", "libffi.so.7", "libffi.so.6"};
    void *library = NULL;

    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dft_own_load(names[i]);
    if (!library)
        return -ENOENT;
    ffi.prep_cif = (__typeof__(ffi.prep_cif))dft_own_in_loaded(library, "ffi_prep_cif");
    ffi.call = (__typeof__(ffi.call))dft_own_in_loaded(library, "ffi_call");
    ffi.closure_alloc = (__typeof__(ffi.closure_alloc))dft_own_in_loaded(library, "ffi_closure_alloc");
    ffi.prep_closure_loc = (__typeof__(ffi.prep_closure_loc))dft_own_in_loaded(library, "ffi_prep_closure_loc");
    return ffi.prep_cif && ffi.call && ffi.closure_alloc && ffi.prep_closure_loc ? load_types(library) : -ENOENT;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* One call under way. The region is known by a place on the stack, too: a longjmp or an exception
 * past us leaves it open, and the next one that ends outside ends it, or the next that begins at
 * the same place. */
struct call {
    const struct dft_weave_rule *rule;
    struct dft_thread *self; /* NULL: nothing is to be recorded */
    uint64_t name;
    struct dft_region_data data;
};

/* Odd: no other region has such a one. */
static uint64_t place_of(const struct call *call)
{
    return (uintptr_t)call | 1;
}

static void begin(struct call *call, struct dft_weave_rule *rule, void **arguments)
{
    uint64_t now;

    call->self = dft_annotate_thread();
    if (!call->self)
        return;
    call->rule = rule;
    call->name = dft_annotate_site(call->self, &rule->site, "WEAVE");
    dft_bursts_end(call->self);
    now = dft_ticks();
    dft_region_end_left(call->self, now, place_of(call));
    dft_region_begin(call->self, call->name, now, place_of(call));
    call->data = dft_weave_capture(call->self, rule, arguments);
}

static void end(struct call *call, const void *result)
{
    uint64_t now = dft_ticks();

    if (!call->self)
        return;
    dft_bursts_end(call->self);
    if (result)
        dft_weave_capture_result(call->self, call->rule, result);
    dft_region_end_call(call->self, call->name, now, place_of(call), &call->data);
}

/* The caller gets what is called instead of the function that was found. */
static void replace_found(void **found)
{
    if (found && dft_sys_can_read((const void *)((uintptr_t)found & ~(uintptr_t)7)) && *found)
        *found = dft_weave_replacement(*found);
}

static void called(ffi_cif *cif, void *result, void **arguments, void *woven)
{
    const struct dft_weave_target *target = woven;
    enum dft_weave_pointcut pointcut = target->rule->pointcut;
    int error = errno;
    struct call call;

    if (pointcut != DFT_WEAVE_AFTER)
        begin(&call, target->rule, arguments);
    if (pointcut == DFT_WEAVE_BEFORE)
        end(&call, NULL);
    errno = error;
    ffi.call(cif, FFI_FN(target->real), result, arguments);
    error = errno;
    if (target->rule->finds >= 0)
        replace_found(*(void ***)arguments[target->rule->finds]);
    if (pointcut == DFT_WEAVE_AFTER)
        begin(&call, target->rule, arguments);
    if (pointcut != DFT_WEAVE_BEFORE)
        end(&call, result);
    errno = error;
}

struct dft_weave_target *dft_weave_new_target(void)
{
    struct dft_weave_target *target = dft_weave_reserve(sizeof *target);

    if (target)
        target->closure = allocate(&target->code);
    return target && target->closure ? target : NULL;
}

int dft_weave_aim(struct dft_weave_target *target, struct dft_weave_rule *rule, void *real)
{
    target->rule = rule;
    target->name = rule->function.name;
    target->real = real;
    return ffi.prep_closure_loc(target->closure, &rule->cif, called, target, target->code) == FFI_OK ? 0 : -EINVAL;
}

void dft_weave_prepare(struct dft_weave_rule *rule)
{
    ffi_type *result = dft_weave_ffi_type(&rule->function.result);

    if (ffi.prep_cif(&rule->cif, FFI_DEFAULT_ABI, rule->function.count, result, rule->types) == FFI_OK)
        return;
    if (dft_weave_tells())
        dft_message(DFT_LOG_ERROR, "DFTRACER_WEAVE: ", rule->function.name,
                    ": libffi cannot pass these types; it is not recorded", NULL);
    rule->met = -1;
}

/* Now, while there are no threads: libffi looks for SELinux once. */
void dft_weave_begin_calls(void)
{
    allocate(&(void *){NULL});
    dft_unwind_spare((const void *)ffi.call);
}
