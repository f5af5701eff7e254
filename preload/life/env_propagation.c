/* SPDX-License-Identifier: MIT */
/* Owns the variables that let programs with a cleaned environment be traced, and their removal.
 *
 * Without FOLLOW_EXEC these are settings alone that the environment does not have, and that another
 * working directory would change (config_place.h). They go to programs that have a variable of ours, and an
 * LD_PRELOAD.
 *
 * Programs that are traced anyway get the marker alone, when a line has said that no trace can be
 * made: so an image that this process becomes does not repeat it.
 *
 * Missing variables stand at the end, behind a marker variable. The new image removes our variables
 * from the marker on, and hands them on in its turn. Only an LD_PRELOAD of the program's own is changed in its place. Our library
 * comes before its value, and is later cut off again, as the marker tells. All this lies in a
 * mapping for one call: the program's arrays are never written to. A vfork child's mapping lies in
 * its parent's memory. The parent frees the mapping when the child is gone. */
#include "life/env_propagation.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "os/bulk.h"
#include "settings/config.h"
#include "settings/config_place.h"
#include "os/reading.h"
#include "loader/resolve.h"
#include "os/sys.h"
#include "thread/state.h"
#include "store/first.h"

#define KEPT_MAX 48u
#define MARKER   "DFTRACER_FOLLOWED="
#define PRELOAD  "LD_PRELOAD="
#define OURS     "DFTRACER_"

#define PAGE_LEAST   4096u        /* bytes; no page is smaller */
#define VARIABLE_MAX (128u << 10) /* the kernel accepts no longer variable */

static const char *kept[KEPT_MAX];  /* NAME=value, of DFTRACER_ variables */
static uint32_t nkept, nfollow;     /* the first nfollow are FOLLOW_EXEC's; the program does not have the others */
static char preload[4352] DFT_BULK; /* LD_PRELOAD= and the path of our library; empty without FOLLOW_EXEC */

/* The mapping that a vfork child left. */
static __thread struct {
    void *capacity;
    size_t bytes;
} left __attribute__((tls_model("initial-exec")));

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* --- load ------------------------------------------------------------------------------------- */

/* For FOLLOW_EXEC. Returns 0 or -1: it is not known where our library lies. */
static int make_preload(void)
{
    const char *own = dft_resolve_own_path();
    size_t used = strlen(PRELOAD);
    long n;

    if (!own || !strchr(own, '/'))
        return -1;
    memcpy(preload, PRELOAD, used);
    if (*own != '/') {
        n = DFT_SYS(getcwd, preload + used, sizeof preload - used - 1, 0, 0, 0, 0);
        if (n <= 0) {
            *preload = 0;
            return -1;
        }
        used += (size_t)n;
        preload[used - 1] = '/';
    }
    if (used + strlen(own) >= sizeof preload) {
        *preload = 0;
        return -1;
    }
    memcpy(preload + used, own, strlen(own) + 1);
    return 0;
}

/* From one variable on until another one, or the end. */
static void keep(char *const *from, char *const *until)
{
    for (char *const *e = from; e != until && *e && nkept < KEPT_MAX; e++)
        if (begins(*e, OURS) && !begins(*e, MARKER))
            kept[nkept++] = dft_config_keep(*e);
}

/* The marker's value is one digit, of these bits. */
enum { HAD_PRELOAD = 1, WAS_SAID = 2 };

static void take_out(char **environment, char **marker)
{
    char **from, **to;
    int bits;

    if (!*marker)
        return;
    bits = (*marker)[strlen(MARKER)];
    if (bits & WAS_SAID)
        dft_first_note_reported();
    for (char **e = environment; e < marker && bits & HAD_PRELOAD; e++) {
        char *value = *e + strlen(PRELOAD), *theirs = begins(*e, PRELOAD) ? strchr(value, ':') : NULL;

        if (theirs)
            memmove(value, theirs + 1, strlen(theirs));
    }
    for (to = from = marker; *from; from++) /* an untraced program may have added some */
        if (!begins(*from, OURS) && !begins(*from, PRELOAD))
            *to++ = *from;
    *to = NULL;
}

void dft_env_propagation_init(char **environment)
{
    char **marker = environment;

    if (!environment)
        return;
    while (*marker && !begins(*marker, MARKER))
        marker++;
    if (dft_config.follow_exec && !make_preload())
        keep(environment, marker);
    nfollow = nkept;
    keep(marker, NULL);
    for (size_t i = 0; dft_config_handed_on(i) && nkept < KEPT_MAX; i++)
        kept[nkept++] = dft_config_handed_on(i);
    take_out(environment, marker);
}

/* --- exec ------------------------------------------------------------------------------------- */

/* The contents of an environment. */
struct contents {
    uint32_t count;
    uint64_t has; /* bit i: kept[i] */
    int preload;  /* position of LD_PRELOAD; -1: absent */
    int complete; /* LD_PRELOAD has our library, or need not have it */
    int ours;     /* there is a variable of ours */
    int enabled;  /* the program is to be traced as it is */
    int place;    /* to another place */
};

static void look_at(struct contents *found, const char *variable, uint32_t i)
{
    if (begins(variable, PRELOAD)) {
        found->preload = (int)i;
        found->complete |= strstr(variable, preload + strlen(PRELOAD)) != NULL;
    }
    found->ours |= begins(variable, OURS);
    found->enabled |= begins(variable, OURS "ENABLE=");
    if (begins(variable, OURS "LOG_FILE="))
        found->place = strcmp(variable + strlen(OURS "LOG_FILE="), dft_config.log_file) != 0;
    for (uint32_t k = 0; k < nkept; k++)
        if (begins(variable, OURS) && !strncmp(variable, kept[k], strcspn(kept[k], "=") + 1))
            found->has |= UINT64_C(1) << k;
}

/* Asks the kernel once a page. `page`: the last one that could be read. */
static int can_read(const void *at, uintptr_t *page)
{
    if ((uintptr_t)at / PAGE_LEAST == *page)
        return 1;
    *page = (uintptr_t)at / PAGE_LEAST;
    return dft_sys_can_read(at);
}

/* Returns -1 when the environment cannot be read, or the kernel cannot accept it. The real call
 * then reports the error. */
static int look(struct contents *found, char *const *envp)
{
    struct dft_text variable;
    uintptr_t page = 0;

    *found = (struct contents){.preload = -1, .complete = !*preload};
    if (!envp)
        return 0;
    for (;; found->count++) {
        if (!can_read(&envp[found->count], &page))
            return -1;
        if (!envp[found->count])
            return 0;
        if (dft_reading_find(&variable, envp[found->count], VARIABLE_MAX) || variable.length == VARIABLE_MAX)
            return -1;
        look_at(found, envp[found->count], found->count);
    }
}

/* Is the program traced as it is? What is linked with the library needs no LD_PRELOAD, but is rare. */
static int is_traced(const struct contents *found)
{
    return found->ours && found->preload >= 0;
}

/* Is the program to know that a line has already said that no trace can be made? */
static int was_said(const struct contents *found)
{
    return found->enabled && is_traced(found) && !found->place && dft_first_has_reported();
}

/* Fills in the program's variables, then ours. `text` has room for an LD_PRELOAD with both
 * values. follows 0: only the marker, for a program that has ours. */
static void fill(char **to, char *text, const struct contents *found, char *const *envp, int follows)
{
    static const char *const markers[] = {MARKER "0", MARKER "1", MARKER "2", MARKER "3"};
    int had_preload = follows && found->preload >= 0 && !found->complete;
    uint32_t n = found->count;

    for (uint32_t i = 0; i < n; i++)
        to[i] = envp[i];
    to[n++] = (char *)(uintptr_t)markers[(had_preload ? HAD_PRELOAD : 0) | (was_said(found) ? WAS_SAID : 0)];
    if (!follows) {
        to[n] = NULL;
        return;
    }
    if (found->preload < 0 && *preload) {
        to[n++] = preload;
    } else if (!found->complete) {
        to[found->preload] = text;
        text = (char *)memcpy(text, preload, strlen(preload)) + strlen(preload);
        *text++ = ':';
        memcpy(text, envp[found->preload] + strlen(PRELOAD), strlen(envp[found->preload] + strlen(PRELOAD)) + 1);
    }
    for (uint32_t k = 0; k < nkept; k++)
        if (!(found->has >> k & 1))
            to[n++] = (char *)(uintptr_t)kept[k];
    to[n] = NULL;
}

void dft_env_propagation_begin(struct dft_env_propagation *follow, char *const *envp)
{
    struct contents found;
    size_t pointers, text;

    int follows = nkept && dft_on;

    *follow = (struct dft_env_propagation){.envp = envp, .own = envp, .error = errno};
    if (!(follows || dft_first_has_reported()) || dft_is_sandboxed() || look(&found, envp))
        return;
    follows =
        follows && (*preload || is_traced(&found)) && !(found.complete && found.has == (UINT64_C(1) << nkept) - 1);
    if (!follows && !was_said(&found))
        return;
    pointers = (found.count + nkept + 3) * sizeof(char *);
    text = sizeof preload + (found.preload < 0 ? 0 : strlen(envp[found.preload]));
    follow->capacity = dft_sys_map(pointers + text);
    if (!follow->capacity)
        return;
    follow->bytes = pointers + text;
    fill(follow->capacity, (char *)follow->capacity + pointers, &found, envp, follows);
    follow->envp = follow->capacity;
    if (dft_in_vfork_child()) {
        left.capacity = follow->capacity;
        left.bytes = follow->bytes;
    }
}

/* Of a variable that begins so. One that cannot be read is the real call's to report. */
static int brings_library(const char *variable)
{
    struct dft_text text;

    return dft_reading_find(&text, variable, VARIABLE_MAX) || text.length == VARIABLE_MAX ||
           strstr(variable, "libdftrace") != NULL;
}

int dft_env_propagation_is_lost(char *const *envp)
{
    uintptr_t list = 0, text = 0;

    if (*preload || dft_is_sandboxed())
        return 0;
    for (; envp; envp++) {
        if (!can_read(envp, &list))
            return 0; /* the real call reports the error */
        if (!*envp)
            return 1;
        if (!can_read(*envp, &text) || (**envp == 'L' && !can_read(*envp + strlen(PRELOAD), &text)))
            return 0;
        if (begins(*envp, PRELOAD))
            return !brings_library(*envp);
    }
    return 1;
}

/* The array of an earlier command, to be used again: other threads may still read it. Its first word has the number
 * of words behind. Atomic. */
static size_t *spare;

static char **take_array(size_t words)
{
    size_t *array = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQUIRE);

    if (array && *array >= words)
        return (char **)(array + 1);
    array = dft_sys_map((words + 1) * sizeof *array);
    if (array)
        *array = words;
    return (char **)(array ? array + 1 : NULL);
}

/* The C library runs the shell with `environ`, and no wrapper sees that. */
void dft_env_propagation_command(struct dft_env_command *command)
{
    struct contents found;
    uint64_t missing;
    uint32_t n;

    *command = (struct dft_env_command){environ, NULL};
    if (nkept == nfollow || !dft_on || dft_in_vfork_child() || dft_is_sandboxed() || look(&found, environ) ||
        !is_traced(&found))
        return;
    missing = ((UINT64_C(1) << nkept) - (UINT64_C(1) << nfollow)) & ~found.has;
    command->larger = missing ? take_array(found.count + nkept + 1) : NULL;
    if (!command->larger)
        return;
    memcpy(command->larger, command->own, found.count * sizeof(char *));
    n = found.count;
    for (uint32_t k = nfollow; k < nkept; k++)
        if (missing >> k & 1)
            command->larger[n++] = (char *)(uintptr_t)kept[k];
    command->larger[n] = NULL;
    environ = command->larger;
}

/* What another thread has set meanwhile stays. */
void dft_env_propagation_command_end(const struct dft_env_command *command)
{
    char **larger = command->larger;

    if (!larger)
        return;
    __atomic_compare_exchange_n(&environ, &larger, command->own, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    __atomic_store_n(&spare, (size_t *)command->larger - 1, __ATOMIC_RELEASE);
}

void dft_env_propagation_end(struct dft_env_propagation *follow)
{
    if (follow->capacity)
        DFT_SYS(munmap, follow->capacity, follow->bytes, 0, 0, 0, 0);
    left.capacity = NULL;
}

int dft_env_propagation_gives_way(struct dft_env_propagation *follow, int error)
{
    if (!follow->capacity || (error != E2BIG && error != ENOMEM))
        return 0;
    dft_env_propagation_end(follow);
    follow->envp = follow->own;
    follow->capacity = NULL;
    errno = follow->error;
    return 1;
}

void dft_env_propagation_child_gone(void)
{
    if (left.capacity)
        DFT_SYS(munmap, left.capacity, left.bytes, 0, 0, 0, 0);
    left.capacity = NULL;
}
