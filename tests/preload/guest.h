/* SPDX-License-Identifier: MIT */
/* The program of the guest tests: one function a case. Each prints what it sees, so that a run
 * under tracing can be compared with one without. The working directory is empty and the case's
 * own. */
#ifndef GUEST_H
#define GUEST_H

#include <stddef.h>

struct guest_case {
    const char *name;
    int (*run)(void); /* returns the exit status */
};

/* A line of results: "what: result (errno)", errno only after failures. Written straight to
 * descriptor 2, past all streams. */
void guest_say(const char *what, long result);
/* Ends the program when the condition, on which the case rests, does not hold. */
void guest_need(int condition, const char *what);

/* The last `length` bytes before memory that cannot be read: letters, no NUL. */
char *guest_text_at_the_edge(size_t length);

/* Each ends with {NULL, NULL}. */
extern const struct guest_case guest_descriptors[], guest_offsets[], guest_limits[], guest_errors[], guest_streams[],
    guest_threads[], guest_races[], guest_processes[], guest_endings[], guest_sandbox[], guest_texts[];

#endif
