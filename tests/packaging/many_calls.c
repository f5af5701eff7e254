/* SPDX-License-Identifier: MIT */
/* Calls many wrapped functions in a folder, and prints what they answer. Ends with 7. Runs the program that
 * is named second at its end. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void say(const char *what, long answer)
{
    printf("%s %ld\n", what, answer);
    fflush(stdout);
}

static void *write_in_thread(void *file)
{
    for (int i = 0; i < 10; i++)
        fprintf(file, "line %d\n", i);
    return file;
}

static void use_streams(void)
{
    FILE *file = fopen("stream", "w+");
    char word[16] = "", *line = NULL;
    size_t capacity = 0;
    pthread_t thread;
    int number = 0;

    say("create", pthread_create(&thread, NULL, write_in_thread, file));
    say("join", pthread_join(thread, NULL));
    say("fseek", fseek(file, 0, SEEK_SET));
    say("fscanf", fscanf(file, "%15s %d", word, &number));
    say("getc", getc(file));
    say("getline", getline(&line, &capacity, file));
    say("ftell", ftell(file));
    say("puts", fputs("more", file) >= 0);
    say("fclose", fclose(file));
    free(line);
}

static void use_descriptors(void)
{
    char bytes[64] = "";
    struct iovec iov = {bytes, 5};
    struct stat status = {0};
    int fd = open("file", O_RDWR | O_CREAT, 0600);
    void *map;

    say("write", write(fd, "hello", 5));
    say("pwrite", pwrite(fd, "world", 5, 5));
    say("lseek", lseek(fd, 0, SEEK_SET));
    say("readv", readv(fd, &iov, 1));
    say("fstat", fstat(fd, &status));
    say("size", status.st_size);
    say("stat", stat("file", &status));
    map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    say("map", map != MAP_FAILED && ((char *)map)[5] == 'w');
    say("ftruncate", ftruncate(fd, 3));
    say("fcntl", fcntl(fd, F_GETFD));
    say("close", close(fd));
    say("rename", rename("file", "other"));
    say("copy", copy_file_range(-1, NULL, -1, NULL, 5, 0));
    say("open", open("nothing", O_RDONLY));
    perror("open");
}

static void use_folders(void)
{
    DIR *folder = opendir(".");
    int count = 0;

    while (readdir(folder))
        count++;
    say("entries", count);
    say("closedir", closedir(folder));
    say("mkdir", mkdir("folder", 0700));
    say("rmdir", rmdir("folder"));
}

static void wait_for(const char *what, pid_t child)
{
    int status = -1;

    waitpid(child, &status, 0);
    say(what, WEXITSTATUS(status));
}

static void use_processes(char *program)
{
    char *const arguments[] = {"sh", "-c", "exit 3", NULL};
    char *const again[] = {program, ".", NULL};
    char text[16] = "";
    pid_t child = fork();
    FILE *pipe;

    if (!child)
        _exit(5);
    wait_for("fork", child);
    child = vfork();
    if (!child) {
        execv("/bin/sh", arguments);
        _exit(9);
    }
    wait_for("vfork", child);
    say("spawn", posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ));
    wait_for("spawned", child);
    say("system", system("echo there >shell; exit 4") >> 8);
    pipe = popen("echo there", "r");
    say("fgets", fgets(text, sizeof text, pipe) != NULL);
    say("pclose", pclose(pipe));
    if (program && !posix_spawn(&child, program, NULL, NULL, again, environ))
        wait_for("again", child);
}

int main(int argc, char **argv)
{
    if (argc < 2 || chdir(argv[1]))
        return 2;
    use_streams();
    use_descriptors();
    use_folders();
    use_processes(argc > 2 ? argv[2] : NULL);
    return 7;
}
