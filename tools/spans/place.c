/* SPDX-License-Identifier: MIT */
/* Where a log lies. */
#include "spans/place.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spans/lines.h"
#include "spans/scan.h"

#define LEVELS    8       /* that are looked through upwards */
#define RUN_LINES 100000u /* that are looked through for the run id */

static int is_there(const char *folder, const char *name)
{
    char *path;
    int there;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return 0;
    there = !access(path, F_OK);
    free(path);
    return there;
}

/* The nearest folder above a path that holds a file of this name; NULL: none, or no memory. */
static char *folder_with(const char *path, const char *name)
{
    char *folder = strdup(path), *slash;

    for (int i = 0; folder && i < LEVELS && (slash = strrchr(folder, '/')); i++) {
        *slash = '\0';
        if (is_there(folder, name))
            return folder;
    }
    free(folder);
    return NULL;
}

static char *run_of(const char *rundir)
{
    struct dft_log_lines lines;
    struct dft_text line;
    char *path, *run = NULL;

    if (asprintf(&path, "%s/parsl.log", rundir) < 0)
        return NULL;
    if (!dft_log_lines_open(&lines, path))
        while (!run && lines.number < RUN_LINES && dft_log_lines_next(&lines, &line) > 0)
            if (dft_scan_find(&line, "Run id is: ")) {
                struct dft_text word = dft_scan_word(&line);

                run = word.length ? strndup(word.bytes, word.length) : NULL;
            }
    dft_log_lines_fini(&lines);
    free(path);
    return run ? run : strdup(rundir);
}

/* The component of the path below the rundir, if it is a folder. */
static char *label_of(const struct dft_log_place *place)
{
    const char *below = place->rundir ? place->path + strlen(place->rundir) + 1 : "", *slash = strchr(below, '/');

    return strndup(below, slash ? (size_t)(slash - below) : 0);
}

static char *htex_of(const struct dft_log_place *place)
{
    char *text = NULL, *folder;

    if (place->rundir)
        return asprintf(&text, "%s:%s", place->run, place->label) < 0 ? NULL : text;
    folder = folder_with(place->path, "interchange.log");
    if (!folder)
        return strndup(place->path, (size_t)(strrchr(place->path, '/') - place->path));
    return folder;
}

static int has_functions(const char *rundir)
{
    glob_t found;
    char *pattern;
    int has;

    if (asprintf(&pattern, "%s/*/function_data", rundir) < 0)
        return 0;
    has = !glob(pattern, GLOB_NOSORT, NULL, &found);
    if (has)
        globfree(&found);
    free(pattern);
    return has;
}

int dft_log_place_init(struct dft_log_place *place, const char *path)
{
    const char *end, *start;

    *place = (struct dft_log_place){.path = realpath(path, NULL)};
    if (!place->path)
        return -errno;
    place->rundir = folder_with(place->path, "parsl.log");
    place->has_functions = place->rundir && has_functions(place->rundir);
    place->run = place->rundir ? run_of(place->rundir) : strdup("");
    place->label = label_of(place);
    if (!place->run || !place->label)
        return -ENOMEM;
    place->htex = htex_of(place);
    end = strrchr(place->path, '/');
    start = end;
    while (start > place->path && start[-1] != '/')
        start--;
    place->folder = strndup(start, (size_t)(end - start));
    place->name = strdup(end + 1);
    return place->htex && place->folder && place->name ? 0 : -ENOMEM;
}

void dft_log_place_fini(struct dft_log_place *place)
{
    free(place->path);
    free(place->rundir);
    free(place->run);
    free(place->label);
    free(place->htex);
    free(place->folder);
    free(place->name);
    *place = (struct dft_log_place){0};
}

int dft_log_place_has(const struct dft_log_place *place, const char *label, int length, const char *name)
{
    char *path;
    int there;

    if (!place->rundir || asprintf(&path, "%.*s/%s", length, label, name) < 0)
        return 0;
    there = is_there(place->rundir, path);
    free(path);
    return there;
}
