/* SPDX-License-Identifier: MIT */
/* A library with functions of its own under libaio's names (OWN_NAMES), and a program that is
 * linked with it, or loads it, and looks for such functions elsewhere. */
#include <stdio.h>

#ifdef OWN_NAMES
double io_submit(double a, double b, const char *text);
int io_destroy(long a, long b, long c, long d, long e, long f, long g, long h);
int io_cancel(void);
double via_own_names(void);

double io_submit(double a, double b, const char *text)
{
    return a * b + text[0];
}

int io_destroy(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return (int)(a + b + c + d + e + f + g + h);
}

int io_cancel(void)
{
    return 42;
}

double via_own_names(void)
{
    return io_submit(1.5, 2.5, "x") + io_destroy(1, 2, 3, 4, 5, 6, 7, 8) + io_cancel();
}
#else
#include <dlfcn.h>

#ifdef LINKED
double io_submit(double a, double b, const char *text);
int io_destroy(long a, long b, long c, long d, long e, long f, long g, long h);
#else
extern int io_submit(void) __attribute__((weak));
#endif

int main(int argc, char **argv)
{
    static const char *const names[] = {"io_setup",  "io_destroy",   "io_submit",
                                        "io_cancel", "io_getevents", "io_pgetevents"};
    double (*via_own_names)(void);
    void *library;

#ifdef LINKED
    printf("%g %d\n", io_submit(2.5, 4, "y"), io_destroy(8, 7, 6, 5, 4, 3, 2, 1));
#else
    printf("weak %d\n", io_submit != NULL);
    for (int i = 0; i < 6; i++)
        printf("%s %d\n", names[i], dlsym(RTLD_DEFAULT, names[i]) != NULL);
#endif
    (void)names;
    library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    via_own_names = library ? (double (*)(void))dlsym(library, "via_own_names") : NULL;
    if (via_own_names)
        printf("%g\n", via_own_names());
    return via_own_names == NULL;
}
#endif
