/* SPDX-License-Identifier: MIT */
/* Owns the knowledge which threads have a table of descriptors of their own. */
#include "os/own_files.h"

#include <linux/kcmp.h>

#include "os/self.h"
#include "os/sys.h"

enum { NOBODY, OTHERS, FIRST /* the first thread has left the table, too */ };
static uint32_t apart; /* atomic: who has had a table of its own so far */

static void note(uint32_t who)
{
    uint32_t before = __atomic_load_n(&apart, __ATOMIC_RELAXED);

    while (before < who && !__atomic_compare_exchange_n(&apart, &before, who, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
}

void dft_own_files_expect(void)
{
    note(OTHERS);
}

void dft_own_files_begin(void)
{
    note(dft_sys_gettid() == (long)dft_pid ? FIRST : OTHERS);
    dft_own_files = 1;
    if (dft_vfork_mark == DFT_MARK_NONE)
        dft_vfork_mark = DFT_MARK_OWN_FILES;
}

/* The kernel compares with the first thread's table. Where it refuses, each call of the thread queries the
 * kernel, which is right in any case. */
void dft_own_files_inherit(void)
{
    uint32_t who = __atomic_load_n(&apart, __ATOMIC_RELAXED);
    long differ;

    if (__builtin_expect(who == NOBODY, 1) || dft_own_files)
        return;
    differ = DFT_SYS(kcmp, dft_pid, dft_sys_gettid(), KCMP_FILES, 0, 0, 0);
    if (who == FIRST ? !differ : differ)
        dft_own_files_begin();
}

int dft_own_files_forked(void)
{
    int had = dft_own_files != 0;

    dft_own_files = 0;
    apart = NOBODY;
    return had;
}

int dft_own_files_possible(void)
{
    return !dft_self && __atomic_load_n(&apart, __ATOMIC_RELAXED) != NOBODY;
}
