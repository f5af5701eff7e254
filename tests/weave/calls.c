/* SPDX-License-Identifier: MIT */
/* Calls every function of the library a known number of times, in the ways of calling that there
 * are: linked, by a pointer, found with dlsym, from a library that is loaded meanwhile. What it
 * prints is compared with an untraced run. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "woven.h"

int versioned_1(void);
__asm__(".symver versioned_1, versioned@WOVEN_1");

static int twice(int n)
{
    return 2 * n;
}

static int (*const table[])(int depth) = {outer};

static void call_linked(void)
{
    struct pair pair = swap((struct pair){1.5, -2.5});
    struct mixed all = mixed((struct mixed){3, 0.5f, {1, 2}, "zz"}, 4);
    char buffer[100];

    printf("%d %lld %g %Lg %d\n", narrow(-100, 200, -300, 65000),
           (long long)wide(-1, 4000000000u, 5000000000, 6000000000), single(1.25f, 8), longest(10), truth(1));
    nothing();
    printf("%g %g\n", pair.first, pair.second);
    printf("%d %g %g %g %s\n", all.number, all.part, all.pair.first, all.pair.second, all.letters);
    printf("%d\n", many(1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    printf("%d %d\n", call_back(twice, 10), sum(3, 1, 2, 3));
    printf("%s %s\n", text("a\n\"b\"", buffer, sizeof buffer), text(NULL, buffer + 50, 50));
    errno = 0;
    printf("%d %d\n", outer(5), errno);
    printf("%d %s\n", fails(), strerror(errno));
    printf("%d %d\n", versioned(), versioned_1());
}

static void call_by_pointers(void)
{
    int (*volatile pointer)(int depth) = outer;
    int (*found)(int depth) = (int (*)(int))dlsym(RTLD_DEFAULT, "outer");

    printf("%d %d %d\n", pointer(0), table[0](0), found(0));
    printf("%d %d\n", pointer == table[0], pointer == found);
    printf("%p %s\n", dlsym(RTLD_DEFAULT, "there is no such thing"), dlerror() ? "error" : "no error");
    found = (int (*)(int))dlvsym(RTLD_DEFAULT, "versioned", "WOVEN_1");
    printf("%d\n", found(0));
}

static void call_loaded(const char *plugin, int times)
{
    for (int i = 0; i < times; i++) {
        void *library = dlopen(plugin, i % 2 ? RTLD_NOW : RTLD_LAZY);
        int (*entry)(int n) = library ? (int (*)(int))dlsym(library, "entry") : NULL;

        if (!entry) {
            printf("%s\n", dlerror());
            return;
        }
        printf("%d\n", entry(i));
        dlclose(library);
    }
    printf("%s\n", dlopen("libthereisnosuchthing.so", RTLD_NOW) ? "loaded" : dlerror());
}

int main(int argc, char **argv)
{
    jmp_buf where;

    call_linked();
    call_by_pointers();
    if (argc > 1)
        call_loaded(argv[1], 10);
    for (volatile int i = 0; i < 3; i++)
        if (!setjmp(where))
            jumps(where, 1);
    return 0;
}
