/* SPDX-License-Identifier: MIT */
/* dftrun --container: the flags, or the YAML, with which programs in a container are traced.
 *
 * The library and the directory of the traces are mounted below /opt/dftrace, because the paths of
 * the host may mean other files inside. The flags are made for `docker run $(dftrun ...)`. A shell
 * splits such flags at blanks and takes no quotes. So a path with a sign of the shell is refused. */
#include "dftrun/dftrun_container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/nearest_word.h"
#include "base/write_line.h"
#include "base/write_text.h"
#include "dftrun/dftrun_environment.h"
#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_reason.h"
#include "format/live_format.h"

#define INSIDE      "/opt/dftrace"
#define INSIDE_LIB  INSIDE "/lib/" DFTRUN_LIBRARY
#define INSIDE_LIVE INSIDE "/live"

extern char **environ;

enum runtime { PODMAN, DOCKER, APPTAINER, KUBERNETES };

static const struct {
    const char *name;
    enum runtime runtime;
} runtimes[] = {
    {"podman", PODMAN},         {"docker", DOCKER},         {"apptainer", APPTAINER},
    {"singularity", APPTAINER}, {"kubernetes", KUBERNETES}, {"k8s", KUBERNETES},
};
#define RUNTIMES (sizeof runtimes / sizeof *runtimes)

/* What the flags say. */
struct box {
    enum runtime runtime;
    int live;              /* live files need /dev/shm of the host */
    char weave[PATH_MAX];  /* of the installed weave files, or empty */
    char traces[PATH_MAX]; /* on the host */
};

/* --- the request ------------------------------------------------------------------------------ */

const char *dft_container_word(size_t i)
{
    return i < RUNTIMES ? runtimes[i].name : NULL;
}

static int find_runtime(const char *name, enum runtime *runtime)
{
    const char *words[RUNTIMES], *nearest;

    for (size_t i = 0; i < RUNTIMES; i++) {
        words[i] = runtimes[i].name;
        if (!strcmp(name, words[i])) {
            *runtime = runtimes[i].runtime;
            return 0;
        }
    }
    nearest = dft_nearest_word(name, strlen(name), words, RUNTIMES);
    fprintf(stderr, "dftrun: --container %s: podman, docker, apptainer and kubernetes are known%s%s%s\n", name,
            nearest ? ". Did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return DFTRUN_USAGE;
}

/* Signs that a shell, or the flags themselves, take as something else. */
static int is_plain(const char *what, const char *text)
{
    const char *at = strpbrk(text, " \t\n\r:,;*?[]{}()<>|&$`'\"\\~#!");

    if (!at)
        return 1;
    fprintf(stderr, "dftrun: %s '%s': flags cannot hold a '%c', because the shell splits them: %s\n", what, text,
            *at == '\n' ? ' ' : *at, what[0] == '-' ? "name another directory" : "move it");
    return 0;
}

/* Makes the directory, because runtimes make it for root alone, or refuse. */
static int prepare_directory(const struct dft_run *run, struct box *box)
{
    char inside[PATH_MAX + 8];
    struct statfs fs;
    int error;

    snprintf(inside, sizeof inside, "%s/x", run->directory);
    error = dft_folder_make(inside);
    if (!error && !realpath(run->directory, box->traces))
        error = -errno;
    if (error) {
        fprintf(stderr, "dftrun: -o %s: the directory cannot be made: %s\n", run->directory, strerror(-error));
        return DFTRUN_OWN;
    }
    box->live = !statfs(box->traces, &fs) && !dft_live_fits((unsigned long)fs.f_type);
    return 0;
}

static void find_weave(const struct dft_run *run, struct box *box)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s", run->library);
    *strrchr(path, '/') = '\0';
    strcat(path, "/../share/dftrace/weave");
    if (!realpath(path, box->weave))
        *box->weave = '\0';
}

/* --- flags ------------------------------------------------------------------------------------ */

static void put_mount(const struct box *box, const char *outside, const char *inside, int readonly)
{
    printf("%s %s:%s%s\n", box->runtime == APPTAINER ? "--bind" : "--volume", outside, inside, readonly ? ":ro" : "");
}

static void put_variable(const char *name, const char *value)
{
    printf("--env %s=%s\n", name, value);
}

/* The prefix of this run's traces. */
static const char *prefix_of(const struct dft_run *run)
{
    static char prefix[PATH_MAX];

    snprintf(prefix, sizeof prefix, INSIDE "/traces/%.200s", dft_reason_base(run->prefix));
    return prefix;
}

/* The user's own settings go along, but for those that are set here. What has no name of a setting is
 * none. */
static int is_setting(const char *variable)
{
    static const char *const ours[] = {"DFTRACER_ENABLE", "DFTRACER_LOG_FILE", "DFTRACER_LIVE_DIR", NULL};
    size_t length = strspn(variable, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)length, variable);
    return !strncmp(variable, "DFTRACER_", 9) && variable[length] == '=' && !dft_reason_is_one_of(name, ours);
}

/* Flags may be pasted, too: a shell then runs what a value holds. A comma ends a setting of apptainer. */
static int is_plain_setting(enum runtime runtime, const char *value)
{
    for (const char *at = value; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f || strchr(" *?[;|&<>$()`'\"\\!", *at) ||
            (runtime == APPTAINER && *at == ','))
            return 0;
    return 1;
}

static int settings_are_plain(enum runtime runtime)
{
    for (char **e = environ; *e; e++)
        if (is_setting(*e) && !is_plain_setting(runtime, strchr(*e, '=') + 1)) {
            fprintf(stderr,
                    "dftrun: %s: flags cannot hold a blank or a sign of the shell (apptainer: ','): put it into a file "
                    "(DFTRACER_CONFIGURATION)\n",
                    *e);
            return 0;
        }
    return 1;
}

/* Traces belong to who asks. Root stays root. podman maps the user on its own then. */
static void put_user(const struct box *box)
{
    if (!geteuid())
        return;
    if (box->runtime == PODMAN)
        puts("--userns=keep-id");
    else if (box->runtime == DOCKER)
        printf("--user %u:%u\n", (unsigned)geteuid(), (unsigned)getegid());
}

static void put_flags(const struct dft_run *run, const struct box *box)
{
    put_mount(box, run->library, INSIDE_LIB, 1);
    if (*box->weave)
        put_mount(box, box->weave, INSIDE "/share/dftrace/weave", 1);
    put_mount(box, box->traces, INSIDE "/traces", 0);
    if (box->live)
        put_mount(box, "/dev/shm", INSIDE_LIVE, 0);
    put_user(box);
    put_variable("LD_PRELOAD", INSIDE_LIB);
    put_variable("DFTRACER_ENABLE", "1");
    put_variable("DFTRACER_LOG_FILE", prefix_of(run));
    if (box->live)
        put_variable("DFTRACER_LIVE_DIR", INSIDE_LIVE);
    for (char **e = environ; *e; e++)
        if (is_setting(*e))
            printf("--env %s\n", *e);
}

/* --- YAML ------------------------------------------------------------------------------------- */

/* Single quotes would make a blank of the end of a line. */
/* A string of JSON is one of YAML. */
static void put_quoted(const char *text)
{
    const size_t length = strlen(text);
    char *escaped = dft_text_escaped(text, length);
    int acts = !escaped || strcmp(escaped, text);
    struct dft_line line;

    free(escaped);
    if (acts) {
        dft_line_init(&line, stdout);
        dft_line_quote(&line, text, length);
        dft_line_flush(&line);
        return;
    }
    putchar('\'');
    for (; *text; text++)
        printf(*text == '\'' ? "''" : "%c", *text);
    putchar('\'');
}

static void put_yaml_variable(const char *name, int length, const char *value)
{
    printf("    - name: %.*s\n      value: ", length, name);
    put_quoted(value);
    putchar('\n');
}

static void put_yaml_mount(const char *name, const char *inside, int readonly)
{
    printf("    - name: %s\n      mountPath: %s\n%s", name, inside, readonly ? "      readOnly: true\n" : "");
}

static void put_yaml_volume(const char *name, const char *outside, const char *type)
{
    printf("  - name: %s\n    hostPath:\n      path: ", name);
    put_quoted(outside);
    printf("\n      type: %s\n", type);
}

static void put_yaml(const struct dft_run *run, const struct box *box)
{
    printf("# For the spec of a pod. Each node needs the library and the directory at these paths.\n"
           "containers:\n"
           "  - name: NAME\n"
           "    env:\n");
    put_yaml_variable("LD_PRELOAD", 10, INSIDE_LIB);
    put_yaml_variable("DFTRACER_ENABLE", 15, "1");
    put_yaml_variable("DFTRACER_LOG_FILE", 17, prefix_of(run));
    if (box->live)
        put_yaml_variable("DFTRACER_LIVE_DIR", 17, INSIDE_LIVE);
    for (char **e = environ; *e; e++)
        if (is_setting(*e))
            put_yaml_variable(*e, (int)strcspn(*e, "="), strchr(*e, '=') + 1);
    printf("    volumeMounts:\n");
    put_yaml_mount("dftrace-library", INSIDE_LIB, 1);
    if (*box->weave)
        put_yaml_mount("dftrace-weave", INSIDE "/share/dftrace/weave", 1);
    put_yaml_mount("dftrace-traces", INSIDE "/traces", 0);
    if (box->live)
        put_yaml_mount("dftrace-live", INSIDE_LIVE, 0);
    if (geteuid())
        printf("securityContext:\n  runAsUser: %u\n  runAsGroup: %u\n", (unsigned)geteuid(), (unsigned)getegid());
    printf("volumes:\n");
    put_yaml_volume("dftrace-library", run->library, "File");
    if (*box->weave)
        put_yaml_volume("dftrace-weave", box->weave, "Directory");
    put_yaml_volume("dftrace-traces", box->traces, "DirectoryOrCreate");
    if (box->live)
        put_yaml_volume("dftrace-live", "/dev/shm", "Directory");
}

int dft_container_print(const struct dft_run *run)
{
    struct box box = {0};
    int code = find_runtime(run->container, &box.runtime);

    if (!code && box.runtime != KUBERNETES && !(is_plain("the library", run->library) && is_plain("-o", run->place)))
        code = DFTRUN_USAGE;
    if (!code && (dft_run_environment(run) || (box.runtime != KUBERNETES && !settings_are_plain(box.runtime))))
        code = DFTRUN_OWN;
    if (!code)
        code = prepare_directory(run, &box);
    if (code)
        return code;
    find_weave(run, &box);
    if (box.runtime == KUBERNETES) {
        put_yaml(run, &box);
    } else {
        if (!is_plain("-o", box.traces)) /* behind a symbolic link */
            return DFTRUN_USAGE;
        if (*box.weave && !is_plain("the weave files", box.weave))
            *box.weave = '\0';
        put_flags(run, &box);
    }
    return fflush(stdout) || ferror(stdout) ? DFTRUN_OWN : 0;
}
