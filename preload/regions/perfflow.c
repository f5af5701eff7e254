/* SPDX-License-Identifier: MIT */
/* Owns PerfFlowAspect's weave symbols: what its compiler plug-in calls around functions becomes
 * regions, spans and points, with the arguments from which `dftmerge export --format perfflow`
 * makes the file that its own library would have written. That library, if it is there, is called
 * as well. */
#include "regions/perfflow.h"

#include <string.h>
#include <sys/resource.h>

#include "os/bulk.h"
#include "ring/bursts.h"
#include "ring/names.h"
#include "regions/annotate.h"
#include "os/clock.h"
#include "settings/config.h"
#include "os/line.h"
#include "loader/resolve.h"
#include "settings/nearest.h"
#include "settings/settings.h"

#define PART_MAX 60u /* bytes of an option that are shown */

typedef void weave(int async, const char *module, const char *function, const char *scope, const char *flow,
                   const char *pointcut);
static weave *next_before, *next_after;
static const char *options = ""; /* PERFFLOW_OPTIONS */
static int logs = 1, measures;
static uint64_t said;         /* key of the process that has said its options; atomic */
static uint64_t begun, ended; /* numbers of spans of which only one end is woven; atomic */

/* --- options ---------------------------------------------------------------------------------- */

#define VARIABLE "PERFFLOW_OPTIONS="

/* What may be set, and to what; NULL: to anything. The first word is the default. */
static const struct option {
    const char *name, *words[2];
} known[] = {
    {"name", {NULL, NULL}},
    {"log-filename-include", {NULL, NULL}},
    {"log-dir", {NULL, NULL}},
    {"log-enable", {"True", "False"}},
    {"cpu-mem-usage", {"False", "True"}},
    {"log-event", {"Verbose", "Compact"}},
    {"log-format", {"Array", "Object"}},
    {"cpu_mem_usage", {"False", "True"}}, /* as earlier versions had it */
};
#define KNOWN (sizeof known / sizeof *known)

static int is_word(const char *text, size_t length, const char *word)
{
    if (!word || strlen(word) != length)
        return 0;
    for (size_t i = 0; i < length; i++)
        if ((text[i] | 32) != (word[i] | 32))
            return 0;
    return 1;
}

/* Is the option there, with this value in any case? */
static int option_is(const char *name, const char *value)
{
    size_t n = strlen(name);

    for (const char *at = options; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");

        if (length > n && !memcmp(at, name, n) && at[n] == '=' && is_word(at + n + 1, length - n - 1, value))
            return 1;
        at += length;
    }
    return 0;
}

/* Notes that a part of the options has no effect. */
static void doubt(const char *variable, const char *part, size_t length, const char *reason, const char *meant)
{
    static struct dft_message_line line DFT_BULK;

    line.used = 0;
    for (size_t i = 0; i < length && i < PART_MAX; i++)
        dft_line_text(&line, (char[]){part[i], 0});
    dft_line_text(&line, reason);
    dft_line_text(&line, meant);
    line.text[line.used] = 0;
    dft_settings_doubt_part(variable, dft_config_keep(line.text));
}

static const struct option *find_known(const char *name, size_t length)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strlen(known[i].name) == length && !memcmp(known[i].name, name, length))
            return &known[i];
    return NULL;
}

static void check_option(const char *variable, const char *at, size_t length)
{
    const char *equals = memchr(at, '=', length), *names[KNOWN];
    size_t n = equals ? (size_t)(equals - at) : length, rest = length - n;
    const struct option *option = find_known(at, n);

    for (size_t i = 0; i < KNOWN; i++)
        names[i] = known[i].name;
    if (!equals)
        doubt(variable, at, length, " is not NAME=VALUE; the nearest name is ", dft_nearest_of(names, KNOWN, at, n));
    else if (!option)
        doubt(variable, at, length, " is no such option; the nearest name is ", dft_nearest_of(names, KNOWN, at, n));
    else if (option->words[0] && !is_word(equals + 1, rest - 1, option->words[0]) &&
             !is_word(equals + 1, rest - 1, option->words[1]))
        doubt(variable, at, length, " is not understood; the default is ", option->words[0]);
}

void dft_perfflow_init(char *const *environment)
{
    const char *variable = NULL;

    for (; environment && *environment; environment++)
        if (!strncmp(*environment, VARIABLE, sizeof VARIABLE - 1))
            variable = *environment;
    if (!variable)
        return;
    options = dft_config_keep(variable + sizeof VARIABLE - 1);
    for (const char *at = options; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");

        if (length)
            check_option(variable, at, length);
        at += length;
    }
    logs = !option_is("log-enable", "False");
    measures = option_is("cpu-mem-usage", "True") || option_is("cpu_mem_usage", "True");
}

void dft_perfflow_find_next(void)
{
    *(void **)&next_before = dft_resolve_symbol("perfflow_weave_before");
    *(void **)&next_after = dft_resolve_symbol("perfflow_weave_after");
}

/* --- what a call says ------------------------------------------------------------------------- */

static struct dft_thread *begin(void)
{
    struct dft_thread *self = dft_annotate_is_enabled() && logs ? dft_annotate_thread() : NULL;

    if (!self)
        return NULL;
    dft_bursts_end(self);
    if (__builtin_expect(__atomic_exchange_n(&said, dft_key, __ATOMIC_RELAXED) != dft_key, 0)) {
        const struct dftrace_arg arg = dftrace_string("options", options);

        dft_annotate_put_metadata("perfflow", &arg);
    }
    return self;
}

static int is(const char *text, const char *word)
{
    return text && !strcmp(text, word);
}

/* Does the advice surround the function? Else it is a point before or after it. */
static int is_around(const char *pointcut)
{
    return is(pointcut, "around") || is(pointcut, "around_async") || !pointcut;
}

static int is_flow(const char *flow)
{
    return flow && *flow && !is(flow, "NA");
}

/* Kept as arguments of the event to come. */
static void keep(struct dft_thread *self, const char *pointcut, const char *scope, const char *flow)
{
    struct dftrace_arg args[3];
    uint32_t n = 0;

    args[n++] = dftrace_string("pointcut", pointcut);
    if (scope && *scope)
        args[n++] = dftrace_string("scope", scope);
    if (is_flow(flow))
        args[n++] = dftrace_string("flow", flow);
    dft_annotate_keep_args(self, args, n);
}

/* The weaver says for each end of a function which arrow is there. */
static void keep_end(struct dft_thread *self, const char *flow)
{
    const struct dftrace_arg arg = dftrace_string("flow_end", flow);

    if (is_flow(flow))
        dft_annotate_keep_args(self, &arg, 1);
}

static void keep_usage(struct dft_thread *self, const char *key, int with_memory)
{
    struct rusage usage;

    if (!measures || DFT_SYS(getrusage, RUSAGE_SELF, &usage, 0, 0, 0, 0) < 0)
        return;
    dft_annotate_keep_int(self, key, usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec);
    if (with_memory)
        dft_annotate_keep_int(self, "memory_usage", usage.ru_maxrss);
}

static void put_point(struct dft_thread *self, uint64_t name, enum dft_phase phase, uint64_t id, const char *pointcut,
                      const char *scope, const char *flow)
{
    uint8_t head[11] = {DFT_ITEM_PHASE, (uint8_t)phase, DFT_ITEM_ID};
    uint32_t from = self->args_used;

    memcpy(head + 3, &id, 8);
    keep(self, pointcut, scope, flow);
    dft_annotate_put_point(self, DFT_OP_REGION, name, head, id ? 11 : 2, from);
}

/* --- entry points ----------------------------------------------------------------------------- */

static void before(int async, const char *module, const char *function, const char *scope, const char *flow,
                   const char *pointcut)
{
    struct dft_thread *self = begin();
    uint64_t name;

    if (!self)
        return;
    name = dft_names_define(self, module, function);
    if (is_around(pointcut)) {
        if (async) {
            uint32_t from = self->args_used;

            keep(self, "around_async", scope, flow);
            dft_span_enter(self, name, from);
            return;
        }
        dft_region_begin(self, name, dft_ticks(), 0);
        keep(self, "around", scope, flow);
        keep_usage(self, "cpu_begin_us", 0);
    } else {
        put_point(self, name, async ? DFT_PHASE_ASYNC_BEGIN : DFT_PHASE_BEGIN,
                  async ? __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED) : 0, pointcut, scope, flow);
    }
}

static void after(int async, const char *module, const char *function, const char *scope, const char *flow,
                  const char *pointcut)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = begin();
    uint64_t name;

    if (!self)
        return;
    name = dft_names_define(self, module, function);
    if (is_around(pointcut)) {
        uint32_t from = self->args_used;
        int within;

        keep_end(self, flow);
        if (async)
            keep(self, "around_async", scope, NULL);
        else
            keep_usage(self, "cpu_end_us", 1);
        within = async ? dft_span_leave(self, name, from) : dft_region_end(self, name, end);
        if (within < 0) {
            self->args_used = (uint16_t)from;
            dft_misuse(self, DFT_MISUSE_END_ALONE, 1);
        }
    } else {
        put_point(self, name, async ? DFT_PHASE_ASYNC_END : DFT_PHASE_END,
                  async ? __atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED) : 0, pointcut, scope, flow);
    }
}

#define WEAVE __attribute__((visibility("default")))

WEAVE weave perfflow_weave_before, perfflow_weave_after;

void perfflow_weave_before(int async, const char *module, const char *function, const char *scope, const char *flow,
                           const char *pointcut)
{
    before(async, module, function, scope, flow, pointcut);
    if (next_before)
        next_before(async, module, function, scope, flow, pointcut);
}

void perfflow_weave_after(int async, const char *module, const char *function, const char *scope, const char *flow,
                          const char *pointcut)
{
    after(async, module, function, scope, flow, pointcut);
    if (next_after)
        next_after(async, module, function, scope, flow, pointcut);
}
