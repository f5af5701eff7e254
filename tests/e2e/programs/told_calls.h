/* SPDX-License-Identifier: MIT */
/* The parts of told_calls. */
#ifndef TOLD_CALLS_H
#define TOLD_CALLS_H

#include "told.h"

void names(void);
void ranges(void);
void made_up(int still);
void walks(void);
void streams(void);

/* The number that the next descriptor gets. */
long next_number(void);

#endif
