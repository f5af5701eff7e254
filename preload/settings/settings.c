/* SPDX-License-Identifier: MIT */
/* Owns the list of settings that have no effect, and the search for the intended name. */
#include "settings/settings.h"

#include <string.h>

#include "settings/config.h"
#include "settings/message.h"
#include "settings/nearest.h"

#define NOTES_MAX 16u
#define SHOWN_MAX 160u
#define NEAR      2u /* mistakes in a name that must still be ours */

#define PREFIX "DFTRACER_"

static struct note {
    const char *variable, *reason, *nearest; /* nearest: NULL where the name is known */
    int when_off, in_part;
} notes[NOTES_MAX];
static unsigned count;
static int more; /* more notes than NOTES_MAX */

/* Names that scripts written for DFTracer may set. They change nothing here. */
static const char *const accepted[] = {
    PREFIX "GOTCHA_PRIORITY",
    PREFIX "WRITE_BUFFER_SIZE",
    PREFIX "SET_CORE_AFFINITY",
    PREFIX "LIBUV_THREADS",
    PREFIX "INIT_COUNT",
    PREFIX "ERROR",
    PREFIX "ENABLE_PAPI_TRACING",
    PREFIX "PAPI_EVENTS",
    PREFIX "PAPI_MULTIPLEX",
    PREFIX "PAPI_SAMPLE_INTERVAL_MS",
    PREFIX "DISABLE_VARIORUM_POWER",
};

/* Names that DFTracer is built with. These names stay in the environment of the user who built it.
 * The last three are prefixes. */
static const char *const built_with[] = {
    "BUILD_DEPENDENCIES",
    "BUILD_PYTHON_BINDINGS",
    "BUILD_TYPE",
    "BUILD_VARIORUM",
    "CUDA_PATH",
    "DISABLE_HWLOC",
    "ENABLE_CUDA_TRACING",
    "ENABLE_DLIO_BENCHMARK_TESTS",
    "ENABLE_DYNAMIC_DETECTION",
    "ENABLE_FTRACING",
    "ENABLE_HDF5",
    "ENABLE_HIP_TRACING",
    "ENABLE_MPI",
    "ENABLE_NATIVE_SCRIPT",
    "ENABLE_PAPER_TESTS",
    "ENABLE_TESTS",
    "ENABLE_VARIORUM",
    "GENERATE_INTERFACES",
    "INSTALL_DEPENDENCIES",
    "INSTALL_DIR",
    "LIBDIR_AS_LIB",
    "MPI_IMPL",
    "PYTHON_EXE",
    "PYTHON_SITE",
    "USE_CLANG_LIBCXX",
    "VERSION",
    "WARNINGS_AS_ERRORS",
    "WHEEL",
    "MPI_TEST_",
    "TEST_",
    "UTILS_",
};

#define COUNT(list) (sizeof list / sizeof *list)

static int is_name(const char *name, size_t length, const char *full)
{
    return length == strlen(full) && !memcmp(name, full, length);
}

int dft_settings_is_accepted(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(accepted); i++)
        if (is_name(name, length, accepted[i] + strlen(PREFIX)))
            return 1;
    for (size_t i = 0; i < COUNT(built_with); i++) {
        size_t n = strlen(built_with[i]);

        if (is_name(name, length, built_with[i]) ||
            (built_with[i][n - 1] == '_' && length > n && !memcmp(name, built_with[i], n)))
            return 1;
    }
    return 0;
}

/* --- the nearest name ------------------------------------------------------------------------- */

static const char *const settings[] = {
#define DFT_OPTION(field, name, type, initial, help) PREFIX #name,
#include <dftrace/config.def>
#undef DFT_OPTION
};

static int same(char a, char b)
{
    return (a | 32) == (b | 32);
}

/* The name with the fewest mistakes. *apart: their number. */
static const char *find_nearest(const char *variable, unsigned *apart)
{
    size_t length = strcspn(variable, "=");
    const char *nearest = NULL;

    dft_nearest_look(settings, COUNT(settings), variable, length, &nearest, apart);
    dft_nearest_look(accepted, COUNT(accepted), variable, length, &nearest, apart);
    return nearest;
}

/* Are the letters of the prefix near their places, but for a few? The first letters decide for most
 * variables. */
static int begins_nearly(const char *variable)
{
    unsigned missing = 0;

    for (size_t i = 0; i < strlen(PREFIX); i++) {
        if (!variable[i] || variable[i] == '=')
            return 0;
        missing += !same(variable[i], PREFIX[i]) && !(i && same(variable[i - 1], PREFIX[i])) &&
                   !same(variable[i + 1], PREFIX[i]);
        if (missing > NEAR)
            return 0;
    }
    return 1;
}

/* Most variables are not ours, and are sorted out without a search. */
int dft_settings_resembles(const char *variable)
{
    unsigned apart = 0;

    return begins_nearly(variable) && strcspn(variable, "=") <= DFT_NEAREST_MAX && find_nearest(variable, &apart) &&
           apart <= NEAR;
}

/* --- notes ------------------------------------------------------------------------------------ */

static void note(const struct note *what)
{
    if (count < NOTES_MAX)
        notes[count++] = *what;
    else
        more = 1;
}

void dft_settings_doubt(const char *variable, const char *reason, int when_off)
{
    note(&(struct note){.variable = variable, .reason = reason, .when_off = when_off});
}

void dft_settings_doubt_part(const char *variable, const char *reason)
{
    note(&(struct note){.variable = variable, .reason = reason, .in_part = 1});
}

void dft_settings_unknown(const char *variable)
{
    unsigned apart = 0;
    const char *nearest = find_nearest(variable, &apart);

    note(&(struct note){.variable = variable,
                        .reason = "there is no such setting; the nearest name is ",
                        .nearest = nearest,
                        /* the first row is ENABLE */
                        .when_off = nearest == settings[0] && apart <= NEAR});
}

void dft_settings_forget(void)
{
    count = 0;
    more = 0;
}

int dft_settings_any(void)
{
    return count != 0;
}

/* Bytes of the character of UTF-8 that is here; 0: there is none. */
static size_t character(const unsigned char *at)
{
    size_t n = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Would a terminal act on it? Controls, also U+0080-U+009F, ends of lines and marks of direction. */
static int acts(const unsigned char *at)
{
    return *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0) || (*at == 0xd8 && at[1] == 0x9c) ||
           (*at == 0xe2 && (at[1] & 0xfe) == 0x80);
}

const char *dft_settings_shown(unsigned i)
{
    static char shown[SHOWN_MAX + 4];
    const unsigned char *at = (const unsigned char *)(i < count ? notes[i].variable : "");
    size_t length = 0;

    for (size_t n; *at && length + 4 <= SHOWN_MAX; at += n ? n : 1) {
        n = character(at);
        if (!n || acts(at)) {
            shown[length++] = '?';
        } else {
            memcpy(shown + length, at, n);
            length += n;
        }
    }
    memcpy(shown + length, *at ? "..." : "", *at ? 4 : 1);
    return shown;
}

void dft_settings_tell(int (*tells)(const char *variable))
{
    for (unsigned i = 0; i < count; i++) {
        const struct note *what = &notes[i];

        if ((dft_config.enable || what->when_off) && tells(what->variable))
            dft_message(DFT_LOG_ERROR, dft_settings_shown(i), what->in_part ? ": " : " has no effect: ", what->reason,
                        what->nearest ? what->nearest : "", dft_config.enable ? "" : "; nothing is recorded", NULL);
    }
    if (more && dft_config.enable && tells(notes[count - 1].variable))
        dft_message(DFT_LOG_ERROR, "more settings have no effect", NULL);
}
