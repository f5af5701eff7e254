/* SPDX-License-Identifier: MIT */
/* Owns the moments of exit, quick_exit and a return from main. */
#include "life/at_exit.h"

#include <stdlib.h>

#include "life/shutdown.h"
#include "os/own.h"
#include "loader/resolve.h"

/* exit() and a return from main call two functions of ours: the destructor and the handler. Only
 * the handler learns the status. Loaded at the start, the handler is the last of all. Loaded later,
 * the destructor is the last. The second of the two calls is the end. An exit() in a constructor of
 * the start calls no destructors. Then the handler, as the last of all, is the end. */
static enum ending_call { CALL_NONE, CALL_HANDLER, CALL_DESTRUCTOR } called;
static int exit_status;
static int handler_is_last;

static void exiting(int status, void *unused)
{
    (void)unused;
    exit_status = status;
    if (called == CALL_DESTRUCTOR || handler_is_last)
        dft_shutdown_end(DFT_ENDING_EXIT, status);
    called = CALL_HANDLER;
}

void dft_at_exit_note(int status)
{
    exit_status = status;
}

/* The last of all handlers of quick_exit. quick_exit runs no other handlers and no destructors. */
static void quickly_exiting(void *unused)
{
    (void)unused;
    dft_shutdown_end(DFT_ENDING__EXIT, exit_status);
}

void dft_at_exit_init(void)
{
    if (dft_own.__cxa_at_quick_exit)
        dft_own.__cxa_at_quick_exit(quickly_exiting, NULL);
    if (!dft_own.on_exit || dft_own.on_exit(exiting, NULL)) /* the first needs no memory */
        called = CALL_HANDLER;
    handler_is_last = dft_resolve_is_first();
}

__attribute__((destructor)) static void unload(void)
{
    if (called == CALL_HANDLER)
        dft_shutdown_end(DFT_ENDING_EXIT, exit_status);
    called = CALL_DESTRUCTOR;
}
