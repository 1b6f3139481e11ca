// Draws with text: differences of two texts, bar charts, trees, and flow charts as SVG.
import { deflateRawSync } from 'node:zlib';
import { Server, string } from './mcp.mjs';

const pure = { readOnlyHint: true, openWorldHint: false };
const server = new Server('text-diagram', { version: '0.8.0' });

function diff(a, b) {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  const out = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.push(`  ${a[i++]}`); j++; } else if (j < b.length && (i === a.length || lengths[i][j + 1] > lengths[i + 1][j])) out.push(`+ ${b[j++]}`);
    else out.push(`- ${a[i++]}`);
  }
  return out;
}

server.tool('compare_texts', 'Shows which lines differ between two texts, and how alike they are by compression.', { required: { before: string, after: string }, annotations: pure }, ({ before, after }) => {
  const [a, b] = [before, after].map((t) => t.split('\n').slice(0, 800));
  const size = (t) => deflateRawSync(t.slice(0, 1e5)).length;
  const alike = 1 - (size(before + after) - Math.min(size(before), size(after))) / Math.max(size(before), size(after));
  return `${diff(a, b).join('\n')}\n\nalike: ${Math.round(Math.min(Math.max(alike, 0), 1) * 100)}%`;
});

server.tool('bar_chart', 'Draws a bar chart with characters.', {
  required: { values: { type: 'object', additionalProperties: { type: 'number' }, examples: [{ apples: 3, pears: 5 }] } }, annotations: pure,
}, ({ values }) => {
  const rows = Object.entries(values).filter(([, v]) => typeof v === 'number' && v >= 0).slice(0, 100);
  const most = Math.max(...rows.map(([, v]) => v), 1);
  const width = Math.max(...rows.map(([k]) => k.length), 0);
  return rows.map(([k, v]) => `${k.padEnd(width)} ${'█'.repeat(Math.round((v / most) * 40))} ${v}`).join('\n') || 'There is nothing to draw.';
});

server.tool('tree', 'Draws a tree from lines that are indented by two spaces each.', { required: { outline: { ...string, examples: ['root\n  child\n    leaf\n  other'] } }, annotations: pure }, ({ outline }) => {
  const lines = outline.split('\n').filter((l) => l.trim()).slice(0, 500).map((l) => ({ depth: Math.min(Math.floor(/^ */.exec(l)[0].length / 2), 40), text: l.trim() }));
  const lastOf = (i) => { for (let j = i + 1; j < lines.length && lines[j].depth >= lines[i].depth; j++) if (lines[j].depth === lines[i].depth) return false; return true; };
  const open = [];
  return lines.map(({ depth, text }, i) => {
    open[depth] = !lastOf(i);
    return depth ? `${Array.from({ length: depth - 1 }, (_, d) => (open[d + 1] ? '│  ' : '   ')).join('')}${open[depth] ? '├─ ' : '└─ '}${text}` : text;
  }).join('\n') || 'The outline is empty.';
});

server.tool('flow_svg', 'Draws a flow chart of steps from left to right as SVG.', { required: { steps: { type: 'array', items: string, maxItems: 12 } }, annotations: pure }, ({ steps }) => {
  const safe = (t) => String(t).slice(0, 24).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const boxes = steps.slice(0, 12).map((step, i) => `<g><rect x="${10 + i * 170}" y="10" width="130" height="44" rx="6" fill="#eef" stroke="#336"/><text x="${75 + i * 170}" y="37" text-anchor="middle" font-size="12">${safe(step)}</text></g>${i ? `<path d="M${i * 170 - 30} 32h36" stroke="#336" marker-end="url(#a)"/>` : ''}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${20 + boxes.length * 170}" height="64"><defs><marker id="a" orient="auto" markerWidth="6" markerHeight="6" refY="3" refX="5"><path d="M0 0l6 3-6 3z"/></marker></defs>${boxes.join('')}</svg>`;
});

server.run();
