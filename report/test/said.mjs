// SPDX-License-Identifier: MIT
// What a page says: node test/said.mjs PAGE.html prints, as JSON, the sentence and numbers of each card, and the
// text of the first one.

import { readFileSync } from 'node:fs';
import { argv, stdout } from 'node:process';

import { decode, fromBase64, inflate } from '../src/data.js';
import { everything } from '../src/filter.js';
import { View } from '../src/model.js';
import { inOrder } from '../src/pictures/index.js';
import { isShown } from '../src/pictures/parts.js';
import { stateOfRun } from '../src/run_state.js';
import { colours, stubPage } from './stub_page.mjs';

const [, base64] = readFileSync(argv[2], 'utf8').match(/id="dftrace-data">([^<]*)</);
const { runs } = decode(await inflate(fromBase64(base64)));
const [run] = runs;
const view = new View(run, everything(), { colours, select: () => {} });

view.go = () => {};

/* What card PICTURE says and has. */
function said(picture) {
    const numbers = view.numbers(picture),
        { host } = stubPage(900);

    if (picture.id === 'headline') picture.draw(host, view, numbers);
    return { sentence: picture.sentence?.(view, numbers) ?? '', text: host.textContent, numbers };
}

const cards = inOrder(run).filter((picture) => isShown(picture, [run]));
const plain = (key, value) => (ArrayBuffer.isView(value) ? [...value] : value);

stdout.write(
    JSON.stringify({ state: stateOfRun(run), cards: Object.fromEntries(cards.map((one) => [one.id, said(one)])) }, plain),
);
