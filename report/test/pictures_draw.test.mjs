// SPDX-License-Identifier: MIT
// Each picture on a canvas is drawn of each made run, wide and narrow, and answers to pointer, wheel and keys.

import assert from 'node:assert/strict';
import test from 'node:test';

import { decode, inflate } from '../src/data.js';
import { everything } from '../src/filter.js';
import { View } from '../src/model.js';
import { cut, inkOn, mix } from '../src/pictures/canvas.js';
import flame from '../src/pictures/flame.js';
import heat from '../src/pictures/heat.js';
import offsets from '../src/pictures/offsets.js';
import overlap from '../src/pictures/overlap.js';
import ranks from '../src/pictures/ranks.js';
import { above, moved, zoomed } from '../src/pictures/span.js';
import timeline from '../src/pictures/timeline.js';
import tree from '../src/pictures/tree.js';
import treemap from '../src/pictures/treemap.js';
import { made } from './made.mjs';
import { colours, stubPage } from './stub_page.mjs';

const PICTURES = [heat, timeline, overlap, ranks, offsets, flame, treemap, tree];
const KEYS = ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp', 'PageDown', '+', '-', 'End', 'Enter', 'Escape', 'x'];
const MOST_RECTS = 60000,
    LONGEST_TEXT = 300;

function viewsOf(bytes) {
    const { runs } = decode(bytes);
    const chosen = [];
    const views = runs.map((run) => new View(run, everything(), { colours, select: (change) => chosen.push(change) }));
    if (views.length === 2) [views[0].base, views[1].base] = [views[1], views[0]];
    return { views, chosen };
}

/* Moves, clicks, drags, turns the wheel and presses keys all over the canvas. */
function use(canvas, width) {
    for (const x of [0, 0.1, 0.3, 0.6, 0.95])
        for (const y of [2, 40, 120, 300]) {
            const place = { clientX: x * width, clientY: y };
            canvas.fire('pointermove', place);
            canvas.fire('wheel', { ...place, ctrlKey: true, deltaX: 0, deltaY: -1 });
        }
    for (const shiftKey of [false, true]) {
        canvas.fire('pointerdown', { clientX: 0.4 * width, clientY: 60 });
        canvas.fire('pointermove', { clientX: 0.6 * width, clientY: 90, shiftKey });
        canvas.fire('pointerup', { clientX: 0.6 * width, clientY: 90, shiftKey });
    }
    canvas.focus();
    for (const key of KEYS) for (let i = 0; i < 3; i++) canvas.fire('keydown', { key, shiftKey: i === 2 });
    canvas.fire('pointerleave');
}

for (const name of ['small', 'ranks', 'train', 'many', 'hostile', 'empty', 'wall0', 'epoch', 'two', 'tworanks'])
    test(`pictures of ${name} are drawn, and answer`, async () => {
        const bytes = await inflate(made(name));
        for (const width of [1400, 360])
            for (const picture of PICTURES) {
                const { views, chosen } = viewsOf(bytes);
                for (const view of views.filter(({ run }) => !picture.lacks(run))) {
                    const { host, painted } = stubPage(width);
                    const numbers = view.numbers(picture);
                    const sentence = picture.sentence(view, numbers);
                    assert.ok(
                        sentence.endsWith('.') && !/NaN|undefined|null|Infinity/.test(sentence),
                        `${picture.id}: ${sentence}`,
                    );
                    picture.draw(host, view, numbers);
                    assert.ok(painted.rects < MOST_RECTS, `${picture.id} paints ${painted.rects} rectangles`);
                    assert.ok(
                        painted.texts.every((text) => text.length < LONGEST_TEXT && !/NaN|undefined/.test(text)),
                        picture.id,
                    );
                    const canvases = [...host.all('canvas')];
                    assert.ok(
                        canvases.length &&
                            canvases.every(
                                (canvas) => canvas.attributes['aria-label'] && canvas.attributes.tabindex === '0',
                            ),
                    );
                    canvases.forEach((canvas) => use(canvas, width));
                }
                chosen.forEach((change) =>
                    Object.values(change)
                        .flat()
                        .forEach((value) => assert.ok(Number.isInteger(value) && value >= 0, picture.id)),
                );
            }
    });

test('text is cut with an ellipsis where it does not fit', () => {
    const context = { measureText: (text) => ({ width: 6 * text.length }) };

    assert.equal(cut(context, 'getitem', 60), 'getitem');
    assert.equal(cut(context, 'getitem', 30), 'geti\u2026');
    assert.equal(cut(context, 'getitem', 10), '');
    assert.equal(cut(context, '', 100), '');
    for (let width = 0; width < 200; width++)
        assert.ok(cut(context, 'checkpoint of the model', width).length * 6 <= Math.max(width, 0));
});

test('spans are zoomed and moved within their limits', () => {
    assert.deepEqual(zoomed([0, 100], [0, 100], 50, 0.5, 1), [25, 75]);
    assert.deepEqual(zoomed([25, 75], [0, 100], 50, 10, 1), [0, 100]);
    assert.deepEqual(zoomed([0, 100], [0, 100], 0, 0.001, 10), [0, 10]);
    assert.deepEqual(moved([10, 30], [0, 100], 200), [80, 100]);
    assert.deepEqual(moved([10, 30], [0, 100], -200), [0, 20]);
    assert.equal(above([1, 2, 2, 5], 2), 3);
    assert.equal(above([], 2), 0);
});

test('colours are mixed, and text on them can be read', () => {
    assert.equal(mix('#000000', '#ffffff', 0.5), '#808080');
    assert.equal(inkOn('#ffffff'), '#000');
    assert.equal(inkOn('#000000'), '#fff');
});
