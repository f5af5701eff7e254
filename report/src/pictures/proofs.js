// SPDX-License-Identifier: MIT
// What proves a finding: the calls that it speaks of, and one picture of them, drawn small.

import { NAMES, WORDS } from '../classes.js';
import { el } from '../draw.js';
import { changed, everything } from '../filter.js';
import * as format from '../format.js';
import { View } from '../model.js';
import heat from './heat.js';
import latency from './latency.js';
import offsets from './offsets.js';
import overlap from './overlap.js';
import { placesOf } from './places.js';
import sizes from './sizes.js';
import timeline from './timeline.js';

const MOST_ROWS = 5;

/* Pictures that are read when they are small. Those of `whole` compare ranks, or times: they are not filtered. */
const SMALL = new Map([sizes, latency, offsets, heat, overlap, timeline].map((picture) => [picture.id, picture]));
const WHOLE = new Set([heat, overlap, timeline]);

/* By the word of a finding: its cards, the best first, and the classes of calls that it speaks of. */
const CARDS = {
    'in-flight': [['timeline']],
    'one-byte': [
        ['sizes', 'calls', 'files'],
        ['read', 'write'],
    ],
    'small-reads': [['sizes', 'files'], ['read']],
    'small-writes': [['sizes', 'files'], ['write']],
    stream: [
        ['sizes', 'files'],
        ['read', 'write'],
    ],
    flush: [['latency', 'calls']],
    fsync: [['latency', 'calls', 'files'], ['sync']],
    locks: [['latency', 'timeline']],
    failing: [['calls', 'files']],
    aggregators: [['heat', 'ranks']],
    collective: [['heat', 'regions']],
    'no-collective': [['sizes', 'regions']],
    straggler: [['heat', 'ranks', 'latency']],
    imbalance: [['heat', 'ranks']],
    contention: [['latency', 'files']],
    saves: [['files', 'calls']],
    missing: [
        ['calls', 'files'],
        ['meta', 'startup'],
    ],
    reopened: [['calls', 'files']],
    'small-files': [['files', 'treemap']],
    'file-explosion': [['files', 'treemap']],
    copies: [['files', 'bandwidth']],
    removal: [['latency', 'files'], ['meta']],
    growth: [['offsets', 'files']],
    metadata: [['latency', 'calls', 'files'], ['meta']],
    seeks: [['calls', 'offsets']],
    mount: [['latency', 'files']],
    cache: [['bandwidth', 'files']],
    'trainer-waits': [['overlap', 'regions', 'timeline']],
    'slow-worker': [['heat', 'regions']],
    'exposed-io': [['overlap', 'timeline']],
    'idle-gaps': [['timeline', 'regions']],
    'serial-phase': [['timeline', 'heat']],
    random: [['offsets', 'latency']],
    reread: [['offsets', 'files'], ['read']],
    misaligned: [['offsets', 'latency']],
};

/* Findings of calls that fail: those that do not are no proof. */
const OF_FAILED = new Set(['missing', 'failing']);

/** Ids of the cards that show FINDING, the best first. */
export const cardsOf = (finding) => CARDS[finding.code]?.[0] ?? [];

/* The view of the calls that FINDING speaks of: as much of its places as the data can tell apart, or null. */
function viewOf(view, finding) {
    const [, classes] = CARDS[finding.code] ?? [];
    const places = Object.assign({}, ...placesOf(view.run, finding).map(({ change }) => change));
    const { t, ...lasting } = { ...places, ...(classes ? { class: classes } : {}) };
    const tries = [t ? { ...lasting, t } : null, lasting].filter((change) => change && Object.keys(change).length);

    return (
        tries
            .map((change) => viewAt(view, change))
            .find((one) => !one.sums(['c'], { columns: ['n', 'e', 'd', 'b'] }).ignored.length) ?? null
    );
}

/* A view of the same run under CHANGE alone. Its pictures are small, and keep their own zoom. */
function viewAt(view, change) {
    const run = Object.create(view.run, { name: { value: `${view.run.name} small` } });
    const at = new View(run, changed(everything(), view.run, change), view);

    return Object.assign(at, { isSmall: true, go: view.go });
}

/* The calls that take longest, as a table; IS_FAILED: of those that fail. */
function callRows(view, isFailed) {
    const { n, e, d, b } = view.sums(['c'], { columns: ['n', 'e', 'd', 'b'] });
    const { name, class: kinds, is_region: isRegion } = view.run.table('calls');
    const rows = [...n.keys()]
        .filter((c) => n[c] && !isRegion[c] && (e[c] || !isFailed))
        .sort((x, y) => d[y] - d[x] || n[y] - n[x]);
    const hasFailed = rows.some((c) => e[c]),
        hasBytes = rows.some((c) => b[c]);
    const number = (text) => el('td', { class: 'is-number' }, text);
    const titles = ['calls', ...(hasFailed ? ['failed'] : []), 'time', 'a call', ...(hasBytes ? ['bytes a call'] : [])];

    if (!rows.length) return null;
    return el(
        'table',
        { class: 'plain' },
        el(
            'thead',
            {},
            el(
                'tr',
                {},
                el('th', {}, 'call'),
                titles.map((title) => el('th', { class: 'is-number' }, title)),
            ),
        ),
        el(
            'tbody',
            {},
            rows
                .slice(0, MOST_ROWS)
                .map((c) =>
                    el(
                        'tr',
                        {},
                        el('td', {}, mark(view, kinds[c]), format.cut(name[c] || NAMES[kinds[c]], 28)),
                        number(format.count(n[c])),
                        hasFailed ? number(e[c] ? format.count(e[c]) : '') : null,
                        number(format.ns(d[c])),
                        number(format.ns(d[c] / n[c])),
                        hasBytes ? number(b[c] ? format.bytes(b[c] / n[c]) : '') : null,
                    ),
                ),
        ),
        rows.length > MOST_ROWS
            ? el('caption', {}, `and ${format.counted(rows.length - MOST_ROWS, 'other call')}`)
            : null,
    );
}

const mark = (view, kind) => el('i', { class: 'swatch', style: { background: view.colours.classes[kind] } });

/* The calls of the classes that FINDING speaks of, on all files: for pictures that do not tell files apart. */
function ofClasses(view, finding) {
    const [, classes] = CARDS[finding.code] ?? [];

    return classes ? viewAt(view, { class: classes }) : null;
}

const answers = (at, picture) =>
    !picture.lacks(at.run) && (picture.isFor?.(at.run) ?? true) && !at.numbers(picture).ignored.length;

/* The first picture of FINDING that the data can show of its calls: `{picture, at, of}`, or undefined. */
function pictureOf(view, calls, finding) {
    const pictures = cardsOf(finding).flatMap((id) => SMALL.get(id) ?? []);
    const tries = (picture) =>
        WHOLE.has(picture)
            ? [{ picture, at: viewAt(view, {}), of: '' }]
            : [
                  { picture, at: calls, of: '' },
                  { picture, at: ofClasses(view, finding), of: `: ${namesOf(finding)} on all files` },
              ];

    return pictures.flatMap(tries).find(({ picture, at }) => at && answers(at, picture));
}

const namesOf = (finding) => CARDS[finding.code][1]?.map((word) => NAMES[WORDS.indexOf(word)]).join(' and ');

/** Fills ELEMENT, which is in the document, with the proof of FINDING. Leaves it empty where the data have none. */
export function drawProof(element, view, finding) {
    const calls = viewOf(view, finding);
    const rows = calls && callRows(calls, OF_FAILED.has(finding.code)),
        shown = pictureOf(view, calls, finding);

    if (rows) element.append(el('div', { class: 'evidence' }, rows));
    if (!shown) return;
    const { picture, at, of } = shown,
        host = element.appendChild(el('div', { class: 'small-picture' }, el('h4', {}, picture.title + of)));
    picture.draw(host.appendChild(el('div')), at, at.numbers(picture));
}
