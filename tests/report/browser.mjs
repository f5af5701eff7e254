// SPDX-License-Identifier: MIT
// Opens pages in Chromium, as test_browser.py says on standard input, and prints what it saw as JSON.
//
//   {"url", "width", "dark", "before": script, "steps": [{"width", "select": {...}, "ids": [...], "run": script}], "shot": path}

import { createRequire } from 'node:module';

const { chromium } = createRequire(process.argv[2])('playwright-core');
const job = JSON.parse(await new Response(process.stdin).text());
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
               '--disable-sync'];

/* Looks at every picture: what is drawn, and by how many colours. Runs in the page. */
async function look() {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)));
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
        scrollTo(0, y);
        await frame();
    }
    scrollTo(0, 0);
    await frame();
    const colours = (canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
    };
    return [...document.querySelectorAll('section[id]')].map((section) => ({
        id: section.id, text: section.innerText.slice(0, 2000), rows: section.querySelectorAll('tbody tr, [role=row]').length,
        canvases: [...section.querySelectorAll('canvas')].filter((c) => c.width && c.height).map(colours),
    }));
}

const plain = (value) => JSON.parse(JSON.stringify(value, (key, v) => (ArrayBuffer.isView(v) ? Array.from(v) : v instanceof Map ? [...v] : v)));
const seen = { console: [], requests: [], answers: [], said: [] };
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
const context = await browser.newContext({ viewport: { width: job.width ?? 1400, height: 1000 }, colorScheme: job.dark ? 'dark' : 'light' });
const page = await context.newPage();

page.on('console', (message) => ['error', 'warning'].includes(message.type()) && seen.console.push(message.text()));
page.on('pageerror', (error) => seen.console.push(String(error)));
page.on('dialog', (dialog) => { seen.console.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
page.on('request', (request) => seen.requests.push(request.url()));
if (job.before)
    await page.addInitScript(job.before);
const began = Date.now();
await page.goto(job.url);
await page.waitForFunction(() => document.documentElement.dataset.state, null, { timeout: 60000 });
seen.ready_ms = Date.now() - began;
seen.state = await page.evaluate(() => document.documentElement.dataset.state);
seen.pictures = await page.evaluate(look);
for (const { width, select, ids, wait, run } of job.steps ?? []) {
    if (width)
        await page.setViewportSize({ width, height: 1000 });
    if (wait)
        await page.waitForFunction(wait, null, { timeout: 60000 });
    seen.answers.push(await page.evaluate(([change, names]) => {
        if (change) {
            window.dftrace.select({ t: null, p: null, c: null, g: null, f: null });
            window.dftrace.select(change);
        }
        const numbers = Object.fromEntries(names.map((id) => [id, window.dftrace.numbers(id)]));
        return JSON.stringify(numbers, (key, v) => (ArrayBuffer.isView(v) ? Array.from(v) : v));
    }, [select ?? null, ids ?? []]).then(JSON.parse));
    if (run)
        seen.said.push(await page.evaluate(run));
}
seen.text = await page.evaluate(() => document.body.innerText.slice(0, 20000));
seen.scrolls = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
if (job.shot)
    await page.screenshot({ path: job.shot, fullPage: true });
await browser.close();
process.stdout.write(JSON.stringify(plain(seen)));
