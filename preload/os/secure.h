/* SPDX-License-Identifier: MIT */
/* Programs that run with other rights than those of the user who runs them: set-uid, set-gid, file
 * capabilities (AT_SECURE). What this user says decides nothing. */
#ifndef DFT_SECURE_H
#define DFT_SECURE_H

#include <stdint.h>

/* The settings of such a program, which root alone can write. */
#define DFT_SECURE_CONFIGURATION "/etc/dftrace.conf"

/* Is this such a program? */
int dft_is_secure(void);

/* Has this process rights that the owner of a file has not? Then that user must not have a file that the
 * process maps and believes: who changes it steers the process. Root has all rights. */
int dft_secure_exceeds(uint32_t owner);

/* The environment whose settings count. For such a program that is the file above alone, or nothing. Its
 * own environment then loses our variables, as the loader takes out its own: a program that it runs may
 * have equal user ids, and would obey them. Constructor only. */
char *const *dft_secure_environment(char **environment);

#endif
