// SPDX-License-Identifier: MIT
// Bundles the page into built/report.html: one file, without data, that needs no network.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('.', import.meta.url);
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');

function filesBelow(folder) {
    return readdirSync(new URL(folder, ROOT), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? filesBelow(`${folder}${entry.name}/`) : [`${folder}${entry.name}`],
    );
}

/** Sources of the page, in order of their paths. */
export function sources() {
    return ['build.mjs', 'package.json', 'package-lock.json', 'page.css', 'page.html', ...filesBelow('src/')].sort();
}

/** SHA-256 of the sources: of each its path, a zero byte, its bytes, a zero byte. */
export function digest() {
    const hash = createHash('sha256');

    for (const path of sources())
        hash.update(path + '\0')
            .update(read(path))
            .update('\0');
    return hash.digest('hex');
}

/* Licences of what is bundled, as their authors ask. */
function licences() {
    const texts = ['uplot', 'fflate'].map((name) => `${name}\n${read(`node_modules/${name}/LICENSE`).trim()}`);

    return `/*!\n${texts.join('\n\n')}\n*/`;
}

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

async function bundle(path, banner = '') {
    const { build } = await import('esbuild');
    const result = await build({
        entryPoints: [fileURLToPath(new URL(path, ROOT))],
        bundle: true,
        minify: true,
        write: false,
        format: 'iife',
        target: 'es2021',
        banner: { [path.endsWith('.css') ? 'css' : 'js']: banner },
        charset: 'ascii',
        legalComments: 'inline',
        logLevel: 'warning',
        loader: { '.css': 'css' },
    });

    return result.outputFiles[0].text.trim();
}

/** The page. Scripts and styles run by their hashes alone, so nothing that the data name can run. */
export async function makePage() {
    const script = await bundle('src/main.js', licences()),
        style = await bundle('page.css');
    const policy = [
        "default-src 'none'",
        `script-src ${hashOf(script)}`,
        `style-src ${hashOf(style)}`,
        'img-src data:',
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    ].join('; ');
    const parts = { POLICY: policy, SOURCES: digest(), STYLE: style, SCRIPT: script };

    return read('page.html').replace(/%(POLICY|SOURCES|STYLE|SCRIPT)%/g, (_, name) => parts[name]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const page = await makePage();

    mkdirSync(new URL('built/', ROOT), { recursive: true });
    writeFileSync(new URL('built/report.html', ROOT), page);
    process.stdout.write(`built/report.html: ${page.length} bytes\n`);
}
