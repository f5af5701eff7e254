// What Node does with files: synchronous, by promises, in streams, on threads, and with child processes.
const fs = require('fs'), path = require('path'), assert = require('assert'), child = require('child_process');
const { Worker, isMainThread, workerData } = require('worker_threads'), { pipeline } = require('stream/promises'), zlib = require('zlib');
if (!isMainThread) {
    for (let i = 0; i < 200; i++) fs.appendFileSync(workerData, `${i}\n`);
    process.exit(0);
}
async function main() {
    fs.writeFileSync('a', 'x'.repeat(100000));
    const fd = fs.openSync('a', 'r+');
    const b = Buffer.alloc(1000);
    assert.equal(fs.readSync(fd, b, 0, 1000, 99500), 500);
    assert.equal(fs.writevSync(fd, [Buffer.from('one'), Buffer.from('two')], 10), 6);
    fs.ftruncateSync(fd, 50); fs.fsyncSync(fd); fs.fdatasyncSync(fd); fs.futimesSync(fd, 1e9, 1e9); fs.closeSync(fd);
    console.log(fs.readFileSync('a', 'latin1'), fs.statSync('a').mtimeMs, fs.statSync('a', { bigint: true }).size);
    for (const f of [() => fs.openSync('nosuch'), () => fs.rmdirSync('a'), () => fs.mkdirSync('a'), () => fs.closeSync(4000),
        () => fs.readlinkSync('a'), () => fs.renameSync('nosuch', 'b'), () => fs.readdirSync('a')])
        try { f(); console.log('no error'); } catch (e) { console.log(e.code, e.syscall); }
    await Promise.all([...Array(100).keys()].map(async (i) => {
        await fs.promises.mkdir(`d/${i % 5}`, { recursive: true });
        await fs.promises.writeFile(`d/${i % 5}/${i}`, `${i}`.repeat(i * 10));
        await fs.promises.copyFile(`d/${i % 5}/${i}`, `d/${i % 5}/copy${i}`);
        const h = await fs.promises.open(`d/${i % 5}/copy${i}`, 'a+'); await h.appendFile('end'); await h.datasync(); await h.close();
        await fs.promises.rename(`d/${i % 5}/copy${i}`, `d/${i % 5}/moved${i}`);
    }));
    console.log(fs.readdirSync('d', { recursive: true }).sort().join(' ').length);
    await pipeline(fs.createReadStream('d/4/99'), zlib.createGzip(), fs.createWriteStream('z.gz'));
    await pipeline(fs.createReadStream('z.gz'), zlib.createGunzip(), fs.createWriteStream('z'));
    assert.deepEqual(fs.readFileSync('z'), fs.readFileSync('d/4/99'));
    await fs.promises.cp('d', 'e', { recursive: true }); await fs.promises.rm('d', { recursive: true });
    for await (const entry of await fs.promises.opendir('e/0')) assert(entry.isFile());
    fs.symlinkSync('z', 'link'); console.log(fs.readlinkSync('link'), fs.realpathSync('link') === path.resolve('z'), fs.existsSync('nosuch'));
    fs.linkSync('z', 'hard'); fs.chmodSync('z', 0o600); fs.lutimesSync('link', 1, 2); fs.accessSync('z', fs.constants.W_OK); fs.unlinkSync('hard');
    console.log(fs.mkdtempSync('temp-').length, fs.statfsSync('.').bsize > 0);
    const changes = new Promise((ok) => { const w = fs.watch('e', (kind, name) => { w.close(); ok(name); }); setTimeout(() => fs.writeFileSync('e/new', ''), 50); });
    console.log(await changes);
    await Promise.all([1, 2, 3].map((i) => new Promise((ok) => new Worker(__filename, { workerData: 'lines' }).on('exit', ok))));
    fs.writeFileSync('lines', fs.readFileSync('lines', 'utf8').split('\n').sort().join('\n'));
    console.log(child.execSync('cat; echo $0', { input: 'to the child' }).toString(), child.spawnSync('sh', ['-c', 'echo err >&2; exit 4']).status);
    const [r] = await Promise.all([new Promise((ok) => { const c = child.spawn('sort', ['-r'], { stdio: ['pipe', 'pipe', 'inherit', fs.openSync('third', 'w')] });
        let text = ''; c.stdout.on('data', (d) => { text += d; }); c.on('close', (code) => ok(text + code)); c.stdin.end('1\n2\n3\n'); })]);
    console.log(r);
    console.log(await new Promise((ok) => { const c = child.fork(__filename, ['forked']); c.on('message', (m) => { c.disconnect(); ok(m); }); }));
    await new Promise((ok) => { const s = require('net').createServer((c) => c.pipe(c)).listen('socket', () => { const c = require('net').connect('socket', () => c.end('echo')); c.on('data', (d) => console.log(`${d}`)); c.on('close', () => s.close(ok)); }); });
}
if (process.argv[2] === 'forked') process.send({ from: 'child' });
else main().then(() => { process.exitCode = 6; });
