/* SPDX-License-Identifier: MIT */
/* A source of blocks: every command of dftmerge reads traces through it.
 *
 * dft_source_open finds the inputs, reads every block's header and verifies every checksum (N threads, by file), drops
 * what was seen twice, and knows all processes. From then on nothing of the source changes but its names and notes, so
 * the commands may read blocks in any order and from any number of threads. Payloads are read again when they are
 * needed: memory is 80 bytes a block, plus processes, plus the names that were asked for.
 *
 * COVERAGE. Blocks of one (key, stream, type) are sorted by first, then by last descending; a block within the range of
 * one that is kept is dropped (DFT_BLOCK_COVERED). A partial overlap cannot come from our writers: of an EVENTS block
 * the events numbered at or below what is covered are left out when it is read (the i-th has the number first + i:
 * never twice, at worst missing), a BUCKETS block cannot be split and is dropped whole; both are noted. Blocks without
 * a range (PROCESS, CLOCK, NAMES, END ..., and events in flight) are dropped when an identical one was seen.
 *
 * PARTS. Blocks of a group (dft_block.part) are looked at after the whole ones of their stream, part by part by the same
 * rules, and dropped where whole blocks have said something. Of several divisions of one stream that with most events
 * wins; if it is not complete itself, it is noted that others were left out. A division of which groups are missing is
 * noted, and nothing is said to be lost then.
 *
 * ROWS AND EVENTS. The ranges of EVENTS and BUCKETS blocks of a stream that touch each other form a component. Its
 * events are answered for by its BUCKETS blocks (DFT_IN_ROWS) where these cover it, else by its EVENTS blocks; and the
 * other way round for DFT_IN_EVENTS. So the sum over all blocks with DFT_IN_ROWS counts every event once, and so does
 * that over DFT_IN_EVENTS; only the first is cheap and only the second can be asked everything.
 *
 * LIVE FILES, what a killed or running process left, are turned into blocks in memory when the source is opened; they
 * look like any other file. Records already covered by a block are ignored. The live file of a trace is looked for
 * beside it and where PROCESS says, also when only the trace was named. What was in flight is an EVENTS block with
 * first > last whose events have DFT_BIT_OPEN.
 *
 * FOREIGN FILES, those of DFTracer, are converted into blocks when the source is opened; see pfw.h.
 *
 * NAMES (id -> text) are fetched by dft_source_names, for all or for those wanted; see names.h.
 *
 * Threads: open, close, notes sorted, ordered: one thread. Everything `const struct dft_source *`: any. Callbacks of
 * visits run in `threads` threads at once, told apart by `worker`. */
#ifndef DFT_SOURCE_H
#define DFT_SOURCE_H

#include "source/source_object.h"

/* Opens all inputs. What cannot be read is noted and left out: 0 is returned all the same; look at dft_source_status.
 * *source is NULL only on -ENOMEM. */
int dft_source_open(struct dft_source **source, const struct dft_source_options *options);

#endif
