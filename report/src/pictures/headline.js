// SPDX-License-Identifier: MIT
// The first card: what the run is about in one sentence, its key numbers, and whether the data are complete.

import { IO, READ, WRITE, META, SYNC } from '../classes.js';
import { el } from '../draw.js';
import * as format from '../format.js';

function total(values, classes) {
    return classes.reduce((sum, kind) => sum + values[kind], 0);
}

/** "B is 1.8x slower: 12.1 s instead of 6.7 s". */
export function comparison(base, other) {
    const a = base.run.wall_ns, b = other.run.wall_ns;
    const name = format.cut(other.run.name || 'the second run', 40);
    const times = `${format.ns(b)} instead of ${format.ns(a)}`;

    if (!(a > 0 && b > 0))
        return `${name} ran ${times}`;
    if (Math.abs(b - a) < 0.02 * a)
        return `${name} takes as long: ${times}`;
    return b > a ? `${name} is ${format.factor(b / a)} slower: ${times}` : `${name} is ${format.factor(a / b)} faster: ${times}`;
}

function costliest(view) {
    const findings = view.run.summary.findings ?? [];
    const first = findings[0];

    if (!first)
        return [`Nothing that costs time was found`, format.safe(view.run.summary.findings_nothing ?? '')];
    const cost = first.cost_ns ? `: ${format.ns(first.cost_ns)}, ${format.share(first.cost_ns, first.of_ns)} of the time` : '';
    return [format.cut(first.title, 120) + cost, findings.length > 1 ? `and ${format.counted(findings.length - 1, 'other finding')} below` : ''];
}

function tile(name, value, note) {
    return el('div', { class: 'tile' }, el('div', { class: 'name' }, name), el('div', { class: 'value' }, value), el('div', { class: 'note' }, note));
}

function tiles(view, numbers) {
    const { run } = view;
    const many = run.summary.ranks ? format.counted(run.summary.ranks, 'rank') : '';
    const people = format.counted(numbers.processes, 'process', 'processes');

    return el('div', { class: 'tiles' },
        tile(view.filter.t ? 'chosen time' : 'time', format.ns(numbers.time_ns), [people, many].filter(Boolean).join(', ')),
        tile('in I/O', [format.ns(numbers.io_ns), el('small', {}, ` ${format.share(numbers.io_ns, numbers.lives_ns)}`)],
             `of ${format.ns(numbers.lives_ns)} that ${numbers.processes === 1 ? 'the process' : 'processes'} lived`),
        tile('read', format.bytes(numbers.read_bytes), `${format.counted(numbers.reads, 'call')}, ${format.ns(numbers.read_ns)}`),
        tile('written', format.bytes(numbers.written_bytes), `${format.counted(numbers.writes, 'call')}, ${format.ns(numbers.write_ns)}`),
        tile('metadata', format.ns(numbers.meta_ns), format.counted(numbers.metas, 'call')),
        tile('sync', format.ns(numbers.sync_ns), format.counted(numbers.syncs, 'call')),
        tile('calls', format.count(numbers.calls), numbers.failed ? `${format.count(numbers.failed)} failed` : 'none failed'));
}

export default {
    id: 'headline', title: 'In short', axes: ['c'],
    lacks: () => null,
    numbers(view) {
        const sums = view.sums(['class'], { columns: ['n', 'e', 'd', 'b'] });
        const lives = view.lives(), [from, to] = view.range();

        return {
            ignored: sums.ignored, time_ns: to - from, lives_ns: lives.total, processes: lives.count,
            calls: total(sums.n, IO), failed: total(sums.e, IO), io_ns: total(sums.d, IO),
            read_bytes: sums.b[READ], reads: sums.n[READ], read_ns: sums.d[READ],
            written_bytes: sums.b[WRITE], writes: sums.n[WRITE], write_ns: sums.d[WRITE],
            metas: sums.n[META], meta_ns: sums.d[META], syncs: sums.n[SYNC], sync_ns: sums.d[SYNC],
        };
    },
    completeness({ run }) {
        return run.is_complete && !run.thinned.length ? '' : 'see "What is not here"';
    },
    draw(element, view, numbers) {
        const { run } = view;
        const isSecond = view.base && !view.isFirst;
        const [verdict, more] = isSecond ? [comparison(view.base, view), ''] : costliest(view);

        element.append(el('p', { class: 'verdict' }, verdict, ' ', more ? el('small', {}, more) : null));
        if (view.base)
            element.append(el('p', { class: 'dim' }, isSecond ? costliest(view)[0] : 'the run that the other one is held against'));
        if (!run.is_complete)
            element.append(el('p', { class: 'warning' }, `The data are not complete: ${format.cut(run.lost || 'what was lost is not known', 300)}`));
        element.append(tiles(view, numbers));
    },
};
