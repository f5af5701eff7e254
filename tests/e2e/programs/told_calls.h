/* The parts of told_calls. */
#ifndef TOLD_CALLS_H
#define TOLD_CALLS_H

#include "told.h"

void names(void);
void ranges(void);
void made_up(int still);
void walks(void);

#endif
