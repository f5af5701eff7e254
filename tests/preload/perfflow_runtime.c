/* SPDX-License-Identifier: MIT */
/* A stand-in for PerfFlowAspect's own library: counts its calls, and says so at the end. */
#include <stdio.h>

void perfflow_weave_before(int async, const char *module, const char *function, const char *scope, const char *flow,
                           const char *pointcut);
void perfflow_weave_after(int async, const char *module, const char *function, const char *scope, const char *flow,
                          const char *pointcut);
static int begun, ended;

void perfflow_weave_before(int async, const char *module, const char *function, const char *scope, const char *flow,
                           const char *pointcut)
{
    begun += async >= 0 && module && function && scope && flow && pointcut;
}

void perfflow_weave_after(int async, const char *module, const char *function, const char *scope, const char *flow,
                          const char *pointcut)
{
    ended += async >= 0 && module && function && scope && flow && pointcut;
}

static __attribute__((destructor)) void say(void)
{
    fprintf(stderr, "its own: %d %d\n", begun, ended);
}
