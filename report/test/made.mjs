// SPDX-License-Identifier: MIT
// Runs made by hand, for tests and for looking at the page: node test/made.mjs NAME > page.html

import { readFileSync } from 'node:fs';
import { argv, stdout, stderr } from 'node:process';
import { fileURLToPath } from 'node:url';

import { deflated, fill } from './encode.mjs';
import { empty, epoch, hostile, wallZero } from './odd_runs.mjs';
import { small } from './small_run.mjs';
import { training } from './train_run.mjs';
import { many, manyFiles, manyRows, ranks } from './wide_runs.mjs';

const MADE = {
    small: () => [small()],
    ranks: () => [ranks()],
    many: () => [many(10000)],
    rows: () => [manyRows()],
    files: () => [manyFiles()],
    train: () => [training()],
    hostile: () => [hostile()],
    empty: () => [empty()],
    wall0: () => [wallZero()],
    epoch: () => [epoch()],
    two: () => [small({ name: 'A' }), small({ name: 'B', slow: 1.8 })],
    tworanks: () => [ranks({ name: 'A' }), ranks({ name: 'B', slow: 2.5 })],
};

/** Names of runs that can be made. */
export const NAMES = Object.keys(MADE);

/** Bytes of the data of the page NAME. */
export function made(name) {
    return deflated(MADE[name]());
}

/** Runs of the page NAME before they are encoded. */
export function runsOf(name) {
    return MADE[name]();
}

/** The page NAME, whole. */
export function page(name) {
    return fill(readFileSync(new URL('../built/report.html', import.meta.url), 'utf8'), made(name));
}

if (argv[1] === fileURLToPath(import.meta.url)) {
    if (!MADE[argv[2]]) {
        stderr.write(`usage: node test/made.mjs NAME > page.html\nNAME is one of: ${NAMES.join(' ')}\n`);
        process.exitCode = 2;
    } else {
        stdout.write(page(argv[2]));
    }
}
