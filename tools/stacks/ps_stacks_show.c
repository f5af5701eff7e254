/* SPDX-License-Identifier: MIT */
/* Shows call stacks of running processes, as text and as JSON. */
#include "stacks/ps_stacks_show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Behind the column in which calls in flight are indented. */
#define INDENT 12

static void write_frame(FILE *out, uint32_t number, const struct dft_ps_frame *frame)
{
    fprintf(out, "%*s#%u ", INDENT, "", number);
    if (frame->function) {
        dft_text_escape(out, frame->function, strlen(frame->function));
        fprintf(out, "+0x%llx (", (unsigned long long)frame->offset);
    } else {
        fprintf(out, "0x%llx (", (unsigned long long)frame->pc);
    }
    if (frame->module)
        dft_text_escape(out, basename(frame->module), strlen(basename(frame->module)));
    else
        fputs("no file", out);
    if (frame->module && !frame->function)
        fprintf(out, "+0x%llx", (unsigned long long)frame->address);
    putc(')', out);
    if (frame->line) {
        fputs(" at ", out);
        dft_text_escape(out, frame->line, strlen(frame->line));
    }
}

static int add_line(struct dft_grid *grid, const struct dft_ps_stack *stack, uint32_t number)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = -ENOMEM;

    if (!out)
        return rc;
    if (stack->trouble)
        fprintf(out, "%*sno stack of thread %u: %s", INDENT, "", stack->tid, stack->trouble);
    else if (number)
        write_frame(out, number - 1, &stack->frames[number - 1]);
    else
        fprintf(out, "%*sin thread %u, with nothing in flight:", INDENT - 2, "", stack->tid);
    if (!fclose(out))
        rc = dft_grid_line(grid, text);
    free(text);
    return rc;
}

int dft_ps_stacks_text(struct dft_grid *grid, const struct dft_ps_stack *stack, int titled)
{
    int rc = 0;

    for (uint32_t i = titled || stack->trouble ? 0 : 1; !rc && i <= stack->count; i++)
        rc = add_line(grid, stack, i);
    return rc;
}

void dft_ps_stack_print(FILE *out, const struct dft_ps_stack *stack)
{
    if (stack->trouble)
        fprintf(out, "%*sno stack: %s\n", INDENT, "", stack->trouble);
    for (uint32_t i = 0; !stack->trouble && i < stack->count; i++) {
        write_frame(out, i, &stack->frames[i]);
        putc('\n', out);
    }
}

static void json_frame(struct dft_json *json, const struct dft_ps_frame *frame)
{
    dft_json_object(json, NULL);
    dft_json_string(json, "function", frame->function);
    dft_json_known_uint(json, "offset", frame->function != NULL, frame->offset);
    dft_json_string(json, "module", frame->module);
    dft_json_uint(json, "address", frame->module ? frame->address : frame->pc);
    dft_json_string(json, "line", frame->line);
    dft_json_end_object(json);
}

void dft_ps_stacks_json(struct dft_json *json, const struct dft_ps_stacks *stacks, uint32_t process)
{
    dft_json_array(json, "stacks");
    for (size_t i = dft_ps_stacks_of(stacks, process); i < stacks->count && stacks->list[i].process == process; i++) {
        const struct dft_ps_stack *stack = &stacks->list[i];

        dft_json_object(json, NULL);
        dft_json_uint(json, "tid", stack->tid);
        dft_json_string(json, "trouble", stack->trouble);
        dft_json_array(json, "frames");
        for (uint32_t k = 0; k < stack->count; k++)
            json_frame(json, &stack->frames[k]);
        dft_json_end_array(json);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

void dft_ps_stack_free(struct dft_ps_stack *stack)
{
    for (uint32_t k = 0; k < stack->count; k++)
        free(stack->frames[k].module);
    free(stack->frames);
}

void dft_ps_stacks_free(struct dft_ps_stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++)
        dft_ps_stack_free(&stacks->list[i]);
    free(stacks->list);
}

size_t dft_ps_stacks_of(const struct dft_ps_stacks *stacks, uint32_t process)
{
    size_t i = 0;

    while (i < stacks->count && stacks->list[i].process != process)
        i++;
    return i;
}
