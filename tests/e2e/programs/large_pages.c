/* SPDX-License-Identifier: MIT */
/* A preloaded library that makes a program believe in pages of 64 KiB, as some machines have
 * them. */
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type)
{
    return type == AT_PAGESZ ? 65536 : 0;
}
