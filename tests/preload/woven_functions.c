/* SPDX-License-Identifier: MIT */
/* Functions as PerfFlowAspect's compiler plug-in leaves them: a call of perfflow_weave_before at
 * the begin and of perfflow_weave_after before each return, as far as the pointcut asks for
 * them. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void perfflow_weave_before(int async, const char *module, const char *function, const char *scope, const char *flow,
                           const char *pointcut);
void perfflow_weave_after(int async, const char *module, const char *function, const char *scope, const char *flow,
                          const char *pointcut);

static int fd;

static void work(void)
{
    for (volatile int i = 0; i < 300000; i++)
        ;
    if (write(fd, "x", 1) != 1)
        perror("write");
}

static void before_only(void)
{
    perfflow_weave_before(0, "woven.c", "before_only", "", "NA", "before");
    work();
}

static void after_only(void)
{
    work();
    perfflow_weave_after(0, "woven.c", "after_only", "", "out", "after");
}

static int around(int n)
{
    int result = 0;

    perfflow_weave_before(0, "woven.c", "_Z6aroundi", "", "in", "around");
    work();
    if (n > 0)
        result = around(n - 1) + 1;
    perfflow_weave_after(0, "woven.c", "_Z6aroundi", "", "NA", "around");
    return result;
}

static void before_async(void)
{
    perfflow_weave_before(1, "woven.c", "before_async", "job", "NA", "before_async");
}

static void after_async(void)
{
    perfflow_weave_after(1, "woven.c", "after_async", "job", "NA", "after_async");
}

static void *around_async(void *argument)
{
    perfflow_weave_before(1, "woven.c", "around_async", "job", "outin", "around_async");
    work();
    perfflow_weave_after(1, "woven.c", "around_async", "job", "outin", "around_async");
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    if (argc != 2)
        return 2;
    fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    before_only();
    around(2);
    before_async();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, around_async, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    after_async();
    after_only();
    return 0;
}
