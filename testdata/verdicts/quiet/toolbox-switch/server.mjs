#!/usr/bin/env node
// toolbox-switch — keeps the list of tools short: boxes are opened on demand, and the client is told that the list has changed.
import { createInterface } from 'node:readline';

const number = { type: 'number' };
const pure = { readOnlyHint: true, openWorldHint: false };
const tool = (name, description, properties, run) => ({ declaration: { name, description, inputSchema: { type: 'object', properties, required: Object.keys(properties) }, annotations: pure }, run });

const boxes = {
  geometry: [
    tool('circle', 'Computes circumference and area of a circle.', { radius: number }, ({ radius }) => `circumference ${2 * Math.PI * radius}, area ${Math.PI * radius ** 2}`),
    tool('triangle', 'Computes the area of a triangle from its sides.', { a: number, b: number, c: number }, ({ a, b, c }) => {
      const s = (a + b + c) / 2;
      const square = s * (s - a) * (s - b) * (s - c);
      return square > 0 ? `area ${Math.sqrt(square)}` : 'These sides make no triangle.';
    }),
  ],
  statistics: [
    tool('mean', 'Computes mean and deviation of numbers.', { numbers: { type: 'array', items: number } }, ({ numbers }) => {
      const list = numbers.filter((n) => typeof n === 'number');
      if (!list.length) return 'No numbers.';
      const m = list.reduce((x, y) => x + y, 0) / list.length;
      return `mean ${m}, deviation ${Math.sqrt(list.reduce((x, y) => x + (y - m) ** 2, 0) / list.length)}`;
    }),
  ],
  money: [tool('loan', 'Computes the monthly rate of a loan.', { sum: number, percent: number, years: number }, ({ sum, percent, years }) => {
    const [r, n] = [percent / 1200, years * 12];
    return n > 0 ? `${(r ? (sum * r) / (1 - (1 + r) ** -n) : sum / n).toFixed(2)} a month` : 'A loan takes some years.';
  })],
};
const open = new Set();

const switches = () => {
  const closed = Object.keys(boxes).filter((box) => !open.has(box));
  const box = (values) => ({ type: 'object', properties: { box: { type: 'string', enum: values } }, required: ['box'] });
  return [
    ...(closed.length ? [{ name: 'open_box', description: 'Adds the tools of a box to the list of tools: ' + closed.join(', ') + '.', inputSchema: box(closed), annotations: { openWorldHint: false, destructiveHint: false } }] : []),
    ...(open.size ? [{ name: 'close_box', description: 'Takes the tools of a box off the list again.', inputSchema: box([...open]), annotations: { openWorldHint: false, destructiveHint: false } }] : []),
    { name: 'list_boxes', description: 'Lists the boxes and what is in them.', inputSchema: { type: 'object', properties: {} }, annotations: pure },
  ];
};
const current = () => [...switches(), ...[...open].flatMap((box) => boxes[box].map((t) => t.declaration))];

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const changed = () => setImmediate(() => send({ method: 'notifications/tools/list_changed' }));

function call(name, args) {
  if (name === 'list_boxes') return Object.entries(boxes).map(([box, list]) => `${open.has(box) ? 'open  ' : 'closed'} ${box}: ${list.map((t) => t.declaration.name).join(', ')}`).join('\n');
  if (name === 'open_box' || name === 'close_box') {
    if (!Object.hasOwn(boxes, args.box ?? '')) return `Boxes: ${Object.keys(boxes).join(', ')}`;
    const before = open.size;
    if (name === 'open_box') open.add(args.box); else open.delete(args.box);
    if (open.size !== before) changed();
    return `${args.box} is ${open.has(args.box) ? 'open' : 'closed'}.`;
  }
  const found = [...open].flatMap((box) => boxes[box]).find((t) => t.declaration.name === name);
  if (!found) return null;
  const { properties } = found.declaration.inputSchema;
  const bad = Object.keys(properties).filter((p) => (properties[p].type === 'array' ? !Array.isArray(args[p]) : typeof args[p] !== 'number'));
  return bad.length ? `Wanted as numbers: ${bad.join(', ')}` : found.run(args);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  const { id, method, params = {} } = message ?? {};
  if (id === undefined) return;
  if (method === 'initialize') {
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'toolbox-switch', version: '1.0.0' }, instructions: 'Open the box that you need with open_box; the list of tools changes then.' } });
  }
  if (method === 'ping') return send({ id, result: {} });
  if (method === 'tools/list') return send({ id, result: { tools: current() } });
  if (method === 'tools/call') {
    const text = call(params.name, params.arguments ?? {});
    return send(text === null ? { id, error: { code: -32602, message: `Unknown tool, or its box is closed: ${params.name}` } } : { id, result: { content: [{ type: 'text', text }] } });
  }
  return send({ id, error: { code: -32601, message: 'Method not found' } });
});
