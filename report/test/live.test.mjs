// SPDX-License-Identifier: MIT
// A live page says why its server has no data.

import assert from 'node:assert/strict';
import test from 'node:test';

import { reasonOf } from '../src/live.js';

test('the text of a server without data is shown; markup, or nothing, is not', async () => {
    const reason = (text, status = 503) => reasonOf(new Response(text, { status }));

    assert.equal(await reason('dftmerge: no trace found.\ndftmerge: run dftrun\n'), 'no trace found. run dftrun');
    assert.equal(await reason('<html>gone</html>', 502), 'the server answers 502');
    assert.equal(await reason('', 500), 'the server answers 500');
    assert.ok((await reason('x'.repeat(9999))).length <= 300);
});
