/* SPDX-License-Identifier: MIT */
/* Libraries that come and go: dlopen and dlclose again and again, from threads, in name spaces of
 * their own, and through the services of the C library that load some. */
#include "cases.h"

#include <dlfcn.h>
#include <grp.h>
#include <iconv.h>
#include <link.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <unistd.h>
#include <wchar.h>

static int use(void *library, int how_often)
{
    int (*run)(int) = NULL;

    if (library)
        run = (int (*)(int))dlsym(library, "plugin_run");
    return run ? run(how_often) : -1;
}

static void again_and_again(void)
{
    for (int i = 0; i < 100; i++) {
        void *library = dlopen("./plugin.so", i % 2 ? RTLD_NOW : RTLD_LAZY | RTLD_LOCAL);

        say("plugin_run", use(library, i % 3));
        say("dlclose", library ? dlclose(library) : -1);
    }
    say("not there", dlopen("./nosuch.so", RTLD_NOW) != NULL);
    printf("%s\n", dlerror());
}

static void *use_from_thread(void *argument)
{
    for (int i = 0; i < 50; i++) {
        void *library = dlopen("./plugin.so", RTLD_NOW);

        if (use(library, 1) < 0 || dlclose(library))
            return NULL;
    }
    return argument;
}

static void from_threads(void)
{
    pthread_t threads[4];
    void *result;

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, use_from_thread, threads);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        say("thread", result != NULL);
    }
    unlink("plugin.log"); /* in no order */
    unlink("plugin.stream");
}

/* A library with a C library of its own, as dlmopen gives it. */
static void other_name_space(void)
{
    void *library = dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW);

    if (!library)
        printf("%s\n", dlerror());
    say("plugin_run", use(library, 3));
    say("dlclose", library ? dlclose(library) : -1);
}

static void services(void)
{
    struct addrinfo *address = NULL, hints = {.ai_flags = AI_NUMERICHOST};
    char in[] = "h\xc3\xa9", out[64], *from = in, *to = out;
    size_t in_left = 3, out_left = sizeof out;
    iconv_t change = iconv_open("UTF-16LE", "UTF-8");

    say("getpwnam", getpwnam("root") != NULL);
    say("getgrgid", getgrgid(0) != NULL);
    say("getaddrinfo", getaddrinfo("127.0.0.1", NULL, &hints, &address));
    freeaddrinfo(address);
    say("iconv", (long)iconv(change, &from, &in_left, &to, &out_left));
    say("left", (long)out_left);
    iconv_close(change);
    change = iconv_open("EBCDIC-US", "UTF-8");
    say("iconv_open", change != (iconv_t)-1);
    say("locale", setlocale(LC_ALL, "C.UTF-8") != NULL);
    say("wide", wprintf(L"%ls\n", L"wide") == -1); /* the stream is of bytes */
}

static int count(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size;
    ++*(int *)data;
    access("in a callback of the loader", F_OK);
    return 0;
}

static void inside_of_the_loader(void)
{
    int objects = 0;

    dl_iterate_phdr(count, &objects);
    say("objects", objects > 2);
    say("the same function", dlsym(RTLD_DEFAULT, "write") == (void *)write);
}

int main(int argc, char **argv)
{
    static const struct guest_case cases[] = {
        {"again_and_again", again_and_again},           {"from_threads", from_threads},
        {"other_name_space", other_name_space},         {"services", services},
        {"inside_of_the_loader", inside_of_the_loader}, {NULL, NULL}};

    return run_case(cases, argc, argv);
}
