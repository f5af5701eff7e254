/* SPDX-License-Identifier: MIT */
/* Arguments of calls and regions as an object of JSON. */
#include "base/write_args.h"

#include "base/write_json.h"
#include "format/event.h"

void dft_line_args(struct dft_line *line, const struct dft_names *names, const struct dft_arg *args, uint32_t count)
{
    dft_line_char(line, '{');
    for (uint32_t i = 0; i < count; i++) {
        const struct dft_arg *arg = &args[i];
        struct dft_text category, name;
        char text[18];

        dft_names_call(names, arg->key, &category, &name, text);
        if (i)
            dft_line_char(line, ',');
        dft_line_quote(line, name.bytes, name.length);
        dft_line_char(line, ':');
        if (arg->type == DFT_ARG_INT)
            dft_line_int(line, arg->i);
        else if (arg->type == DFT_ARG_DOUBLE)
            dft_json_number(line, arg->d);
        else
            dft_line_quote(line, arg->s.bytes, arg->s.length);
    }
    dft_line_char(line, '}');
}
