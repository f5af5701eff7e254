// SPDX-License-Identifier: MIT
// The place of the page as text behind `#`: a picture's id and the filter. Many values are packed.

import { deflateSync, inflateSync, strFromU8, strToU8 } from 'fflate';

import { DIMS, everything } from './filter.js';

/* More values of a dimension than these are packed. */
const MOST_PLAIN = 100;

/* Longer texts are left out: programs that hand on links cut them. */
const MOST_LETTERS = 16000;

/* No more values come out of a link, and no more bytes: a link may come from anybody. */
const MOST_VALUES = 200000,
    MOST_BYTES = 1 << 24;

const PACKED = '~';

/* A key as its text and the number at its end; null where that does not write itself the same way. */
function numbered(key) {
    const digits = /(?:0|[1-9]\d{0,14})$/.exec(key);

    return digits && !/\d$/.test(key.slice(0, digits.index)) ? [key.slice(0, digits.index), Number(digits[0])] : null;
}

/* KEYS with neighbours folded: "rank 3", "rank 4", "rank 5" are one entry. */
function foldedOf(keys) {
    const plain = [],
        byText = new Map();

    for (const key of keys) {
        const [text, number] = numbered(key) ?? [];
        if (text === undefined) plain.push(key);
        else if (byText.has(text)) byText.get(text).push(number);
        else byText.set(text, [number]);
    }
    const entries = plain.map((key) => `=${key}`);
    for (const [text, numbers] of byText) {
        numbers.sort((a, b) => a - b);
        for (let i = 0, j; i < numbers.length; i = j) {
            for (j = i + 1; j < numbers.length && numbers[j] === numbers[j - 1] + 1;) j++;
            entries.push(`${numbers[i]}-${numbers[j - 1]}=${text}`);
        }
    }
    return entries;
}

/* The opposite, of one entry. */
function unfolded(entry, keys) {
    const [, range, text] = /^([^=]*)=(.*)$/s.exec(entry) ?? [];

    if (range === '') keys.add(text);
    else if (/^\d+-\d+$/.test(range ?? '')) {
        const [from, to] = range.split('-').map(Number);
        for (let i = from; i <= to && keys.size < MOST_VALUES; i++) keys.add(text + i);
    }
}

const toLetters = (bytes) => {
    let text = '';

    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
};

function packed(keys) {
    return toLetters(deflateSync(strToU8(foldedOf(keys).join('\0')), { level: 9 }));
}

function unpacked(letters) {
    const keys = new Set();

    try {
        const bytes = Uint8Array.from(atob(letters.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
        const out = inflateSync(bytes, { out: new Uint8Array(Math.min(MOST_BYTES, bytes.length * 1100 + 1024)) });
        for (const entry of strFromU8(out).split('\0')) unfolded(entry, keys);
    } catch {
        keys.clear();
    }
    return keys;
}

/** Whether the values KEYS of a dimension stand in a link. */
export const isInLink = (keys) => keys.size <= MOST_PLAIN || packed(keys).length <= MOST_LETTERS;

/** The place of the page as text behind `#`: a picture's id and the filter. */
export function toHash(id, filter) {
    const words = new URLSearchParams();

    if (filter.t) words.set('t', filter.t.map(Math.round).join('..'));
    for (const dim of DIMS.slice(1)) {
        if (filter[dim].size <= MOST_PLAIN) {
            for (const key of filter[dim]) words.append(dim, key);
            continue;
        }
        const letters = packed(filter[dim]);
        if (letters.length <= MOST_LETTERS) words.append(dim + PACKED, letters);
    }
    const text = words.toString();
    return (id || text ? '#' : '') + (id ?? '') + (text ? '?' + text : '');
}

/** The opposite: `{id, filter}`. What is not understood is left out. */
export function fromHash(hash) {
    const [id, text = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
    const filter = everything();
    const words = new URLSearchParams(text);
    const range = (words.get('t') ?? '').split('..').map(Number);

    if (words.has('t') && range.length === 2 && range.every(Number.isFinite) && range[0] < range[1]) filter.t = range;
    for (const dim of DIMS.slice(1)) {
        filter[dim] = new Set(words.getAll(dim));
        for (const letters of words.getAll(dim + PACKED)) for (const key of unpacked(letters)) filter[dim].add(key);
    }
    return { id, filter };
}
