/* SPDX-License-Identifier: MIT */
/* Programs that lock themselves in, or are locked in: limits, other users, other roots, name
 * spaces, filters, no memory to be locked. */
#include "cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Some of everything: files, streams, a directory, a child, threads. */
static void *in_thread(void *argument)
{
    int fd = open("thread", O_WRONLY | O_CREAT | O_TRUNC, 0644);

    for (int i = 0; i < 2000; i++)
        if (pwrite(fd, "thread", 6, i * 6) != 6)
            return NULL;
    close(fd);
    return argument;
}

static void work(void)
{
    pthread_t thread;
    char buffer[512] = "text";
    int fd = open("file", O_RDWR | O_CREAT, 0644), status = -1;
    FILE *stream;
    pid_t child;
    DIR *directory;
    void *result = NULL;

    say("open", fd);
    for (int i = 0; i < 3000; i++)
        if (write(fd, buffer, 100) != 100 || pread(fd, buffer, 50, i) != 50) {
            say("write", -1);
            break;
        }
    say("offset", lseek(fd, 0, SEEK_CUR));
    say("close", close(fd));
    say("not there", open("nosuch", O_RDONLY));
    stream = fopen("stream", "w");
    say("fopen", stream != NULL);
    for (int i = 0; stream && i < 1000; i++)
        fprintf(stream, "line %d\n", i);
    say("fclose", stream ? fclose(stream) : -1);
    directory = opendir(".");
    say("opendir", directory != NULL);
    if (directory)
        closedir(directory);
    status = pthread_create(&thread, NULL, in_thread, &thread);
    say("pthread_create", status);
    if (status == 0)
        pthread_join(thread, &result);
    say("thread", result != NULL);
    child = fork();
    if (child == 0) {
        fd = open("child", O_WRONLY | O_CREAT, 0644);
        _exit(write(fd, "child", 5) == 5 ? 7 : 8);
    }
    say("fork", child > 0 ? 1 : child);
    if (child > 0)
        say("wait", waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1);
}

static int limit(int which, rlim_t value)
{
    return setrlimit(which, &(struct rlimit){value, value});
}

static void nobody(void)
{
    say("chmod", chmod(".", 0777));
    say("setgroups", setgroups(0, NULL));
    say("setgid", setgid(65534));
    say("setuid", setuid(65534));
    work();
}

static void nobody_after_work(void)
{
    work();
    nobody();
}

static void for_file_access_only(void)
{
    say("chmod", chmod(".", 0777));
    setfsuid(65534);
    work();
}

static void no_locked_memory(void)
{
    limit(RLIMIT_MEMLOCK, 64 << 20);
    say("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT));
    limit(RLIMIT_MEMLOCK, 1 << 20);
    nobody();
}

static void small_stack(void)
{
    say("setrlimit", limit(RLIMIT_STACK, 64 << 10));
    work();
}

static void no_more_data(void)
{
    say("setrlimit", limit(RLIMIT_DATA, 16 << 20));
    work();
}

static void no_core_no_locks(void)
{
    say("setrlimit", limit(RLIMIT_CORE, 0));
    say("setrlimit", limit(RLIMIT_SIGPENDING, 0));
    say("setrlimit", limit(RLIMIT_MSGQUEUE, 0));
    say("setrlimit", limit(RLIMIT_NICE, 0));
    work();
}

/* The limits of a process that is running are set by another. */
static void limited_from_outside(void)
{
    pid_t parent = getpid(), child = fork();
    int status;

    if (child == 0) {
        struct rlimit few = {16, 16}, small = {200000, 200000};

        _exit(prlimit(parent, RLIMIT_NOFILE, &few, NULL) || prlimit(parent, RLIMIT_FSIZE, &small, NULL));
    }
    waitpid(child, &status, 0);
    signal(SIGXFSZ, SIG_IGN);
    work();
}

static void new_name_spaces(void)
{
    int status;

    say("unshare", unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC));
    say("sethostname", sethostname("elsewhere", 9));
    if (fork() == 0) { /* number one of its name space */
        say("getpid", getpid());
        say("mount", mount("none", "/proc", "proc", 0, NULL));
        work();
        exit(3);
    }
    wait(&status);
    say("status", WEXITSTATUS(status));
}

static void new_user(void)
{
    say("unshare", unshare(CLONE_NEWUSER));
    say("getuid", getuid());
    work();
}

static void no_new_privileges(void)
{
    say("prctl", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    say("not dumpable", prctl(PR_SET_DUMPABLE, 0));
    say("name", prctl(PR_SET_NAME, "renamed"));
    work();
}

static void daemon_of_its_own(void)
{
    int ends[2];
    char byte;

    if (pipe(ends))
        abort();
    if (fork() == 0) {
        close(ends[0]);
        if (daemon(1, 0))
            _exit(1);
        work();
        exit(0);
    }
    close(ends[1]);
    while (read(ends[0], &byte, 1) > 0)
        continue;
    wait(NULL);
}

static void everything_closed(void)
{
    int fd;

    if (!freopen("output", "w", stdout))
        abort();
    closefrom(3);
    work();
    close_range(0, 0, 0);
    close_range(3, ~0u, CLOSE_RANGE_UNSHARE);
    work();
    for (fd = 3; fd < 2000; fd++)
        if (close(fd) == 0)
            say("was open", fd);
    work();
}

static void list(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    while ((entry = readdir(directory)))
        say(entry->d_name, entry->d_type);
    closedir(directory);
}

/* What is open, as a program that looks for leaks asks. */
static void in_view(void)
{
    char path[64];

    list("/proc/self/fd");
    for (int fd = 10; fd < 400; fd += 50)
        say("dup2", dup2(1, fd)); /* now there are traces, and one of the numbers was theirs */
    close(open("file", O_WRONLY | O_CREAT, 0644));
    list("/proc/self/fd");
    snprintf(path, sizeof path, "/proc/%d/fd", getpid());
    list(path);
    list("/proc/self/task/../fd");
    for (int fd = 0; fd < 1100; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            say("open", fd);
}

/* Only what this program calls, and what the C library needs for it; all else has the answer
 * EPERM. */
static void filtered(void)
{
    static const int allowed[] = {SYS_write,      SYS_pread64,        SYS_openat,       SYS_close, SYS_lseek,
                                  SYS_newfstatat, SYS_fstat,          SYS_exit_group,   SYS_brk,   SYS_mmap,
                                  SYS_munmap,     SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_futex};
    enum { COUNT = sizeof allowed / sizeof *allowed };
    struct sock_filter code[COUNT + 4];
    struct sock_fprog filter = {.len = COUNT + 3, .filter = code};
    char buffer[100];
    int fd = open("before", O_RDWR | O_CREAT, 0644);

    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++)
        code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
                                                   (unsigned char)(COUNT - i), 0);
    code[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    code[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    say("prctl", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    say("seccomp", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
    for (int i = 0; i < 20000; i++)
        if (write(fd, "0123456789", 10) != 10 || pread(fd, buffer, 10, 0) != 10)
            say("write", -1);
    say("offset", lseek(fd, 0, SEEK_CUR));
    say("forbidden", fork());
    fd = open("after", O_RDWR | O_CREAT, 0644);
    say("write", write(fd, "after", 5));
    say("close", close(fd));
    say("forbidden", rename("after", "other"));
}

int main(int argc, char **argv)
{
    static const struct guest_case cases[] = {{"nobody", nobody},
                                              {"nobody_after_work", nobody_after_work},
                                              {"for_file_access_only", for_file_access_only},
                                              {"no_locked_memory", no_locked_memory},
                                              {"small_stack", small_stack},
                                              {"no_more_data", no_more_data},
                                              {"no_core_no_locks", no_core_no_locks},
                                              {"limited_from_outside", limited_from_outside},
                                              {"new_name_spaces", new_name_spaces},
                                              {"new_user", new_user},
                                              {"no_new_privileges", no_new_privileges},
                                              {"daemon_of_its_own", daemon_of_its_own},
                                              {"everything_closed", everything_closed},
                                              {"in_view", in_view},
                                              {"filtered", filtered},
                                              {NULL, NULL}};

    return run_case(cases, argc, argv);
}
