/* SPDX-License-Identifier: MIT */
/* Command lines for people. */
#include "base/command_line.h"

#include <stdlib.h>

char *dft_command_line(struct dft_text command)
{
    char *text = malloc(command.length + 1u);

    if (!text)
        return NULL;
    for (uint32_t i = 0; i < command.length; i++)
        text[i] = command.bytes[i] ? command.bytes[i] : ' ';
    while (command.length && text[command.length - 1] == ' ')
        command.length--;
    text[command.length] = '\0';
    return text;
}
