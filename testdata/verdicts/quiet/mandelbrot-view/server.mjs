#!/usr/bin/env node
// mandelbrot-view: pictures of the Mandelbrot set. Two worker threads compute them; finished pictures are kept in
// ~/.cache/mandelbrot-view (at most 50 files, the oldest go first).
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import zlib from 'node:zlib';
import { Server } from './mcp.mjs';
import { steps } from './worker.mjs';

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'mandelbrot-view');
const KEEP = 50;
const PLACES = {
  whole: { re: -0.7, im: 0, width: 3.2 }, seahorses: { re: -0.7453, im: 0.1127, width: 0.0065 }, elephants: { re: 0.2825, im: 0.0101, width: 0.02 },
  spiral: { re: -0.761574, im: -0.0847596, width: 0.0008 }, 'mini set': { re: -1.7687, im: 0.0017, width: 0.012 },
};

class Pool {
  #workers = [];

  #waiting = new Map();

  #last = 0;

  #get(i) {
    return (this.#workers[i] ??= this.#start(i));
  }

  #start(i) {
    const worker = new Worker(new URL('./worker.mjs', import.meta.url));
    worker.unref();
    worker.on('message', ({ id, first, out }) => { this.#waiting.get(id)?.resolve({ first, out }); this.#waiting.delete(id); });
    worker.on('error', (error) => {
      this.#workers[i] = undefined;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    return worker;
  }

  compute({ height, ...view }) {
    const band = Math.ceil(height / 2);
    return Promise.all([0, 1].map((i) => new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#waiting.set(id, { resolve, reject });
      this.#get(i).postMessage({ id, ...view, first: i * band, rows: Math.min(band, height - i * band) });
    })));
  }

  close() { for (const worker of this.#workers) worker?.terminate(); }
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => { let c = n; for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1; return c >>> 0; });
const crc = zlib.crc32 ?? ((data) => { let c = 0xffffffff; for (const byte of data) c = TABLE[(c ^ byte) & 255] ^ (c >>> 8); return (c ^ 0xffffffff) >>> 0; });

function png(width, height, rgb) {
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc(body), 4 + body.length);
    return frame;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const raw = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++) rgb.copy(raw, y * (1 + 3 * width) + 1, y * 3 * width, (y + 1) * 3 * width);
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('IDAT', zlib.deflateSync(raw)), chunk('IEND', Buffer.alloc(0))]);
}

const pool = new Pool();

async function draw({ re, im, width: span, pixels, most }) {
  const height = Math.round(pixels * 0.75);
  const scale = span / pixels;
  const rgb = Buffer.alloc(3 * pixels * height);
  for (const { first, out } of await pool.compute({ re: re - span / 2, im: im + (height * scale) / 2, scale, width: pixels, height, most })) {
    out.forEach((n, i) => {
      if (n >= most) return; // the set itself stays black
      const t = Math.sqrt(n / most);
      rgb.set([255 * (0.5 - 0.5 * Math.cos(6 * t + 1)), 255 * (0.5 - 0.5 * Math.cos(8 * t + 0.4)), 255 * (0.5 - 0.5 * Math.cos(11 * t))], 3 * (first * pixels + i));
    });
  }
  return png(pixels, height, rgb);
}

async function shrink() {
  const files = await Promise.all((await readdir(cache)).filter((f) => f.endsWith('.png')).map(async (f) => ({ f, used: (await stat(join(cache, f))).mtimeMs })));
  for (const { f } of files.sort((a, b) => b.used - a.used).slice(KEEP)) await rm(join(cache, f), { force: true });
}

async function picture(view) {
  const file = join(cache, `${createHash('sha256').update(JSON.stringify(view)).digest('hex').slice(0, 32)}.png`);
  const known = await readFile(file).catch(() => null);
  if (known) {
    await utimes(file, new Date(), new Date());
    return { image: known, cached: true };
  }
  const image = await draw(view);
  await mkdir(cache, { recursive: true });
  await writeFile(`${file}.${process.pid}.new`, image);
  await rename(`${file}.${process.pid}.new`, file);
  await shrink();
  return { image, cached: false };
}

function within(name, value, low, high) {
  if (!(value >= low && value <= high)) throw new RangeError(`${name} is from ${low} to ${high}`);
  return value;
}

const answer = (view, { image, cached }) => ({ content: [{ type: 'image', data: image.toString('base64'), mimeType: 'image/png' }, { type: 'text', text: JSON.stringify({ ...view, cached }) }] });
const server = new Server('mandelbrot-view', { version: '1.0.0', instructions: 'Computes on this machine with two threads. Pictures are cached in ~/.cache/mandelbrot-view, at most 50.' });
const read = { annotations: { readOnlyHint: true, openWorldHint: false } };
const pixels = { type: 'integer', minimum: 32, maximum: 800, default: 320, description: 'Width of the picture; its height is three quarters of that' };
const most = { type: 'integer', minimum: 10, maximum: 2000, default: 200, description: 'Most steps for a point' };
const re = { type: 'number', minimum: -3, maximum: 3, examples: [-0.7453] };
const im = { type: 'number', minimum: -3, maximum: 3, examples: [0.1127] };

server.tool('draw_view', 'Draws a part of the Mandelbrot set as a PNG picture around a point. The picture is also kept in the cache ~/.cache/mandelbrot-view.',
  { required: { re, im, width: { type: 'number', exclusiveMinimum: 0, maximum: 6, description: 'Width of the part in the plane', examples: [0.01] } }, optional: { pixels, most }, ...read }, async ({ re, im, width, pixels = 320, most = 200 }) => {
    const view = { re: within('re', re, -3, 3), im: within('im', im, -3, 3), width: within('width', width, 1e-13, 6), pixels: within('pixels', pixels, 32, 800), most: within('most', most, 10, 2000) };
    return answer(view, await picture(view));
  });

server.tool('draw_place', `Draws a well-known place of the Mandelbrot set as a PNG picture: ${Object.keys(PLACES).join(', ')}. The picture is also kept in the cache ~/.cache/mandelbrot-view.`,
  { required: { place: { type: 'string', enum: Object.keys(PLACES) } }, optional: { pixels, most }, ...read }, async ({ place, pixels = 320, most = 300 }) => {
    if (!Object.hasOwn(PLACES, place)) throw new Error(`place is one of ${Object.keys(PLACES).join(', ')}`);
    const view = { ...PLACES[place], pixels: within('pixels', pixels, 32, 800), most: within('most', most, 10, 2000) };
    return answer(view, await picture(view));
  });

server.tool('test_point', 'Says after how many steps a point escapes, or that it does not within the limit. Pure calculation.', { required: { re, im }, optional: { most }, ...read }, ({ re, im, most = 200 }) => {
  const n = steps(within('re', re, -3, 3), within('im', im, -3, 3), within('most', most, 10, 2000));
  return n >= most ? { escapes: false, steps: most } : { escapes: true, steps: Math.max(0, Math.round(n * 100) / 100) };
});

server.tool('clear_pictures', 'Deletes the cached pictures in ~/.cache/mandelbrot-view.', { annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false } }, async () => {
  const files = (await readdir(cache).catch(() => [])).filter((f) => f.endsWith('.png'));
  for (const f of files) await rm(join(cache, f), { force: true });
  return `Deleted ${files.length} pictures.`;
});

server.ended = () => pool.close();
server.run();
