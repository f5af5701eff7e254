// SPDX-License-Identifier: MIT
// Regions of an annotated program: how often and how long, and the I/O of calls directly inside.

import * as format from '../format.js';
import { Table } from '../table.js';
import { bytes, counts, shares, times } from './columns.js';
import { chosenOf, groupSums, most, present, total } from './groups.js';

/* How often each region was open, and how long: by name, as regions are calls of the class none. */
function opened(view) {
    const sums = view.sums(['c'], { columns: ['n', 'd'], without: ['g'] }),
        calls = view.run.table('calls');
    const times = new Map(),
        counted = new Map();

    for (let c = 0; c < calls.rows; c++)
        if (calls.is_region[c]) {
            counted.set(calls.name[c], (counted.get(calls.name[c]) ?? 0) + sums.n[c]);
            times.set(calls.name[c], (times.get(calls.name[c]) ?? 0) + sums.d[c]);
        }
    return { times, counted };
}

export default {
    id: 'regions',
    title: 'Regions',
    axes: ['g', 'c'],
    is_stacked: true,
    lacks: (run) =>
        run.extent.g > 1
            ? null
            : 'This program has no regions: annotate it, or weave its functions, to see what it did for what.',
    numbers(view) {
        const { times: spans, counted } = opened(view),
            name = view.run.table('regions').name;

        return {
            ...groupSums(view, 'g'),
            name,
            opened: Float64Array.from(name, (one) => (one ? (counted.get(one) ?? 0) : 0)),
            open_ns: Float64Array.from(name, (one) => (one ? (spans.get(one) ?? 0) : 0)),
        };
    },
    sentence(view, numbers) {
        const spent = chosenOf(view, 'g', numbers.time_ns),
            top = most(spent.map((value, row) => (row ? value : 0))),
            sum = total(spent);

        if (top < 0) return 'No I/O directly inside of a region.';
        return (
            `Most I/O is directly inside of ${format.cut(numbers.name[top], 60)}: ` +
            `${format.ns(spent[top])}, ${format.share(spent[top], sum)}; ` +
            `${format.share(spent[0], sum)} is in no region.`
        );
    },
    draw(element, view, numbers) {
        const name = (row) => numbers.name[row] || '(no region)';
        const rows = [...new Set([...present(numbers.all_calls), ...present(numbers.opened)])];

        new Table(element, {
            key: `regions ${view.run.name}`,
            label: 'regions',
            rows,
            sort: 'I/O inside',
            columns: [
                {
                    title: 'region',
                    width: 240,
                    value: name,
                    text: (row, letters) => format.cut(name(row), letters),
                    tip: (row) => [format.safe(name(row))],
                },
                counts('opened', numbers.opened, { width: 72 }),
                times('time', numbers.open_ns, { help: 'from begin to end, of all its instances' }),
                times('I/O inside', numbers.time_ns, {
                    width: 86,
                    help: 'of calls of which it is the innermost region',
                }),
                ...shares(numbers.time_ns, total(numbers.time_ns), view.colours.accent),
                counts('calls', numbers.calls, { width: 78 }),
                counts('failed', numbers.failed, { width: 62, is_minor: true }),
                bytes('read', numbers.read_bytes),
                bytes('written', numbers.written_bytes),
                times('waiting', numbers.wait_ns, { is_minor: true }),
            ],
            is_chosen: (row) => view.filter.g?.[row],
            choose: (row, add) => view.select({ g: [row] }, add),
        });
    },
};
