/* SPDX-License-Identifier: MIT */
/* Attaches to running processes, one thread after the other, and copies their stacks. A thread is
 * stopped with PTRACE_INTERRUPT: no signal is sent, and system calls go on. When dftmerge ends,
 * however it ends, the kernel lets go of the thread. */
#include "stacks/ps_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "stacks/remote.h"
#include "live/source_life.h"
#include "object/source_notes.h"
#include "stacks/ps_stacks_find.h"
#include "symbols/symbols.h"

#define PATIENCE_MS 1000 /* for a thread to stop */

/* --- what to do where a stack cannot be had --------------------------------------------------- */

enum trouble { FINE, ENDED, ELSEWHERE, FORBIDDEN, TRACED, STUCK, TOO_MANY, FAILED, TROUBLES };

static const char *const texts[TROUBLES] = {
    [ENDED] = "it has ended meanwhile",
    [ELSEWHERE] = "it runs on another host or in another PID namespace",
    [FORBIDDEN] = "tracing it is not permitted",
    [TRACED] = "another program traces it",
    [STUCK] = "it does not stop: it waits in the kernel and cannot be interrupted",
    [TOO_MANY] = "too many threads",
    [FAILED] = "its stack cannot be read",
};

static int read_number(const char *path, const char *key)
{
    FILE *file = fopen(path, "re");
    char line[256];
    int number = -1;

    while (file && number < 0 && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)))
            number = atoi(line + strlen(key));
    if (file)
        fclose(file);
    return number;
}

static int is_other_users(uint32_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%u", pid);
    return geteuid() != 0 && !stat(path, &st) && st.st_uid != geteuid();
}

/* What to do, by what forbids it. */
static const char *remedy(uint32_t pid)
{
    int scope = read_number("/proc/sys/kernel/yama/ptrace_scope", "");

    if (is_other_users(pid))
        return "it is another user's: run dftmerge as that user, or as root (sudo)";
    if (scope == 3)
        return "kernel.yama.ptrace_scope is 3: nothing can be traced until the machine is rebooted";
    if (scope > 0)
        return "kernel.yama.ptrace_scope forbids it: run dftmerge as root (sudo), or 'sysctl kernel.yama.ptrace_scope=0'";
    return "a container needs the right to trace (docker run --cap-add=SYS_PTRACE); a setuid program can be traced by root "
           "alone";
}

static enum trouble trouble_of(uint32_t pid, int error)
{
    char path[64];

    if (error == ESRCH || error == ENOENT)
        return ENDED;
    if (error != EPERM && error != EACCES)
        return FAILED;
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    return read_number(path, "TracerPid:") > 0 ? TRACED : FORBIDDEN;
}

/* A note for each reason, with the first process and how many others there are. */
struct troubles {
    uint32_t pid[TROUBLES], count[TROUBLES];
    const char *remedy, *host[TROUBLES];
    int host_length[TROUBLES];
};

static void count_trouble(struct troubles *troubles, enum trouble trouble, const struct dft_source_process *p)
{
    if (troubles->count[trouble]++)
        return;
    troubles->pid[trouble] = p->process.pid;
    troubles->host[trouble] = p->process.host.bytes;
    troubles->host_length[trouble] = (int)p->process.host.length;
    if (trouble == FORBIDDEN)
        troubles->remedy = remedy(p->process.pid);
}

static void note_troubles(const struct troubles *troubles, struct dft_source *source)
{
    for (int i = ENDED; i < TROUBLES; i++) {
        char others[48] = "", further[200] = "";

        if (!troubles->count[i])
            continue;
        if (troubles->count[i] > 1)
            snprintf(others, sizeof others, " (and of %u more)", troubles->count[i] - 1);
        if (i == ELSEWHERE)
            snprintf(further, sizeof further, ": run 'dftmerge ps --stacks' there (%.*s)",
                     troubles->host_length[i] < 80 ? troubles->host_length[i] : 80,
                     troubles->host_length[i] ? troubles->host[i] : "its host");
        else if (i == FORBIDDEN)
            snprintf(further, sizeof further, ": %s", troubles->remedy);
        else if (i == TOO_MANY)
            snprintf(further, sizeof further, ": the first %u of a process are shown", DFT_PS_STACKS_MAX);
        else if (i == STUCK)
            snprintf(further, sizeof further,
                     ": its file system or device does not answer, or it waits for its vfork child");
        dft_source_note(source, i == ENDED || i == TOO_MANY ? 0 : DFT_BAD_OTHER, "process %u%s: no stack: %s%s",
                        troubles->pid[i], others, texts[i], further);
    }
}

/* --- one thread ------------------------------------------------------------------------------- */

static int wait_for_stop(pid_t tid, int *status)
{
    const uint64_t end_ns = dft_now_ns() + PATIENCE_MS * UINT64_C(1000000);
    struct timespec moment = {0, 20000};

    do {
        pid_t got = waitpid(tid, status, __WALL | WNOHANG);

        if (got == tid)
            return WIFSTOPPED(*status) ? 0 : ESRCH;
        if (got < 0 && errno != EINTR)
            return ESRCH;
        nanosleep(&moment, NULL);
        if (moment.tv_nsec < 10000000)
            moment.tv_nsec *= 2;
    } while (dft_now_ns() < end_ns);
    return EBUSY;
}

/* A signal that came first is handed on. The thread goes on, or stays stopped where it was stopped
 * before. */
static int copy_thread(struct dft_remote *remote, pid_t tid, struct dft_remote_thread *thread)
{
    int status, rc, signal;

    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
        return errno;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
        return errno;
    rc = wait_for_stop(tid, &status);
    if (rc)
        return rc;
    rc = -dft_remote_take(remote, tid, thread);
    signal = status >> 16 ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
    return rc;
}

static void name_frame(struct dft_remote *remote, const struct dft_remote_frame *from, struct dft_ps_frame *to)
{
    uint64_t before = !from->is_exact; /* a return address may lie behind the end of the function that calls */
    struct dft_remote_module module;

    *to = (struct dft_ps_frame){.pc = from->pc};
    if (dft_remote_find(remote, from->pc - before, &module))
        return;
    to->module = strdup(module.path);
    to->address = module.address + before;
    to->function = dft_symbols_find(module.path, module.build_id, module.address, &to->offset);
    to->offset += before;
    to->line = dft_symbols_line(module.path, module.build_id, module.address);
}

static enum trouble take_thread(struct dft_remote *remote, uint32_t pid, struct dft_ps_stack *stack)
{
    static struct dft_remote_frame frames[DFT_REMOTE_FRAMES_MAX];
    static struct dft_remote_thread thread;
    int rc = copy_thread(remote, (pid_t)stack->tid, &thread);
    uint32_t count;

    if (rc)
        return rc == EBUSY ? STUCK : trouble_of(pid, rc);
    count = dft_remote_walk(remote, &thread, frames);
    stack->frames = calloc(count + 1, sizeof *stack->frames);
    if (!count || !stack->frames)
        return FAILED;
    for (; stack->count < count; stack->count++)
        name_frame(remote, &frames[stack->count], &stack->frames[stack->count]);
    return FINE;
}

/* --- one process ------------------------------------------------------------------------------ */

static int add_stack(struct dft_ps_stacks *stacks, const struct dft_source_process *p, uint32_t tid)
{
    struct dft_ps_stack *more = reallocarray(stacks->list, stacks->count + 1, sizeof *more);

    if (!more)
        return -ENOMEM;
    stacks->list = more;
    more[stacks->count++] = (struct dft_ps_stack){.process = p->number, .tid = tid};
    return 0;
}

/* Threads with something in flight, each once; else the main thread. */
static int add_threads(struct dft_ps_stacks *stacks, const struct dft_source_process *p,
                       const struct dft_flights *flights, struct troubles *troubles)
{
    size_t first = dft_flights_of(flights, p->number), before = stacks->count;
    int rc = 0;

    for (size_t i = first; !rc && i < flights->count && flights->list[i].process == p->number; i++) {
        if (i > first && flights->list[i].tid == flights->list[i - 1].tid)
            continue;
        if (stacks->count - before == DFT_PS_STACKS_MAX) {
            count_trouble(troubles, TOO_MANY, p);
            return 0;
        }
        rc = add_stack(stacks, p, flights->list[i].tid);
    }
    return rc || stacks->count > before ? rc : add_stack(stacks, p, p->process.pid);
}

/* Is it the process that its pid means here? It has its live file mapped. */
static enum trouble find_process(const struct dft_source *source, const struct dft_source_process *p)
{
    uint32_t nfiles;
    const struct dft_source_file *files = dft_source_files(source, &nfiles);
    int rc = dft_ps_stacks_is_of(p->process.pid, files[p->live_file - 1].path);

    if (rc > 0)
        return FINE;
    if (p->process.boot_id.length && !dft_life_is_here(p))
        return ELSEWHERE;
    return rc == -EACCES || rc == -EPERM ? FORBIDDEN : ENDED;
}

static int take_process(struct dft_ps_stacks *stacks, struct dft_source *source, const struct dft_source_process *p,
                        const struct dft_flights *flights, struct troubles *troubles)
{
    enum trouble trouble = p->unseen ? ELSEWHERE : find_process(source, p);
    size_t first = stacks->count;
    struct dft_remote *remote = NULL;
    int rc = add_threads(stacks, p, flights, troubles);

    if (!rc && trouble == FINE) {
        int error = -dft_remote_create(&remote, (pid_t)p->process.pid);

        if (error)
            trouble = trouble_of(p->process.pid, error);
    }
    for (size_t i = first; i < stacks->count; i++) {
        enum trouble own = trouble == FINE ? take_thread(remote, p->process.pid, &stacks->list[i]) : trouble;

        stacks->list[i].trouble = texts[own];
        if (own != FINE && (trouble == FINE || i == first))
            count_trouble(troubles, own, p);
    }
    dft_remote_destroy(remote);
    return rc;
}

void dft_ps_stack_take(uint32_t pid, struct dft_ps_stack *stack)
{
    struct dft_remote *remote = NULL;
    int error = -dft_remote_create(&remote, (pid_t)pid);
    enum trouble trouble = error ? trouble_of(pid, error) : take_thread(remote, pid, stack);

    stack->trouble = trouble == FORBIDDEN ? remedy(pid) : texts[trouble];
    dft_remote_destroy(remote);
}

int dft_ps_stacks_take(struct dft_ps_stacks *stacks, struct dft_source *source, const struct dft_ps_tree *tree,
                       const struct dft_flights *flights)
{
    struct troubles troubles = {{0}};
    uint32_t running = 0;
    int rc = 0;

    for (uint32_t i = 0; i < tree->shown && !rc; i++) {
        const struct dft_source_process *p = &tree->processes[tree->order[i]];

        if (!p->live_file || (!p->unseen && p->exit_kind != DFT_ENDING_RUNNING))
            continue;
        running++;
        rc = take_process(stacks, source, p, flights, &troubles);
    }
    note_troubles(&troubles, source);
    if (!running)
        dft_source_note(source, DFT_BAD_OTHER, "--stacks: none of these processes is running: there are no stacks");
    return rc;
}
