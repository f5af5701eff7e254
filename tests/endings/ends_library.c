/* SPDX-License-Identifier: MIT */
/* A library of the program that does I/O when it is unloaded, whenever that is. */
void (*ends_at_unload)(void);

__attribute__((destructor)) static void unload(void)
{
    if (ends_at_unload)
        ends_at_unload();
}
