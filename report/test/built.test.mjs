// SPDX-License-Identifier: MIT
// The committed page is that of the sources, small, and asks no network for anything.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { digest, sources } from '../build.mjs';

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('the page was built of these sources', () => {
    assert.match(
        read('built/report.html'),
        new RegExp(`name="dftrace-sources" content="${digest()}"`),
        'run: npm run build',
    );
});

test('the page is below 300 KB, has one place for data, and a policy', () => {
    const page = read('built/report.html');

    assert.ok(page.length < 300e3);
    assert.equal(page.split('id="dftrace-data"></script>').length, 2);
    assert.equal(page.split('name="dftrace-live" content=""').length, 2);
    assert.match(page, /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/);
    assert.doesNotMatch(page, /<(script|link|img|iframe)[^>]+(src|href)=/);
});

test('no source makes markup of texts, and none names a registry', () => {
    for (const path of sources()) {
        const text = read(path);
        if (path.startsWith('src/'))
            assert.doesNotMatch(
                text,
                /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
                path,
            );
        assert.doesNotMatch(text, /"resolved"|"https?:\/\/[^"]*registry/, path);
    }
});
