/* SPDX-License-Identifier: MIT */
/* Calls one version of a function of the C library, and prints by what it can be told from the others.
 *   versions NAME VERSION     version -: the one that a library gets which names none (libunversioned.so)
 * Linked with PAIRS, a file of PAIR(number, name, "version"): prints the libraries that answer these. */
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef UNVERSIONED /* linked without the C library */
void *unversioned[] = {"fmemopen",    (void *)fmemopen,    "glob",         (void *)glob,
                       "lio_listio",  (void *)lio_listio,  "nftw",         (void *)nftw,
                       "posix_spawn", (void *)posix_spawn, "posix_spawnp", (void *)posix_spawnp,
                       "quick_exit",  (void *)quick_exit,  "realpath",     (void *)realpath,
                       NULL};
#elif defined(PAIRS)
#define PAIR(number, name, version)                                                                                    \
    extern void function_##number(void);                                                                               \
    __asm__(".symver function_" #number ", " #name "@" version);
#include PAIRS
#undef PAIR
#define PAIR(number, name, version) {#name "@" version, function_##number},
static const struct {
    const char *name;
    void (*function)(void);
} pairs[] = {
#include PAIRS
};

int main(void)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Dl_info info;

        if (!dladdr((void *)pairs[i].function, &info))
            return 3;
        printf("%s %s\n", pairs[i].name, strrchr(info.dli_fname, '/') + 1);
    }
    return 0;
}
#else
extern char **environ;
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library);
extern void *__dso_handle;

static const char *name;
static void *function;

#define CALL(plain, ...) ((__typeof__(plain) *)function)(__VA_ARGS__)

static int visit(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)path, (void)st, (void)flag, (void)at;
    return 0;
}

static int look(const char *path, struct stat *st)
{
    puts("it looked at the link");
    return lstat(path, st);
}

static void call_glob(void)
{
    glob_t found = {.gl_opendir = (void *)opendir,
                    .gl_readdir = (void *)readdir,
                    .gl_closedir = (void *)closedir,
                    .gl_stat = (void *)stat,
                    .gl_lstat = (void *)look};
    int result = CALL(glob, "dangling", GLOB_ALTDIRFUNC, NULL, &found);

    printf("%d\n", result);
}

static void call_fmemopen(void)
{
    char buffer[8] = "abc";
    FILE *stream = CALL(fmemopen, buffer, sizeof buffer, "r");

    fseek(stream, 0, SEEK_END);
    printf("%ld\n", ftell(stream));
}

static void call_spawn(int path)
{
    char *argv[] = {"script", NULL};
    int status = 0, result;
    pid_t pid;

    setenv("PATH", ".:/usr/bin:/bin", 1);
    result = CALL(posix_spawn, &pid, path ? "script" : "./script", NULL, NULL, argv, environ);
    if (!result)
        waitpid(pid, &status, 0);
    printf("%d %d\n", result, WEXITSTATUS(status));
}

/* The old one does not wait for the request, which fails. */
static void call_list(void)
{
    static char buffer[2];
    static struct aiocb block = {
        .aio_fildes = -1, .aio_buf = buffer, .aio_nbytes = sizeof buffer, .aio_lio_opcode = LIO_READ};
    struct aiocb *list[] = {&block};

    printf("%d\n", CALL(lio_listio, LIO_WAIT, list, 1, NULL));
}

static void at_end_of_thread(void *object)
{
    (void)object;
    puts("end of thread");
    fflush(stdout);
}

static void *find_unversioned(void)
{
    void **entry = dlsym(dlopen("./libunversioned.so", RTLD_NOW), "unversioned");

    while (*entry && strcmp(*entry, name))
        entry += 2;
    return *entry ? entry[1] : NULL;
}

static int call(void)
{
    if (!strncmp(name, "glob", 4))
        call_glob();
    else if (!strcmp(name, "fmemopen"))
        call_fmemopen();
    else if (!strncmp(name, "posix_spawn", 11))
        call_spawn(name[11] == 'p');
    else if (!strncmp(name, "lio_listio", 10))
        call_list();
    else if (!strcmp(name, "realpath"))
        puts(CALL(realpath, ".", NULL) ? "a path" : strerror(errno));
    else if (!strncmp(name, "nftw", 4))
        printf("%d\n", CALL(nftw, ".", visit, 4, FTW_PHYS | 0x100));
    else if (!strcmp(name, "quick_exit") && !__cxa_thread_atexit_impl(at_end_of_thread, NULL, &__dso_handle))
        CALL(quick_exit, 0);
    else
        return 4; /* nothing is known to tell its versions apart by */
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    close(open("script", O_RDONLY)); /* an end alone is no event */
    name = argv[1];
    function = strcmp(argv[2], "-") ? dlvsym(RTLD_DEFAULT, name, argv[2]) : find_unversioned();
    return function ? call() : 3;
}
#endif
