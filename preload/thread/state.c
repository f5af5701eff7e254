/* SPDX-License-Identifier: MIT */
/* Owns the list of states. ring/threads.c makes them. */
#include "thread/state.h"

struct dft_thread *dft_threads;
uint32_t dft_process_pauses;
struct dft_thread_hooks dft_thread_hooks;
