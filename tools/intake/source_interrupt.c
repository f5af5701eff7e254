/* SPDX-License-Identifier: MIT */
/* Signals that end the reading of a source; see source_interrupt.h. */
#include "intake/source_interrupt.h"

#include <signal.h>
#include <stdatomic.h>

#include "base/signals.h"
#include "intake/source_read.h"

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
#define NUMBERS (sizeof numbers / sizeof *numbers)

/* What the handler of the signals looks at. */
static struct dft_source *_Atomic reading;
static _Atomic int came;
static struct sigaction before[NUMBERS];

static void on_signal(int number)
{
    struct dft_source *source = atomic_load(&reading);

    atomic_store(&came, number);
    if (source)
        dft_source_stop(source, 1);
}

const _Atomic int *dft_source_interruptible(struct dft_source *source)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

    atomic_store(&came, 0);
    atomic_store(&reading, source);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < NUMBERS; i++)
        dft_signal_catch(numbers[i], &action, &before[i]);
    return &came;
}

void dft_source_uninterruptible(struct dft_source *source)
{
    for (size_t i = 0; i < NUMBERS; i++)
        sigaction(numbers[i], &before[i], NULL);
    atomic_store(&reading, NULL);
    dft_source_stop(source, 0);
}
