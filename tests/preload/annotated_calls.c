/* SPDX-License-Identifier: MIT */
/* Every annotation of dftrace.h, from C. Compiled by annotate_test.py in several ways; links
 * nothing. */
#include <dftrace/dftrace.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fd;

static void write_byte(void)
{
    if (write(fd, "x", 1) != 1)
        perror("write");
}

static void nested(void)
{
    write_byte(); /* in no region */
    DFTRACE_BEGIN("outer");
    write_byte();
    DFTRACE_BEGIN_CAT("IO", "inner");
    write_byte();
    DFTRACE_END_CAT("IO", "inner");
    write_byte();
    DFTRACE_END("outer");
    write_byte();
}

static int scope(int early)
{
    DFTRACE_REGION("scope");
    write_byte();
    if (early)
        return 1; /* ends it */
    {
        DFTRACE_REGION_CAT("IO", "block");
        write_byte();
    }
    write_byte();
    return 0;
}

static void arguments(void)
{
    char text[2000];

    DFTRACE_BEGIN("with arguments");
    DFTRACE_ARG_INT("small", 7);
    DFTRACE_ARG_INT("least", INT64_MIN);
    DFTRACE_ARG_INT("most", INT64_MAX);
    DFTRACE_ARG_DOUBLE("half", 0.5);
    DFTRACE_ARG_DOUBLE("tiny", 4.9406564584124654e-324);
    DFTRACE_ARG_STRING("text", "a \"quoted\" \\ text\n\001");
    DFTRACE_ARG_STRING("empty", "");
    DFTRACE_ARG_STRING("bytes", "\xff\xfe \xc3\xa4");
    DFTRACE_ARG_STRING("none", NULL);
    DFTRACE_END("with arguments");
    DFTRACE_BEGIN("outer arguments");
    DFTRACE_ARG_INT("a", 1);
    DFTRACE_BEGIN("inner arguments");
    DFTRACE_ARG_INT("b", 2);
    DFTRACE_END("inner arguments");
    DFTRACE_ARG_INT("c", 3);
    DFTRACE_END("outer arguments");
    memset(text, 't', sizeof text - 1);
    text[sizeof text - 1] = 0;
    DFTRACE_BEGIN("too much");
    DFTRACE_ARG_INT("kept", 1);
    DFTRACE_ARG_STRING("long", text);
    DFTRACE_ARG_INT("kept too", 2);
    DFTRACE_END("too much");
    DFTRACE_BEGIN("after it");
    DFTRACE_ARG_INT("n", 1);
    DFTRACE_END("after it");
    DFTRACE_ARG_INT("nowhere", 1); /* no region is open */
}

static void points(void)
{
    DFTRACE_INSTANT("now");
    DFTRACE_BEGIN("around points");
    DFTRACE_INSTANT("within");
    DFTRACE_COUNTER("level", -3);
    DFTRACE_COUNTER("level", INT64_MAX);
    DFTRACE_COUNTER_DOUBLE("ratio", 0.25);
    DFTRACE_METADATA("version", "1.2.3");
    DFTRACE_END("around points");
    DFTRACE_THREAD_NAME("main thread");
}

static void badly_nested(void)
{
    DFTRACE_END("never begun");
    DFTRACE_BEGIN("one");
    DFTRACE_BEGIN("two");
    DFTRACE_BEGIN("three");
    DFTRACE_END("never begun");
    DFTRACE_END("one"); /* ends all three */
    write_byte();
    DFTRACE_END("two");
    DFTRACE_END("one");
}

static void deep(int levels)
{
    char name[32];

    if (!levels)
        return;
    snprintf(name, sizeof name, "level %d", levels);
    dftrace_region_begin("DEEP", name);
    deep(levels - 1);
    dftrace_region_end("DEEP", name);
}

/* The same again and again, and one after the other with other names. */
static void many(void)
{
    char name[32];

    for (int i = 0; i < 5000; i++) {
        DFTRACE_BEGIN("step");
        DFTRACE_ARG_INT("i", i);
        DFTRACE_END("step");
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "name %d", i);
        dftrace_region_begin(NULL, name);
        dftrace_region_end(NULL, name);
    }
}

static void names(void)
{
    char text[1000];

    memset(text, 'n', sizeof text - 1);
    text[sizeof text - 1] = 0;
    dftrace_region_begin("NAMES", text);
    dftrace_region_end("NAMES", text);
    dftrace_region_begin("NAMES", "");
    dftrace_region_end("NAMES", "");
    dftrace_region_begin("NAMES", "/looks/like/a/path");
    dftrace_region_end("NAMES", "/looks/like/a/path");
    dftrace_region_begin("N\303\204MES", "sp\303\244t \"\\\n");
    dftrace_region_end("N\303\204MES", "sp\303\244t \"\\\n");
}

static void *other_thread(void *argument)
{
    (void)argument;
    DFTRACE_END("in main"); /* of another thread: nothing */
    DFTRACE_BEGIN("in thread");
    write_byte();
    DFTRACE_END("in thread");
    return NULL;
}

static void threads(void)
{
    pthread_t thread;

    DFTRACE_BEGIN("in main");
    if (!pthread_create(&thread, NULL, other_thread, NULL))
        pthread_join(thread, NULL);
    write_byte();
    DFTRACE_END("in main");
}

int main(int argc, char **argv)
{
    int kept;

    if (argc != 2)
        return 2;
    fd = open(argv[1], O_RDWR | O_CREAT, 0644);
    errno = EOWNERDEAD;
    nested();
    scope(0);
    scope(1);
    arguments();
    points();
    badly_nested();
    deep(300);
    many();
    names();
    kept = errno == EOWNERDEAD;
    threads();
    DFTRACE_BEGIN("left open");
    printf("enabled %d, errno kept %d\n", dftrace_enabled(), kept);
    return 0;
}
