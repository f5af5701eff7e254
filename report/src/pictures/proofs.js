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
import { isShown, once } from './parts.js';
import { placesOf } from './places.js';
import sizes from './sizes.js';
import timeline from './timeline.js';

const MOST_ROWS = 5;

/* Pictures that are read when they are small. Those of `whole` compare ranks, or times: they are not filtered. */
const SMALL = new Map([sizes, latency, offsets, heat, overlap, timeline].map((picture) => [picture.id, picture]));
const WHOLE = new Set([heat, overlap, timeline]);

/* By the word of a finding: its cards, the best first, and the classes of calls that it speaks of. */
const CARDS = {
    'in-flight': { cards: ['timeline'] },
    'one-byte': { cards: ['sizes', 'calls', 'files'], classes: ['read', 'write'] },
    'small-reads': { cards: ['sizes', 'files'], classes: ['read'] },
    'small-writes': { cards: ['sizes', 'files'], classes: ['write'] },
    stream: { cards: ['sizes', 'files'], classes: ['read', 'write'] },
    flush: { cards: ['latency', 'calls'] },
    fsync: { cards: ['latency', 'calls', 'files'], classes: ['sync'] },
    locks: { cards: ['latency', 'timeline'] },
    failing: { cards: ['calls', 'files'] },
    aggregators: { cards: ['heat', 'ranks'] },
    collective: { cards: ['heat', 'regions'] },
    'no-collective': { cards: ['sizes', 'regions'] },
    straggler: { cards: ['heat', 'ranks', 'latency'] },
    imbalance: { cards: ['heat', 'ranks'] },
    contention: { cards: ['latency', 'files'] },
    saves: { cards: ['files', 'calls'] },
    missing: { cards: ['calls', 'files'], classes: ['meta', 'startup'] },
    reopened: { cards: ['calls', 'files'] },
    'small-files': { cards: ['files', 'treemap'] },
    'file-explosion': { cards: ['files', 'treemap'] },
    copies: { cards: ['files', 'bandwidth'] },
    removal: { cards: ['latency', 'files'], classes: ['meta'] },
    growth: { cards: ['offsets', 'files'] },
    metadata: { cards: ['latency', 'calls', 'files'], classes: ['meta'] },
    seeks: { cards: ['calls', 'offsets'] },
    mount: { cards: ['latency', 'files'] },
    cache: { cards: ['bandwidth', 'files'] },
    'trainer-waits': { cards: ['overlap', 'regions', 'timeline'] },
    'slow-worker': { cards: ['heat', 'regions'] },
    'exposed-io': { cards: ['overlap', 'timeline'] },
    'idle-gaps': { cards: ['timeline', 'regions'] },
    'serial-phase': { cards: ['timeline', 'heat'] },
    random: { cards: ['offsets', 'latency'] },
    reread: { cards: ['offsets', 'files'], classes: ['read'] },
    misaligned: { cards: ['offsets', 'latency'] },
};

/* Findings of calls that fail: those that do not are no proof. */
const OF_FAILED = new Set(['missing', 'failing']);

/** Ids of the cards that show FINDING, the best first. */
export const cardsOf = (finding) => CARDS[finding.code]?.cards ?? [];

/* Words of the classes of calls that FINDING speaks of: as it says, or as its kind does; undefined: of all. */
const classesOf = ({ classes, code }) => (classes?.length ? classes : CARDS[code]?.classes);

/* The view of the calls that FINDING speaks of: as much of its places as the data can tell apart, or null. */
function callsOf(run, finding) {
    const classes = classesOf(finding);
    const places = Object.assign({}, ...placesOf(run, finding).map(({ change }) => change));
    const { t, ...lasting } = { ...places, ...(classes ? { class: classes } : {}) };
    const tries = [t ? { ...lasting, t } : null, lasting].filter((change) => change && Object.keys(change).length);

    return (
        tries
            .map((change) => viewAt(run, finding, change))
            .find((one) => !one.sums(['c'], { columns: ['n', 'e', 'd', 'b'] }).ignored.length) ?? null
    );
}

/* A view of RUN under CHANGE alone. Its pictures are small, and keep their own zoom. */
const viewAt = (run, finding, change) =>
    new View(run, changed(everything(), run, change), { small: `finding ${finding.number}` });

/*
 * Views of the calls of a finding, of the calls of its classes on all files (for pictures that do not tell files
 * apart), each null where there is none, and of the whole run. Their sums are kept while the page is drawn anew.
 */
const madeViews = once((run, finding) => {
    const classes = classesOf(finding);

    return {
        calls: callsOf(run, finding),
        ofClasses: classes ? viewAt(run, finding, { class: classes }) : null,
        whole: viewAt(run, finding, {}),
    };
});

/* The same, to be drawn as VIEW is. */
function viewsOf({ run, colours, select, go }, finding) {
    const views = madeViews(run, finding);

    for (const one of Object.values(views)) if (one) Object.assign(one, { colours, select, go });
    return views;
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

const answers = (at, picture) => isShown(picture, [at.run]) && !at.numbers(picture).ignored.length;

/* The first picture of FINDING that the data can show of its calls, of its VIEWS: `{picture, at, of}`, or undefined. */
function pictureOf({ calls, ofClasses, whole }, finding) {
    const pictures = cardsOf(finding).flatMap((id) => SMALL.get(id) ?? []);
    const tries = (picture) =>
        WHOLE.has(picture)
            ? [{ picture, at: whole, of: '' }]
            : [
                  { picture, at: calls, of: '' },
                  { picture, at: ofClasses, of: `: ${namesOf(finding)} on all files` },
              ];

    return pictures.flatMap(tries).find(({ picture, at }) => at && answers(at, picture));
}

const namesOf = (finding) => classesOf(finding)?.map((word) => NAMES[WORDS.indexOf(word)]).join(' and ');

/** Fills ELEMENT, which is in the document, with the proof of FINDING. Leaves it empty where the data have none. */
export function drawProof(element, view, finding) {
    const views = viewsOf(view, finding);
    const rows = views.calls && callRows(views.calls, OF_FAILED.has(finding.code)),
        shown = pictureOf(views, finding);

    if (rows) element.append(el('div', { class: 'evidence' }, rows));
    if (!shown) return;
    const { picture, at, of } = shown,
        host = element.appendChild(el('div', { class: 'small-picture' }, el('h4', {}, picture.title + of)));
    picture.draw(host.appendChild(el('div')), at, at.numbers(picture));
}
