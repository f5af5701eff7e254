/* SPDX-License-Identifier: MIT */
/* Walks another process's stacks with libunwind. libunwind's own search for tables believes that a
 * file's code lies at its offset in the file, which is not so in what lld links, and it does not
 * find the vDSO. So that search is ours: from the program headers in the process's memory. */
#include "stacks/remote.h"

#include <elf.h>
#include <errno.h>
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "stacks/remote_maps.h"

#define STACK_COPY_MAX (256u << 10) /* what lies further out seldom changes */

/* exported, and declared in no header */
#define dwarf_search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t pc, unw_dyn_info_t *table,
                                     unw_proc_info_t *info, int need_unwind_info, void *argument);

struct dft_remote {
    unw_addr_space_t space;
    struct dft_remote_maps maps;
    const struct dft_remote_thread *thread; /* that is walked */
};

int dft_remote_find(struct dft_remote *remote, uint64_t address, struct dft_remote_module *found)
{
    const struct dft_remote_file *file = dft_remote_maps_find(&remote->maps, address);

    if (!file)
        return -1;
    *found = (struct dft_remote_module){file->path, file->build_id, address - file->bias};
    return 0;
}

/* --- what libunwind asks ---------------------------------------------------------------------- */

/* The table of .eh_frame_hdr, in the form that linkers give it. */
static int find_table(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info, int need_unwind_info,
                      void *argument)
{
    struct dft_remote *remote = argument;
    const struct dft_remote_file *file = dft_remote_maps_find(&remote->maps, pc);
    struct {
        uint8_t version, frame_form, count_form, table_form;
        int32_t frame;
        uint32_t count;
    } head;
    unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};

    if (!file || !file->table || dft_remote_maps_load(&remote->maps, file->table, &head, sizeof head) ||
        head.version != 1 || head.frame_form != 0x1b || head.count_form != 0x03 || head.table_form != 0x3b)
        return -UNW_ENOINFO;
    table.start_ip = file->base;
    table.end_ip = UINT64_MAX;
    table.u.rti.segbase = file->table;
    table.u.rti.table_data = file->table + sizeof head;
    table.u.rti.table_len = head.count * UINT64_C(8) / sizeof(unw_word_t);
    return dwarf_search_unwind_table(space, pc, &table, info, need_unwind_info, remote);
}

static void put_info(unw_addr_space_t space, unw_proc_info_t *info, void *argument)
{
    (void)space;
    (void)info;
    (void)argument;
}

static int no_list(unw_addr_space_t space, unw_word_t *list, void *argument)
{
    (void)space;
    (void)list;
    (void)argument;
    return -UNW_ENOINFO;
}

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *argument)
{
    struct dft_remote *remote = argument;
    const struct dft_remote_thread *thread = remote->thread;

    (void)space;
    if (write)
        return -UNW_EINVAL;
    if (thread->stack && address >= thread->stack_from &&
        address - thread->stack_from + sizeof *value <= thread->stack_bytes) {
        memcpy(value, thread->stack + (address - thread->stack_from), sizeof *value);
        return 0;
    }
    return dft_remote_maps_load(&remote->maps, address, value, sizeof *value) ? -UNW_EINVAL : 0;
}

/* Where the kernel's list has the register that libunwind means. */
static int place_of(unw_regnum_t number)
{
#if defined(__x86_64__)
    static const uint8_t places[] = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16};

    return number >= 0 && (size_t)number < sizeof places ? places[number] : -1;
#else
    return number >= 0 && number <= UNW_AARCH64_PC ? number : -1;
#endif
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write, void *argument)
{
    const struct dft_remote *remote = argument;
    int place = place_of(number);

    (void)space;
    if (write || place < 0)
        return -UNW_EBADREG;
    *value = remote->thread->registers[place];
    return 0;
}

static unw_accessors_t accessors = {.find_proc_info = find_table,
                                    .put_unwind_info = put_info,
                                    .get_dyn_info_list_addr = no_list,
                                    .access_mem = access_memory,
                                    .access_reg = access_register};

/* --- a process -------------------------------------------------------------------------------- */

int dft_remote_create(struct dft_remote **out, pid_t pid)
{
    struct dft_remote *remote = calloc(1, sizeof *remote);
    int rc = -ENOMEM;

    if (remote) {
        rc = dft_remote_maps_read(&remote->maps, pid);
        if (!rc)
            remote->space = unw_create_addr_space(&accessors, 0);
        if (!rc && !remote->space)
            rc = -ENOMEM;
    }
    if (rc)
        dft_remote_destroy(remote);
    *out = rc ? NULL : remote;
    return rc;
}

void dft_remote_destroy(struct dft_remote *remote)
{
    if (!remote)
        return;
    if (remote->space)
        unw_destroy_addr_space(remote->space);
    dft_remote_maps_free(&remote->maps);
    free(remote);
}

int dft_remote_take(struct dft_remote *remote, pid_t tid, struct dft_remote_thread *thread)
{
    struct iovec registers = {thread->registers, sizeof thread->registers}, here, there;
    ssize_t copied;
    uint64_t sp;

    if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &registers) < 0)
        return -errno;
    sp = thread->registers[place_of(UNW_REG_SP)];
    if (!thread->stack && !(thread->stack = malloc(STACK_COPY_MAX)))
        return -ENOMEM;
    thread->stack_from = sp & ~UINT64_C(4095);
    here = (struct iovec){thread->stack, STACK_COPY_MAX};
    there = (struct iovec){(void *)(uintptr_t)thread->stack_from, STACK_COPY_MAX};
    copied = process_vm_readv(remote->maps.pid, &here, 1, &there, 1, 0); /* up to where the stack ends */
    thread->stack_bytes = copied > 0 ? (size_t)copied : 0;
    return 0;
}

uint32_t dft_remote_walk(struct dft_remote *remote, const struct dft_remote_thread *thread,
                         struct dft_remote_frame frames[DFT_REMOTE_FRAMES_MAX])
{
    uint32_t n = 0;
    unw_cursor_t cursor;
    int exact = 1;

    remote->thread = thread;
    if (!dft_remote_maps_find(&remote->maps, thread->registers[place_of(UNW_REG_IP)]) &&
        dft_remote_maps_read(&remote->maps, remote->maps.pid)) /* it has loaded libraries since */
        return 0;
    if (unw_init_remote(&cursor, remote->space, remote) < 0)
        return 0;
    do {
        unw_word_t pc = 0, sp = 0;
        int is_signal;

        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0 || unw_get_reg(&cursor, UNW_REG_SP, &sp) < 0 || !pc)
            break;
        frames[n++] = (struct dft_remote_frame){pc, sp, exact};
        is_signal = unw_is_signal_frame(&cursor);
        exact = is_signal > 0;
    } while (n < DFT_REMOTE_FRAMES_MAX && unw_step(&cursor) > 0);
    return n;
}
