/* What a program sees of libraries that the tracer brings with it.
 *
 *   start compress FILE N [ROOT]   N calls of lseek on FILE, here and in a child; with ROOT after a chroot to it. Says before, after
 *                                  and in the child how many mappings of libisal can be executed, and whether its names are found
 *   start next                     the first call of a function that a preloaded library replaces, after a dlclose */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *when, int maps)
{
    static char text[1 << 20];
    size_t used = 0;
    ssize_t n;
    int mapped = 0;

    lseek(maps, 0, SEEK_SET);
    while ((n = read(maps, text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        mapped += strstr(line, "libisal") && strstr(line, " r-xp ");
    printf("%s: %d, %s\n", when, mapped, dlsym(RTLD_DEFAULT, "build_heap") ? "found" : "not found");
    fflush(stdout);
}

static void seek(int fd, int count)
{
    for (int i = 0; i < count; i++)
        lseek(fd, i * 37 % 4096, SEEK_SET);
}

static int compress(const char *path, int count, const char *root)
{
    int fd = open(path, O_RDONLY), maps = open("/proc/self/maps", O_RDONLY);

    say("before", maps);
    if (root && (chroot(root) || chdir("/")))
        return 1;
    seek(fd, count);
    say("after", maps);
    if (fork() == 0) {
        seek(fd, count);
        if (!root)
            say("child", open("/proc/self/maps", O_RDONLY));
        return 0;
    }
    wait(NULL);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3)
        return compress(argv[2], atoi(argv[3]), argv[4]);
    dlclose(dlopen("libm.so.6", RTLD_NOW));
    return fdatasync(1);
}
