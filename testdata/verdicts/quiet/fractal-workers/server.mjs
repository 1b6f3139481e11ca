// Draws the Mandelbrot set in characters. Rows are computed by worker threads that start with the first call.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';

if (!isMainThread) {
  parentPort.on('message', ({ job, y, xs, depth }) => {
    const row = xs.map((x) => {
      let [a, b, n] = [0, 0, 0];
      while (n < depth && a * a + b * b < 4) [a, b, n] = [a * a - b * b + x, 2 * a * b + y, n + 1];
      return n;
    });
    parentPort.postMessage({ job, row });
  });
} else {
  const { Server } = await import('./mcp.mjs');
  const shades = ' .:-=+*#%@';
  const jobs = new Map();
  let workers = null;
  let last = 0;

  const start = () => Array.from({ length: Math.min(3, availableParallelism()) }, () => {
    const worker = new Worker(fileURLToPath(import.meta.url), { env: {}, resourceLimits: { maxOldGenerationSizeMb: 64 } });
    worker.unref();
    return worker.on('message', ({ job, row }) => { jobs.get(job)?.(row); jobs.delete(job); });
  });

  const compute = (task) => new Promise((resolve) => {
    workers ??= start();
    const job = ++last;
    jobs.set(job, resolve);
    workers[job % workers.length].postMessage({ job, ...task });
  });

  const number = { type: 'number' };
  const clamp = (n, low, high) => Math.min(Math.max(n, low), high);
  const server = new Server('fractal-workers', { version: '0.1.3' });
  const pure = { readOnlyHint: true, openWorldHint: false };

  server.tool('mandelbrot', 'Draws a part of the Mandelbrot set in characters. Computed by worker threads.', {
    optional: { x: number, y: number, zoom: { type: 'number', exclusiveMinimum: 0 }, width: { type: 'integer', minimum: 10, maximum: 120 }, depth: { type: 'integer', minimum: 5, maximum: 1000 } },
    annotations: pure,
  }, async ({ x = -0.6, y = 0, zoom = 1, width = 60, depth = 80 }) => {
    const w = clamp(width, 10, 120);
    const d = clamp(depth, 5, 1000);
    const h = Math.round(w * 0.4);
    const step = 3 / w / clamp(zoom, 0.01, 1e12);
    const xs = Array.from({ length: w }, (_, i) => x + (i - w / 2) * step);
    const rows = await Promise.all(Array.from({ length: h }, (_, j) => compute({ y: y + (j - h / 2) * step * 2.2, xs, depth: d })));
    return rows.map((row) => row.map((n) => (n >= d ? '@' : shades[Math.floor((n / d) * shades.length)])).join('')).join('\n');
  });

  server.tool('escape_time', 'Says after how many steps a point leaves the Mandelbrot set.', { required: { x: number, y: number }, annotations: pure }, async ({ x, y }) => {
    const [n] = await compute({ y, xs: [x], depth: 1000 });
    return n === 1000 ? 'It stays, for a thousand steps at least.' : `${n} steps`;
  });

  server.ended = () => workers?.forEach((worker) => worker.terminate());
  server.run();
}
