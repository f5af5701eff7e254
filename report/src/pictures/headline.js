// SPDX-License-Identifier: MIT
// The first card: the verdict, what proves it, the other findings a line each, and the key numbers of the run.

import { READ, WRITE, META, STARTUP, SYNC } from '../classes.js';
import { el } from '../draw.js';
import * as format from '../format.js';
import { drawFindings, isOfFinding, risks } from './findings.js';
import missing from './missing.js';
import { inIo, shareOf } from './outside.js';

/** "B is 1.8x slower: 12.1 s instead of 6.7 s". */
export function comparison(base, other) {
    const a = base.run.wall_ns,
        b = other.run.wall_ns;
    const name = format.cut(other.run.name || 'the second run', 40);
    const times = `${format.ns(b)} instead of ${format.ns(a)}`;

    if (!(a > 0 && b > 0)) return `${name} ran ${times}`;
    if (Math.abs(b - a) < 0.02 * a) return `${name} takes as long: ${times}`;
    return b > a
        ? `${name} is ${format.factor(b / a)} slower: ${times}`
        : `${name} is ${format.factor(a / b)} faster: ${times}`;
}

/* The verdict, as the first line of the summary has it, and what else there is but for the findings, which stand
 * below. */
function verdictOf({ run: { summary } }) {
    const { line = 'No verdict is here.', more = [], more_levels: levels = [] } = summary.verdict ?? {};
    const others = more.filter((_, i) => !isOfFinding(levels[i]));

    return [format.cut(line, 400), others.map((text) => format.cut(text, 200)).join('; ')];
}

/* Of two runs: the class of I/O whose time differs most; null where none does. */
function difference(view, numbers) {
    const other = view.base.numbers(picture);
    const parts = [
        ['read', 'read_ns'],
        ['write', 'write_ns'],
        ['metadata', 'meta_ns'],
        ['sync', 'sync_ns'],
    ].map(([name, member]) => ({ name, now: numbers[member], before: other[member] }));
    const [most] = parts.sort((a, b) => Math.abs(b.now - b.before) - Math.abs(a.now - a.before));
    const text = `Of the I/O, ${most.name} differs most: ${format.ns(most.now)} instead of ${format.ns(most.before)}.`;

    return most.now === most.before ? null : el('p', {}, text);
}

/* Tiles: name, the number's member, how it is written, what stands below it, and the calls without which there is
 * none. */
function tilesOf(view) {
    const { run } = view,
        many = run.summary.ranks && !view.filter.p ? format.counted(run.summary.ranks, 'rank') : '';
    const isEach = (numbers) => many && numbers.processes === run.summary.ranks;
    const processes = (numbers) => format.counted(numbers.processes, 'process', 'processes');
    const calls = (count, ns) => (numbers) =>
        [format.counted(numbers[count], 'call'), ns ? format.ns(numbers[ns]) : ''].filter(Boolean).join(', ');

    return [
        [
            view.filter.t ? 'chosen time' : 'time',
            'time_ns',
            format.ns,
            (numbers) => [isEach(numbers) ? '' : processes(numbers), many].filter(Boolean).join(', '),
        ],
        ['in I/O', 'io_ns', format.ns, (numbers) => shareOf(view, numbers.io_ns, numbers.lives_ns, numbers.processes)],
        ['read', 'read_bytes', format.bytes, calls('reads', 'read_ns'), 'reads'],
        ['written', 'written_bytes', format.bytes, calls('writes', 'write_ns'), 'writes'],
        ['metadata', 'meta_ns', format.ns, calls('metas'), 'metas'],
        ['sync', 'sync_ns', format.ns, calls('syncs'), 'syncs'],
        [
            'start-up',
            'startup_ns',
            format.ns,
            (numbers) => `${calls('startups')(numbers)}, ${format.bytes(numbers.startup_bytes)}`,
            'startups',
        ],
        [
            'calls',
            'calls',
            format.count,
            (numbers) => (numbers.failed ? `${format.count(numbers.failed)} failed` : 'none failed'),
        ],
    ];
}

/* "A 1.89 s, 1.3x": what the other run has, and the factor where it differs. */
function against(base, member, text, mine) {
    const other = base.numbers(picture)[member];
    /* More time is worse; more bytes or calls are neither. */
    const css = !member.endsWith('_ns') ? 'dim' : mine > other ? 'worse' : 'better',
        isOther = Math.abs(mine - other) > 0.02 * other && other > 0 && mine > 0;

    return el(
        'div',
        { class: 'note' },
        `${format.cut(base.run.name || 'base', 20)} ${text(other)}`,
        isOther ? el('span', { class: css }, `  ${format.change(other, mine)}`) : null,
    );
}

function tiles(view, numbers) {
    const other = view.base?.numbers(picture);
    const shown = tilesOf(view).filter(([, , , , needs]) => !needs || numbers[needs] || other?.[needs]);

    return el(
        'div',
        { class: 'tiles' },
        ...shown.map(([name, member, text, note]) =>
            el(
                'div',
                { class: 'tile' },
                el('div', { class: 'name' }, name),
                el('div', { class: 'value' }, text(numbers[member])),
                el('div', { class: 'note' }, note(numbers).replace(/(?<=\d) /g, '\u00a0')), // a unit stays with its number
                view.base ? against(view.base, member, text, numbers[member]) : null,
            ),
        ),
    );
}

function warning({ run }) {
    return run.is_complete
        ? null
        : el(
              'p',
              { class: 'warning' },
              run.name ? `${format.cut(run.name, 20)}: ` : '',
              `The data are not complete: ${format.cut(run.lost || 'what was lost is not known', 300)}`,
          );
}

/* What was found in VIEW, and what was not. */
function found(host, view, isFirstOpen) {
    const { summary } = view.run;

    drawFindings(host, view, isFirstOpen);
    if ((summary.risks ?? []).length) host.append(risks(view.run, summary.risks));
    if (summary.findings_nothing && summary.verdict?.level !== 'good')
        host.append(el('p', { class: 'dim nothing' }, `not a problem: ${format.cut(summary.findings_nothing, 400)}`));
}

function drawOne(element, view) {
    const [verdict, more] = verdictOf(view);
    const whole = view.filter.chosen.length ? el('small', {}, '(of the whole run) ') : null;

    element.append(el('p', { class: 'verdict' }, verdict, ' ', whole, more ? el('small', {}, more) : null));
    found(element, view, true);
}

function drawTwo(element, view, numbers) {
    const sides = [view.base, view];
    const hosts = sides.map((side) =>
        el(
            'div',
            { class: 'run' },
            el(
                'p',
                { class: 'dim' },
                el('b', {}, `${format.cut(side.run.name, 20)} `),
                verdictOf(side).filter(Boolean).join(', '),
            ),
        ),
    );

    element.append(
        ...[
            el('p', { class: 'verdict' }, comparison(view.base, view)),
            difference(view, numbers),
            el('div', { class: 'runs is-two' }, hosts),
        ].filter(Boolean),
    );
    sides.forEach((side, i) => found(hosts[i], side, false));
}

const picture = {
    id: 'headline',
    title: 'In short',
    axes: ['c'],
    is_together: true,
    lacks: () => null,
    numbers(view) {
        const sums = view.sums(['class'], { columns: ['n', 'e', 'd', 'b'] });
        const lives = view.lives(),
            [from, to] = view.range();

        return {
            ignored: sums.ignored,
            time_ns: to - from,
            lives_ns: lives.total,
            processes: lives.count,
            calls: inIo(sums.n),
            failed: inIo(sums.e),
            io_ns: inIo(sums.d),
            read_bytes: sums.b[READ],
            reads: sums.n[READ],
            read_ns: sums.d[READ],
            written_bytes: sums.b[WRITE],
            writes: sums.n[WRITE],
            write_ns: sums.d[WRITE],
            metas: sums.n[META],
            meta_ns: sums.d[META],
            syncs: sums.n[SYNC],
            sync_ns: sums.d[SYNC],
            startups: sums.n[STARTUP],
            startup_ns: sums.d[STARTUP],
            startup_bytes: sums.b[STARTUP],
        };
    },
    completeness({ run }) {
        return run.is_complete && !missing.isFor(run)
            ? 'Nothing was lost, and nothing was left out.'
            : 'What was lost or left out: see "What is not here".';
    },
    draw(element, view, numbers) {
        if (view.base) drawTwo(element, view, numbers);
        else drawOne(element, view);
        element.append(...[view.base, view].filter(Boolean).map(warning).filter(Boolean), tiles(view, numbers));
    },
};

export default picture;
