/* SPDX-License-Identifier: MIT */
/* Makes each call of the C library that is about files but moves no data, succeeding and failing,
 * and prints what their events must say (told.h).
 *
 * usage: told_calls FOLDER [still]   the folder is empty and absolute; still: without what opens or tries several
 * files inside (walks, a tmpfile that fails), and what the kernel alone sees */
#include "told_calls.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    told_begin(argv[1]);
    if (DO(chdir, (argv[1]), .file = "."))
        return 3;
    names();
    ranges();
    made_up(argc > 2);
    if (argc == 2) {
        walks();
        streams();
    }
    told_print();
    return 0;
}
