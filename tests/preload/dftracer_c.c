/* SPDX-License-Identifier: MIT */
/* A program written for DFTracer's C interface, as its documentation has it: nothing here is of
 * ours. */
#include <dftracer/dftracer.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *data;

static void write_some(const char *name, int times)
{
    DFTRACER_C_FUNCTION_START();
    DFTRACER_C_FUNCTION_UPDATE_STR("file", name);
    DFTRACER_C_FUNCTION_UPDATE_INT("times", times);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", data, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd == -1) {
        DFTRACER_C_FUNCTION_END();
        return;
    }
    DFTRACER_C_REGION_START(WRITES);
    DFTRACER_C_REGION_UPDATE_INT(WRITES, "outer", 1);
    for (int i = 0; i < times; i++) {
        DFTRACER_C_REGION_START(ONE);
        DFTRACER_C_REGION_UPDATE_STR(WRITES, "said", "within another");
        DFTRACER_C_REGION_UPDATE_INT(ONE, "i", i);
        if (write(fd, "0123456789", 10) != 10)
            perror("write");
        DFTRACER_C_REGION_END(ONE);
    }
    DFTRACER_C_REGION_UPDATE_STR(WRITES, "then", "the end");
    DFTRACER_C_REGION_END(WRITES);
    close(fd);
    DFTRACER_C_FUNCTION_END();
}

/* Texts for which there is no room, for regions that are not the innermost. */
static void long_texts(void)
{
    static char text[5000];
    DFTRACER_C_FUNCTION_START();
    memset(text, 't', sizeof text - 1);
    DFTRACER_C_REGION_START(OUTER);
    DFTRACER_C_REGION_UPDATE_INT(OUTER, "first", 1);
    DFTRACER_C_REGION_START(INNER);
    DFTRACER_C_REGION_UPDATE_INT(INNER, "inner", 2);
    DFTRACER_C_REGION_UPDATE_STR(OUTER, "long", text);
    DFTRACER_C_FUNCTION_UPDATE_STR("longer", text);
    DFTRACER_C_REGION_UPDATE_INT(OUTER, "last", 3);
    DFTRACER_C_REGION_END(INNER);
    DFTRACER_C_REGION_END(OUTER);
    DFTRACER_C_FUNCTION_END();
}

static int early(int n)
{
    DFTRACER_C_FUNCTION_START();
    if (n)
        return 1; /* without its end */
    DFTRACER_C_FUNCTION_END();
    return 0;
}

/* PROGRAM FOLDER LOG_FILE|- DATA_DIRS|- bind|nobind|none */
int main(int argc, char **argv)
{
    const char *log_file, *data_dirs;
    int rank = 3;

    if (argc != 5)
        return 2;
    data = argv[1];
    log_file = strcmp(argv[2], "-") ? argv[2] : NULL;
    data_dirs = strcmp(argv[3], "-") ? argv[3] : NULL;
    write_some("before", 1); /* a region without, or before, an init is harmless */
    if (!strcmp(argv[4], "bind")) {
        DFTRACER_C_INIT(log_file, data_dirs, NULL);
    } else if (!strcmp(argv[4], "nobind")) {
        DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, &rank);
    }
    DFTRACER_C_METADATA(meta, "key", "value");
    write_some("file", 3);
    if (!strcmp(argv[4], "long"))
        long_texts();
    early(0);
    early(1);
    DFTRACER_C_FINI();
    write_some("after", 1);
    return 0;
}
