/* SPDX-License-Identifier: MIT */
/* Owns what ThreadSanitizer is told not to report, in builds with -DDFT_SANITIZE=thread.
 *
 * liburcu is not instrumented, and orders its accesses by instructions that the sanitizer does not see. A race is left out when
 * liburcu's code is on one of its two stacks. */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "race:liburcu\n";
}
