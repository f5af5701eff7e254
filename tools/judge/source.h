/* SPDX-License-Identifier: MIT */
/* A source of blocks: every command of dftmerge reads traces through a source.
 *
 * dft_source_open finds the inputs, reads every block's header and verifies every checksum. It does
 * so in N threads, by file. It drops what was seen twice, and then knows all processes. From then
 * on only the names and notes of the source change. The commands may therefore read blocks in any
 * order and from any number of threads. Payloads are read again when a command needs them. Memory
 * is 80 bytes a block, plus the processes, plus the names that a command requested.
 *
 * COVERAGE. Blocks of one (key, stream, type) are sorted by first, then by last descending. A block within the range of
 * a kept block is dropped (DFT_BLOCK_COVERED). Our writers never write a partial overlap; both kinds below are noted.
 * An EVENTS block with an overlap yields only its events numbered above what is covered. Event i of the block has the
 * number first + i. So no event is returned twice; at worst events are missing. A BUCKETS block with an overlap cannot
 * be split and is dropped whole. Blocks without a range are dropped when an identical block was seen. These are
 * PROCESS, CLOCK, NAMES, END ..., and events in flight.
 *
 * PARTS. Blocks of a group (dft_block.part) follow the whole blocks of their stream. They are
 * judged part by part, by the same rules. They are dropped where whole blocks hold the same range.
 * A stream may have several divisions. The division with most events wins. If the winner is not
 * complete either, a note says that others were left out. A note says which division misses groups.
 * No events are called lost then.
 *
 * ROWS AND EVENTS. The ranges of EVENTS and BUCKETS blocks of a stream that touch each other form a
 * component. For rows, the component's BUCKETS blocks answer (DFT_IN_ROWS) where they cover the
 * component, else its EVENTS blocks. For events (DFT_IN_EVENTS), the EVENTS blocks answer where
 * they cover the component, else its BUCKETS blocks. So the sum over all blocks with DFT_IN_ROWS
 * counts every event once. The sum over DFT_IN_EVENTS does so, too. Only the first sum is cheap,
 * and only the second can answer every query.
 *
 * LIVE FILES are what a killed or running process left. They become blocks in memory when the
 * source is opened, and look like any other file. Records that a block covers already are ignored.
 * The live file of a trace is looked for beside the trace and where PROCESS says. That is so even
 * when the user named only the trace. Calls in flight form an EVENTS block with first > last, whose
 * events have DFT_BIT_OPEN.
 *
 * FOREIGN FILES are traces of DFTracer. They are converted into blocks when the source is opened;
 * see pfw.h.
 *
 * NAMES (id -> text) are fetched by dft_source_names, either all or those wanted; see names.h.
 *
 * Threads: one thread opens, closes, sorts notes and reads in order. Any thread may call what takes
 * a `const struct dft_source *`. Callbacks of visits run in `threads` threads at once; `worker`
 * distinguishes the threads. */
#ifndef DFT_SOURCE_H
#define DFT_SOURCE_H

#include "object/object.h"

/* Opens all inputs. An input that cannot be read is noted and left out, and 0 is returned all the
 * same. dft_source_status tells whether an input was left out. *source is NULL only on -ENOMEM. */
int dft_source_open(struct dft_source **source, const struct dft_source_options *options);

#endif
