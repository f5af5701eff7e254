// SPDX-License-Identifier: MIT
// Numbers of cards and tables are those of the summary that was counted from the same events, also under a filter.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { IO, READ, WORDS, WRITE } from '../src/classes.js';
import { decode } from '../src/data.js';
import { changed, everything } from '../src/filter.js';
import { titleOf } from '../src/bar.js';
import { View } from '../src/model.js';
import { comparison } from '../src/pictures/headline.js';
import { endsOf } from '../src/pictures/people.js';
import { placesOf } from '../src/pictures/places.js';
import { commonFolder, folderOf, shortOf } from '../src/pictures/folder.js';
import { costOf } from '../src/pictures/findings.js';
import { isLibrary } from '../src/pictures/flame_numbers.js';
import { inOrder, pictures } from '../src/pictures/index.js';
import { isShown, stateOf } from '../src/pictures/parts.js';
import { drawProof } from '../src/pictures/proofs.js';
import { stateOfRun } from '../src/run_state.js';
import { encode } from './encode.mjs';
import { NAMES, runsOf } from './made.mjs';
import { colours, stubPage } from './stub_page.mjs';

const open = (name) => decode(Uint8Array.from(encode(runsOf(name)))).runs;
const picture = (id) => pictures.find((one) => one.id === id);
const numbers = (view, id) => view.numbers(picture(id));
const sum = (values) => values.reduce((all, value) => all + value, 0);
const isIo = (word) => IO.includes(WORDS.indexOf(word));

for (const name of ['small', 'ranks'])
    test(`cards of ${name} are its summary`, () => {
        const [run] = open(name),
            { summary } = run,
            view = new View(run, everything());
        const head = numbers(view, 'headline'),
            io = summary.classes.filter((one) => isIo(one.class));
        const of = (word) => summary.classes.find((one) => one.class === word) ?? { count: 0, time_ns: 0, bytes: 0 };

        assert.equal(head.calls, sum(io.map((one) => one.count)));
        assert.equal(head.io_ns, sum(io.map((one) => one.time_ns)));
        assert.equal(head.failed, sum(io.map((one) => one.errors)));
        assert.equal(head.read_bytes, of('read').bytes);
        assert.equal(head.written_bytes, of('write').bytes);
        for (const line of numbers(view, 'latency').classes) assert.equal(line.calls, of(line.class).count);

        const moved = numbers(view, 'bandwidth');
        assert.equal(sum(moved.read_bytes), of('read').bytes);
        assert.equal(sum(moved.written_bytes), of('write').bytes);

        const sizes = numbers(view, 'sizes').rows;
        for (const kind of [READ, WRITE]) {
            assert.equal(sum(sizes.map((row) => row.calls[WORDS[kind]])), of(WORDS[kind]).count);
            assert.equal(sum(sizes.map((row) => row.time_ns[WORDS[kind]])), of(WORDS[kind]).time_ns);
        }
    });

for (const name of ['small', 'ranks'])
    test(`tables of ${name} are its summary`, () => {
        const [run] = open(name),
            { summary } = run,
            view = new View(run, everything());
        const calls = numbers(view, 'calls'),
            files = numbers(view, 'files'),
            people = numbers(view, 'people');
        const kinds = run.table('calls').class;

        for (const one of summary.calls) {
            const row = calls.name.findIndex((text, c) => text === one.name && WORDS[kinds[c]] === one.class);
            assert.deepEqual(
                [calls.calls[row], calls.failed[row], calls.time_ns[row], calls.bytes[row]],
                [one.count, one.errors, one.time_ns, one.bytes],
            );
        }
        for (const one of summary.files) {
            const row = files.path.indexOf(one.file);
            assert.deepEqual(
                [files.all_calls[row], files.all_failed[row], files.all_ns[row], files.all_bytes[row]],
                [one.count, one.errors, one.time_ns, one.bytes],
            );
        }
        for (const one of summary.by_rank)
            assert.deepEqual([people.all_calls[one.rank ?? 0], people.all_ns[one.rank ?? 0]], [one.count, one.time_ns]);
    });

test('a rank that is chosen filters all but its own table', () => {
    const [run] = open('ranks'),
        view = new View(run, changed(everything(), run, { p: [17] })),
        whole = new View(run, everything());

    assert.equal(numbers(view, 'headline').io_ns, numbers(whole, 'people').time_ns[17]);
    assert.deepEqual(numbers(view, 'people').time_ns, numbers(whole, 'people').time_ns);
    assert.equal(sum(numbers(view, 'files').all_calls), numbers(whole, 'people').all_calls[17] - 16);
    assert.equal(numbers(view, 'headline').processes, 1);
});

test('bars of classes are the average, and the rank with the most', () => {
    const [run] = open('ranks'),
        view = new View(run, everything());
    const [all, most] = numbers(view, 'classes').bars,
        people = numbers(view, 'people').time_ns;

    assert.equal(most.row, 17);
    assert.equal(most.io_ns, people[17]);
    assert.ok(Math.abs(all.io_ns - sum(people) / 48) < 1);
});

test('findings lead to their rank, files and time', () => {
    const [run] = open('ranks'),
        places = placesOf(run, run.summary.findings[0]);

    assert.deepEqual(places[0].change, { p: [17] });
    assert.equal(places[1].change.f.length, 49);
    assert.ok(places[2].change.t[0] < places[2].change.t[1]);
    const [small] = open('small'),
        text = small.table('patterns').text.find((one) => one.includes('#')) ?? small.table('patterns').text[0],
        [like] = placesOf(small, { rank: null, where: text });
    assert.ok(
        like.change.f.length > 0 &&
            like.change.f.every((f) => small.table('patterns').text[small.table('files').pattern[f]] === text),
    );
    assert.deepEqual(placesOf(run, { rank: 99, where: '/not/there', from_ns: null, to_ns: null }), []);
});

test('two runs are told apart in a sentence', () => {
    const [a, b] = open('two').map((run) => ({ run }));

    assert.match(comparison(a, b), /^B is 1\.3x slower: 2\.51 s instead of 1\.89 s$/);
    assert.match(comparison(b, a), /^A is 1\.3x faster: 1\.89 s instead of 2\.51 s$/);
    assert.match(comparison(a, a), /takes as long/);
    assert.match(comparison({ run: { wall_ns: 0 } }, b), /ran 2\.51 s instead of 0 ns/);
});

test('each picture has numbers and a sentence for each made run', () => {
    for (const name of NAMES.filter((one) => !['rows', 'files', 'many'].includes(one)))
        for (const run of open(name)) {
            const view = new View(run, everything());
            for (const one of pictures.filter((shown) => !shown.lacks?.(run))) {
                const found = view.numbers(one);
                assert.ok(Array.isArray(found.ignored), one.id);
                const text = one.sentence?.(view, found) ?? '';
                assert.doesNotMatch(text, /NaN|undefined|Infinity|\[object/, `${name} ${one.id}`);
            }
        }
});

/* The text of the first card of RUN. */
function headlineOf(run) {
    const view = new View(run, everything(), { colours }),
        { host } = stubPage(900);

    picture('headline').draw(host, view, numbers(view, 'headline'));
    return host.textContent;
}

test('risks stand apart from what was measured', () => {
    const [small] = open('small');
    assert.match(headlineOf(small), /Risk: .*at most 240 round trips, 120 ms/);
    for (const { title } of small.summary.risks) assert.ok(headlineOf(small).includes(`${title}`));
    assert.match(headlineOf(small), new RegExp(`Risk: ${small.summary.risks[0].title}`), 'named without a click');
    assert.doesNotMatch(headlineOf(open('ranks')[0]), /Risk/);
});

test('the first finding has its calls and one picture; others have a line, and what says nothing has no tile', () => {
    const small = headlineOf(open('small')[0]),
        ranks = headlineOf(open('ranks')[0]);

    assert.match(small, /fsync200775 ms3\.88 msHow long calls take: sync on all files/);
    assert.match(small, /1-byte reads table\.bin280 ms/);
    const missing = open('small')[0];
    missing.summary.findings = missing.summary.findings.filter(({ code }) => code === 'missing');
    assert.match(headlineOf(missing), /callcallsfailedtimea callstat4,0004,000/, 'calls that do not fail are no proof');
    assert.match(ranks, /pwrite1441\.34 s9\.30 ms1\.00 MiB.*Who does I\/O, and when/);
    const quiet = open('small')[0];
    quiet.summary.findings = [];
    const view = new View(quiet, changed(everything(), quiet, { class: ['read'] }), { colours });
    const { host } = stubPage(900);
    picture('headline').draw(host, view, numbers(view, 'headline'));
    assert.doesNotMatch(host.textContent, /sync\d|written\d|metadata\d|start-up\d/);
});

test('a finding of calls that fail is proved by calls of its classes', () => {
    const failing = (classes) => {
        const [run] = open('small');
        run.summary.findings = run.summary.findings
            .filter(({ code }) => code === 'missing')
            .map((finding) => ({ ...finding, code: 'failing', classes }));
        return headlineOf(run);
    };

    assert.match(failing([]), /stat4,0004,000/);
    assert.match(failing(['meta']), /stat4,0004,000/);
    assert.doesNotMatch(failing(['write', 'sync']), /stat4,0004,000/);
});

test('proofs of two findings have a zoom of their own, and keep what they have summed', () => {
    const [run] = open('small'),
        element = (view) => drawProof(stubPage(900).host, view, run.summary.findings[0]);
    const states = ['', 'finding 1', 'finding 2'].map((small) => stateOf({ run, small }, 'heat'));
    let reads = 0;

    assert.equal(new Set(states).size, 3);
    assert.equal(states[1], stateOf({ run, small: 'finding 1' }, 'heat'));
    for (const cube of run.cubes) {
        const columns = cube.columns.bind(cube);
        cube.columns = () => (reads++, columns());
    }
    element(new View(run, everything(), { colours }));
    const before = reads;
    assert.ok(before > 0);
    element(new View(run, everything(), { colours }));
    assert.equal(reads, before);
});

test('cards stand in the order of what was found, and only those that say something', () => {
    const ids = (name) => {
        const [run] = open(name);
        return inOrder(run)
            .filter((one) => isShown(one, [run]))
            .map((one) => one.id);
    };

    assert.deepEqual(ids('ranks').slice(0, 3), ['headline', 'heat', 'ranks']);
    assert.deepEqual(ids('train').slice(0, 3), ['headline', 'overlap', 'regions']);
    for (const id of ['heat', 'ranks', 'people', 'tree', 'overlap', 'spans']) assert.ok(!ids('small').includes(id), id);
    for (const name of ['small', 'ranks'])
        assert.equal(Math.abs(ids(name).indexOf('classes') - ids(name).indexOf('sizes')), 1, `${name}: side by side`);
});

test('the header says how a run ended', () => {
    const [run] = open('ranks');
    const state = (ended) => stateOfRun({ ...run, ended: { ...run.ended, ...ended } });
    const first = { rank: 5, pid: 1005, signal: 'SIGSEGV', status: 11 };

    assert.deepEqual(stateOfRun(run), { state: 'ended', text: 'ended' });
    assert.deepEqual(state({ done: 45, running: 3 }), { state: 'running', text: 'running: 3 of 48' });
    assert.deepEqual(state({ done: 45, killed: 3, first }), {
        state: 'failed',
        text: 'rank 5 died: SIGSEGV',
        whole: '3 of 48 ended badly',
    });
    assert.equal(state({ done: 47, killed: 1, first: { ...first, signal: null } }).text, 'rank 5 died: killed');
    assert.equal(state({ done: 47, failed: 1, first: { rank: null, signal: null, status: 3 } }).text, 'exit 3');
    assert.equal(state({ done: 40, failed: 1, killed: 7, first: null }).text, '8 of 48 ended badly');
    assert.deepEqual(state({ done: 46, unseen: 2 }), { state: 'unknown', text: 'without an end: 2 of 48' });
    assert.equal(stateOfRun({ ...run, ended: undefined }).text, 'ended');
});

test('of several jobs the header and the table say which ended badly', () => {
    const [run] = open('ranks');
    const ends = ['exit', 'exit 4', 'SIGSEGV', 'exit'];
    const overview = ends.map((ended, i) => ({ name: `r${i}`, job: `${i}`, ended, io_ns: 7 }));
    const jobs = [1, 2, 3].map((i) => ({ name: `${i}`, start_ns: 0, end_ns: 5 }));
    const of = (summary) => ({ ...run, summary: { ...run.summary, ...summary } });

    assert.deepEqual(stateOfRun(of({ overview, jobs })), {
        state: 'failed',
        text: '2 of 3 jobs ended badly',
        whole: '1: exit 4, 2: SIGSEGV',
    });
    assert.equal(stateOfRun(of({ overview: overview.slice(0, 2), jobs })).text, 'at least 1 of 3 jobs ended badly');
    assert.equal(stateOfRun(of({ overview, jobs: jobs.slice(0, 1) })).text, 'ended', 'the others are not shown');
    const said = new View(of({ overview, jobs }), everything());
    assert.match(picture('jobs').sentence(said, numbers(said, 'jobs')), /^3 jobs, 2 ended badly; /);
    assert.deepEqual(numbers(said, 'jobs').jobs.map(({ ended, io_ns }) => [ended, io_ns])[2], ['exit', 7]);
});

test('the header names a program without its folder, and says how many jobs there are', () => {
    assert.equal(titleOf({ title: '/usr/bin/python3 train.py /data/x' }), 'python3 train.py /data/x');
    assert.equal(titleOf({ title: './solver' }), './solver');
    assert.equal(titleOf({ title: '/a b', summary: { jobs: [{ name: '1' }, { name: '2' }] } }), '2 jobs');
});

test('time in I/O is the sum, and says of what it is a share', () => {
    const [run] = open('ranks'),
        view = new View(run, everything());
    const head = numbers(view, 'headline'),
        share = `${((100 * head.io_ns) / head.lives_ns).toFixed(1)} % of all processes`;

    const { host } = stubPage(900);
    picture('headline').draw(host, Object.assign(new View(run, everything(), { colours })), head);
    assert.ok(host.textContent.replaceAll('\u00a0', ' ').includes(share), host.textContent);
    assert.ok(picture('bandwidth').sentence(view, numbers(view, 'bandwidth')).endsWith(`; I/O is ${share}.`));
    assert.ok(picture('classes').sentence(view, numbers(view, 'classes')).startsWith(`I/O is ${share}, most of it `));
    assert.match(
        picture('bandwidth').sentence(view, numbers(view, 'bandwidth')),
        /at most [\d.]+ \w+\/s in [\d.]+ \w+;/,
    );
});

test('what execs is one process, and the table says who died first', () => {
    const [run] = open('ranks'),
        table = run.table('processes'),
        count = table.rows;
    const ends = ['exec', 'killed', 'killed', 'killed', 'SIGTERM', 'SIGSEGV'];
    const ended = Array.from(table.ended, (_, i) => ends[i] ?? 'SIGTERM');
    const other = { ...run, ended: { first: { pid: table.pid[5] } } };
    const changedTable = (name) => (name === 'processes' ? { ...table, ended } : run.table(name));
    const view = new View({ ...other, table: changedTable }, everything());
    const tree = numbers(view, 'tree');

    assert.equal(view.lives().count, count - 1);
    assert.equal(numbers(view, 'headline').processes, count - 1);
    assert.equal(tree.count, count);
    const known = count - 4;
    assert.ok(
        picture('tree').sentence(view, tree).startsWith(
            `${count - 1} killed: ${known - 1} by SIGTERM, 1 by SIGSEGV, 3 by an unknown signal ` +
                `(or left by a raw exit_group). ` +
                `${count - 1} processes (${count} programs), `,
        ),
        picture('tree').sentence(view, tree),
    );
    assert.equal(endsOf(view.run).get(table.p[5]), 'SIGSEGV, first');
    assert.equal(endsOf(view.run).get(table.p[6]), 'SIGTERM');
});

test('names stand without the folder that most of the I/O is below', () => {
    const paths = ['', '/s/ann/run/out/log', '/s/ann/run/in/a', '/usr/lib/x.so', '/etc/p'];
    const [run] = open('small');

    assert.equal(commonFolder(paths, [0, 60, 35, 3, 2]), '/s/ann/run/');
    assert.equal(commonFolder(paths, [0, 60, 3, 3, 2]), '/s/ann/run/out/');
    assert.equal(commonFolder(paths, [0, 1, 1, 40, 40]), '', 'no folder has most');
    assert.equal(commonFolder([], []), '');
    assert.equal(folderOf(run), '/scratch/run/');
    assert.deepEqual(
        ['/scratch/run/journal.log', '/scratch/run/', '/etc/hosts'].map((path) => shortOf(run, path)),
        ['journal.log', '/scratch/run/', '/etc/hosts'],
    );
});

test('sizes that are not known are not those of 0 B', () => {
    const [run] = open('small');

    run.sizes[0] = run.sizes[1] = { from: 0, to: 0 };
    const view = new View(run, everything());
    const kept = view.sums(['s', 'class'], { columns: ['n', 'd', 'b'] });
    kept.n[READ] = kept.n[7 + READ] = 5;
    assert.deepEqual(
        numbers(view, 'sizes')
            .rows.slice(0, 2)
            .map((row) => row.name),
        ['not known', '0 B'],
    );
});

test('traces of several jobs begin with them; a note is said once', () => {
    const [run] = open('small');
    const start = Number(run.base_ns);

    assert.equal(isShown(picture('jobs'), [run]), false);
    run.summary.jobs = [1, 2].map((i) => ({
        name: `job ${i}`,
        processes: i,
        start_ns: start,
        end_ns: start + i * 1e9,
    }));
    assert.equal(inOrder(run)[1].id, 'jobs');
    const view = new View(run, everything()),
        found = numbers(view, 'jobs');
    assert.ok(isShown(picture('jobs'), [run]));
    assert.match(picture('jobs').sentence(view, found), /^2 jobs; the longest is job 2: 2\.00 s\./);

    run.summary.findings_notes = 'clocks differ by 3 us; a rank has none';
    run.summary.notes = ['clocks differ by 3 us', 'clocks differ by 3 us', 'another'];
    const { lines } = numbers(new View(run, everything()), 'missing');
    assert.equal(lines.filter((line) => line.includes('clocks')).length, 1);
    assert.ok(lines.includes('another'));
});

test('a finding of a job with ranks costs what the job loses', () => {
    const finding = { cost_ns: 661e9, of_ns: 60000e9, of: 'processes', cost_job_ns: null, job_ns: null };

    assert.deepEqual(costOf(finding), { ns: 661e9, whole: 60000e9, of: 'of all processes' });
    assert.deepEqual(costOf({ ...finding, cost_job_ns: 1e9, job_ns: 60e9 }), {
        ns: 1e9,
        whole: 60e9,
        of: 'of the job at most',
    });
    assert.deepEqual(costOf({ cost_ns: 5, of_ns: 10 }), { ns: 5, whole: 10, of: '' });
});

test('a call in flight is a wait, and is said once', () => {
    const [run] = open('small'),
        { pid } = run.table('processes'),
        ts = Number(run.base_ns) + 1e9,
        flight = { pid: pid[0], tid: pid[0], ts, name: 'flock', file: '/s/lock', for_ns: 5e6 };
    const before = numbers(new View(run, everything()), 'timeline').rest_ns;

    run.in_flight = 'in flight now: flock of /s/lock for 5.00 ms';
    const verdict = { line: run.in_flight, level: 'in-flight', more: ['waits in flock'], more_levels: ['findings'] };
    Object.assign(run.summary, { in_flight: [flight], verdict });
    Object.assign(run.summary.findings[0], { code: 'in-flight', title: 'waits in flock', evidence: run.in_flight });
    const view = new View(run, everything()),
        found = numbers(view, 'timeline');
    assert.ok(Math.abs(before - found.rest_ns - 5e6) < 1000);
    assert.ok(Math.abs(numbers(view, 'classes').bars[0].rest_ns - found.rest_ns) < 1);
    assert.match(picture('timeline').sentence(view, found), /Without an end: flock of \/s\/lock, 5\.00 ms so far\./);
    const said = headlineOf(run);
    assert.equal(said.split(run.in_flight).length - 1, 1);
    assert.equal(said.split('waits in flock').length - 1, 1);
});

test('own code and libraries are told apart, and a finding leads to its line in stacks', () => {
    const names = ['main (a.c:3)', 'run [clone .isra.0]', 'read [libc.so.6]', 'load [__init__.py:346]', 'all'];
    assert.deepEqual(names.map(isLibrary), [false, false, true, true, false]);

    const [run] = open('train');
    assert.ok(run.has('stacks'));
    run.table('stacks').text[1] = 'main (a.c:3);get (slow.c:31)';
    const [place] = placesOf(run, { line: '/home/ann/slow.c:31', rank: null, where: null });
    assert.deepEqual(place, { text: 'slow.c:31', change: {}, to: 'flame', search: '(slow.c:31)' });
    assert.deepEqual(placesOf(run, { line: '/home/ann/slow.c:32', rank: null, where: null }), []);
});
