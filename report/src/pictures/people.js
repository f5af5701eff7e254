// SPDX-License-Identifier: MIT
// Ranks, or processes: what each of them spent on I/O, as a table to sort and choose from.

import * as format from '../format.js';
import { endingOf, isBad } from '../run_state.js';
import { Table } from '../table.js';
import { bytes, counts, means, times } from './columns.js';
import { chosenOf, groupSums, most, total } from './groups.js';

/* Hosts and programs of row P are those of its first process. */
function firstProcesses(run) {
    const processes = run.table('processes'),
        first = new Map();

    for (let row = 0; row < processes.rows; row++) if (!first.has(processes.p[row])) first.set(processes.p[row], row);
    return (column) => (p) => (first.has(p) ? processes[column][first.get(p)] : '');
}

/* How each row of P ended: as the process that ended worst, else as its last one; who died first is said. */
export function endsOf(run) {
    const { rows, p, pid, ended } = run.table('processes'),
        ends = new Map();
    const first = run.ended?.first?.pid;

    for (let row = 0; row < rows; row++) {
        if (isBad(ends.get(p[row]) ?? '') && pid[row] !== first) continue;
        ends.set(p[row], isBad(ended[row]) && pid[row] === first ? `${ended[row]}, first` : ended[row]);
    }
    return ends;
}

/* That column, where one at least did not end well. */
function ended({ run }) {
    const ends = endsOf(run),
        of = (p) => ends.get(p) ?? '';

    if (![...ends.values()].some(endingOf)) return [];
    return [{ title: 'ended', width: 104, value: of, css: (p) => (isBad(of(p)) ? 'worse' : '') }];
}

/* Columns that say who it is. */
function names({ run }, numbers) {
    const of = firstProcesses(run),
        who = run.table('who');
    const text = (column) => ({
        title: column,
        is_minor: true,
        width: 116,
        value: of(column),
        text: (p) => format.path(of(column)(p), 15),
        tip: (p) => [format.safe(of(column)(p))],
    });

    return [
        {
            title: run.who === 'process' ? 'process' : 'rank',
            width: 200,
            value: (p) => numbers.label[p],
            text: (p, letters) => format.cut(numbers.label[p], letters),
            tip: (p) => [format.safe(numbers.label[p]), format.safe(of('command')(p))],
        },
        text('program'),
        text('host'),
        ...(who.rows && who.processes.some((count) => count > 1)
            ? [counts('processes', who.processes, { width: 78 })]
            : []),
    ];
}

/* The share of the time that it lived, as a bar and as a number. */
function lived({ colours }, { time_ns: spent, life_ns: life }) {
    const share = (p) => spent[p] / (life[p] || 1);

    return [
        { title: '', csv: 'share', is_minor: true, width: 90, value: share, share, colour: () => colours.accent },
        {
            title: '%',
            width: 54,
            is_number: true,
            help: 'I/O, of the time that it lived',
            value: (p) => 100 * share(p),
            text: (p) => format.share(spent[p], life[p]).replace(' %', ''),
        },
    ];
}

/* Of the second of two runs: I/O of the row of the same name in the base, and the difference. Other names have none. */
function sinceBase(view, numbers, mine) {
    if (!view.base || view.isFirst) return [];
    const other = view.base.numbers(mine);
    const byName = new Map(Array.from(other.label, (label, p) => [label, other.time_ns[p]]));
    const before = Float64Array.from(numbers.label, (label) => byName.get(label) ?? NaN);
    if (!before.some(Number.isFinite)) return [];
    const difference = (p) => numbers.time_ns[p] - before[p];
    const isSame = (p) => !(Math.abs(difference(p)) > 0.02 * before[p]);

    return [
        times(`I/O ${format.cut(view.base.run.name || 'A', 8)}`, before, { is_minor: true }),
        {
            title: 'difference',
            csv: 'difference_ns',
            width: 104,
            is_number: true,
            value: difference,
            order: (p) => Math.abs(difference(p)),
            css: (p) => (isSame(p) ? '' : difference(p) > 0 ? 'worse' : 'better'),
            text: (p) => (isSame(p) ? '' : (difference(p) > 0 ? '+' : '') + format.ns(difference(p))),
        },
    ];
}

export default {
    id: 'people',
    title: 'Ranks and processes',
    axes: ['p', 'class'],
    is_stacked: true,
    lacks: (run) => (run.extent.p ? null : 'This run has no processes.'),
    isFor: (run) => run.extent.p > 1,
    numbers: (view) => ({
        ...groupSums(view, 'p'),
        label: view.run.table('who').label,
        life_ns: view.lives({ without: ['p'] }).each,
    }),
    sentence(view, numbers) {
        const { run } = view,
            spent = chosenOf(view, 'p', numbers.time_ns),
            top = most(spent),
            sum = total(spent);
        const count = view.filter.p ? total(view.filter.p) : numbers.label.length;
        const [one, many] =
            run.who === 'process'
                ? ['process', 'processes']
                : run.who === 'rank'
                  ? ['rank', 'ranks']
                  : ['group of ranks', 'groups of ranks'];

        if (top < 0) return `${format.counted(count, one, many)}, none of them in I/O.`;
        return (
            `${format.counted(count, one, many)}; ${format.cut(numbers.label[top], 60)} has the most I/O: ` +
            `${format.ns(spent[top])}, ${format.share(spent[top], numbers.life_ns[top])} of its time` +
            (count > 1 ? `, ${format.factor((spent[top] * count) / sum)} the average.` : '.')
        );
    },
    draw(element, view, numbers) {
        new Table(element, {
            key: `people ${view.run.name}`,
            label: this.title,
            rows: Array.from(numbers.label, (_, p) => p),
            sort: 'I/O',
            columns: [
                ...names(view, numbers),
                ...ended(view),
                times('lived', numbers.life_ns, { is_minor: true }),
                times('I/O', numbers.time_ns),
                ...sinceBase(view, numbers, this),
                ...lived(view, numbers),
                times('waiting', numbers.wait_ns, { is_minor: true }),
                counts('calls', numbers.calls, { width: 78 }),
                counts('failed', numbers.failed, { width: 62, is_minor: true }),
                bytes('read', numbers.read_bytes),
                bytes('written', numbers.written_bytes),
                means('mean', numbers.time_ns, numbers.calls, format.ns, { csv: 'mean_ns', is_minor: true }),
            ],
            is_chosen: (p) => view.filter.p?.[p],
            choose: (p, add) => view.select({ p: [p] }, add),
        });
    },
};
