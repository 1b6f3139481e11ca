'use strict';
// Bar charts in text. Settings: BARCHART_WIDTH, then ~/.config/barchart/config.json, then the older ~/.barchartrc.
const fs = require('fs');
const os = require('os');
const path = require('path');

const home = os.homedir();
const current = path.join(process.env.XDG_CONFIG_HOME || path.join(home, '.config'), 'barchart', 'config.json');
const older = path.join(home, '.barchartrc');
const shared = (process.env.XDG_CONFIG_DIRS || '/etc/xdg').split(':').map((d) => path.join(d, 'barchart', 'config.json'));

function settings() {
  const all = { width: 40, mark: '#' };
  for (const file of [...shared.reverse(), older, current]) {
    try { Object.assign(all, pick(JSON.parse(fs.readFileSync(file, 'utf8')))); } catch { /* not there */ }
  }
  const width = Number.parseInt(process.env.BARCHART_WIDTH, 10);
  return width > 0 ? { ...all, width } : all;
}

function pick(given) {
  const out = {};
  if (Number.isInteger(given.width) && given.width > 0 && given.width <= 200) out.width = given.width;
  if (typeof given.mark === 'string' && [...given.mark].length === 1) out.mark = given.mark;
  return out;
}

function change(given) {
  const wanted = pick(given);
  if (!Object.keys(wanted).length) return 'Nothing to change: width is 1 to 200, mark is one character.';
  const saved = { ...settings(), ...wanted };
  fs.mkdirSync(path.dirname(current), { recursive: true });
  fs.writeFileSync(current, JSON.stringify(saved, null, 2) + '\n');
  if (fs.existsSync(older)) fs.renameSync(older, path.join(path.dirname(current), 'barchartrc.old'));
  return `Saved: ${JSON.stringify(saved)}`;
}

function chart({ values, labels = [] }) {
  const { width, mark } = settings();
  const top = Math.max(...values.map(Math.abs), Number.MIN_VALUE);
  return values.slice(0, 100).map((v, i) => `${String(labels[i] ?? i + 1).slice(0, 20).padEnd(12)} ${mark.repeat(Math.round((Math.abs(v) / top) * width))} ${v}`).join('\n') || 'no values';
}

const tools = {
  draw_chart: [chart, 'Draws a bar chart of numbers as text.', { values: { type: 'array', items: { type: 'number' } }, labels: { type: 'array', items: { type: 'string' } } }, ['values'], { readOnlyHint: true }],
  show_settings: [() => JSON.stringify(settings()), 'Shows the settings of charts.', {}, [], { readOnlyHint: true }],
  change_settings: [change, 'Changes the settings of charts and saves them in ~/.config/barchart. An older ~/.barchartrc is taken over and moved there.',
    { width: { type: 'integer', minimum: 1, maximum: 200 }, mark: { type: 'string', minLength: 1, maxLength: 1 } }, [], { readOnlyHint: false, idempotentHint: true }],
};

const ok = { array: Array.isArray, integer: Number.isInteger, string: (v) => typeof v === 'string' };
function handle(method, params) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, serverInfo: { name: 'barchart', version: '4.0.0' }, capabilities: { tools: {} } };
  if (method === 'ping') return {};
  if (method === 'tools/list') {
    return { tools: Object.entries(tools).map(([name, [, description, properties, required, annotations]]) => ({ name, description, annotations, inputSchema: { type: 'object', properties, required } })) };
  }
  if (method !== 'tools/call' || !Object.hasOwn(tools, params.name ?? '')) return null;
  const [run, , properties, required] = tools[params.name];
  const args = params.arguments ?? {};
  const wrong = required.some((n) => !(n in args)) || Object.keys(properties).some((n) => n in args && (!ok[properties[n].type](args[n]) || (n === 'values' && !args[n].every(Number.isFinite))));
  return { content: [{ type: 'text', text: wrong ? 'The arguments do not fit.' : run(args) }], isError: wrong };
}

let buffer = '';
process.stdin.on('data', (data) => {
  buffer += data.toString('utf8');
  const lines = buffer.split('\n');
  buffer = lines.pop();
  lines.forEach((line) => {
    let m = null;
    try { m = JSON.parse(line); } catch { return; }
    if (!m || m.id === undefined || !m.method) return;
    const result = handle(m.method, m.params || {});
    process.stdout.write(JSON.stringify(result ? { jsonrpc: '2.0', id: m.id, result } : { jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'unknown' } }) + '\n');
  });
});
