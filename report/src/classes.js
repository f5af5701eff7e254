// SPDX-License-Identifier: MIT
// The classes of calls: their numbers in the data, names as people read them, and which of them are I/O.

/** Words of the data and of links, by number. */
export const WORDS = ['none', 'read', 'write', 'sync', 'meta', 'wait', 'startup'];

/** Names as they stand on the page, by number. */
export const NAMES = ['regions', 'read', 'write', 'sync', 'metadata', 'waiting', 'start-up'];

export const READ = 1,
    WRITE = 2,
    SYNC = 3,
    META = 4,
    WAIT = 5,
    STARTUP = 6;

const MPI_WAITS = /^P?MPI_(I?(barrier|bcast|(all)?reduce|(all)?gather|scatter|alltoall)|wait|probe|m?recv|sendrecv)/i;

/** Whether a region NAME is one in which a rank waits for others. */
export const isWait = (name) => MPI_WAITS.test(name);

/** Whether a class is I/O, by number. */
export const IS_IO = [false, true, true, true, true, false, true];

/** Classes of I/O, in the order in which they are drawn. */
export const IO = [READ, WRITE, META, SYNC, STARTUP];
