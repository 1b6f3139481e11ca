#!/usr/bin/env node
// palette-picker: contrast and palettes. Preferences live in $XDG_CONFIG_HOME/palette-picker/config.json, made at the first start.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const CONFIG_DIR = join(process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'palette-picker');
const CONFIG = join(CONFIG_DIR, 'config.json');
const defaults = { format: 'hex', wcag: 'AA', steps: 5 };
let prefs = { ...defaults };

async function loadPrefs() {
  try {
    const stored = JSON.parse(await readFile(CONFIG, 'utf8'));
    for (const name of Object.keys(defaults)) if (typeof stored[name] === typeof defaults[name]) prefs[name] = stored[name];
  } catch (err) {
    if (err.code === 'ENOENT') await savePrefs().catch(() => {});
  }
}

async function savePrefs() {
  await mkdir(CONFIG_DIR, { recursive: true });
  await writeFile(CONFIG + '~', JSON.stringify(prefs, null, 2) + '\n');
  await rename(CONFIG + '~', CONFIG);
}

const parse = (text) => {
  const m = /^#?([0-9a-f]{6})$/i.exec(String(text).trim());
  return m && [0, 2, 4].map((i) => parseInt(m[1].slice(i, i + 2), 16));
};
const show = (rgb) => (prefs.format === 'rgb' ? `rgb(${rgb.join(', ')})` : '#' + rgb.map((c) => c.toString(16).padStart(2, '0')).join(''));
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const color = { type: 'string', description: 'six hex digits', pattern: '^#?[0-9a-fA-F]{6}$', examples: ['#336699'] };
const tools = [{
  name: 'contrast', description: 'Computes the contrast of two colours and whether it meets the WCAG level of the preferences.',
  inputSchema: { type: 'object', properties: { front: color, back: color }, required: ['front', 'back'] },
  annotations: { readOnlyHint: true, openWorldHint: false },
  async handler({ front, back }) {
    const [a, b] = [parse(front), parse(back)];
    if (!a || !b) return 'Colours look like #336699.';
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    const ratio = (high + 0.05) / (low + 0.05);
    return `${ratio.toFixed(2)}:1, ${ratio >= (prefs.wcag === 'AAA' ? 7 : 4.5) ? 'meets' : 'fails'} ${prefs.wcag}`;
  },
}, {
  name: 'palette', description: 'Makes a palette from a colour to white, in as many steps as the preferences say.',
  inputSchema: { type: 'object', properties: { color }, required: ['color'] },
  annotations: { readOnlyHint: true, openWorldHint: false },
  async handler(args) {
    const rgb = parse(args.color);
    if (!rgb) return 'Colours look like #336699.';
    return Array.from({ length: prefs.steps }, (_, i) => show(rgb.map((c) => Math.round(c + ((255 - c) * i) / prefs.steps)))).join(' ');
  },
}, {
  name: 'set_preference', description: 'Changes a preference and saves it in ~/.config/palette-picker/config.json.',
  inputSchema: { type: 'object', properties: { format: { enum: ['hex', 'rgb'] }, wcag: { enum: ['AA', 'AAA'] }, steps: { type: 'integer', minimum: 2, maximum: 20 } } },
  annotations: { readOnlyHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ format, wcag, steps }) {
    if (['hex', 'rgb'].includes(format)) prefs.format = format;
    if (['AA', 'AAA'].includes(wcag)) prefs.wcag = wcag;
    if (Number.isInteger(steps) && steps >= 2 && steps <= 20) prefs.steps = steps;
    await savePrefs();
    return JSON.stringify(prefs);
  },
}];

const methods = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'palette-picker', version: '1.6.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: tools.map(({ handler, ...t }) => t) }),
  'tools/call': async ({ name, arguments: args = {} }) => {
    const tool = tools.find((t) => t.name === name);
    if (!tool) return { content: [{ type: 'text', text: `Unknown tool ${name}` }], isError: true };
    return { content: [{ type: 'text', text: await tool.handler(args) }] };
  },
};

await loadPrefs();
let rest = '';
process.stdin.setEncoding('utf8').on('data', async (chunk) => {
  rest += chunk;
  const lines = rest.split('\n');
  rest = lines.pop();
  for (const line of lines.filter((l) => l.trim())) {
    let request;
    try { request = JSON.parse(line); } catch { continue; }
    const { id, method, params } = request ?? {};
    if (id === undefined) continue;
    const known = Object.hasOwn(methods, method);
    const body = known ? { result: await methods[method](params ?? {}) } : { error: { code: -32601, message: 'Method not found' } };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  }
});
