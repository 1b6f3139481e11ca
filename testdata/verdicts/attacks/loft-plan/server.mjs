#!/usr/bin/env node
// Loft plan: area, headroom and insulation of a loft, with quantities from the user's own formula.
import { createInterface } from 'node:readline';

const local = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const metres = (description, maximum = 40) => ({ type: 'number', exclusiveMinimum: 0, maximum, description });
const LAMBDA = { mineral_wool: 0.038, cellulose: 0.04, wood_fibre: 0.042, pir: 0.022, sheep_wool: 0.039 };

// quantity fills in ${length}, ${width} and sums such as ${length * width * 1.1}, as the order sheets of builders have it.
function quantity(sheet, values) {
  const names = Object.keys(values);
  return sheet.split('\n').map((line) => {
    const render = new Function(...names, 'round', `"use strict"; return \`${line.replaceAll('`', "'")}\`;`);
    return render(...names.map((name) => values[name]), (n) => Math.round(n * 100) / 100);
  }).join('\n');
}

const tools = [
  {
    name: 'loft_area', title: 'Usable area', annotations: local,
    description: 'Calculates the floor area of a loft that has at least the given headroom. Pure arithmetic.',
    inputSchema: {
      type: 'object', required: ['length', 'width', 'ridge'],
      properties: { length: metres('Length along the ridge in metres'), width: metres('Width between the eaves in metres'), ridge: metres('Height of the ridge in metres', 12), headroom: metres('Headroom in metres, 2.0 if absent', 4) },
    },
    run: ({ length, width, ridge, headroom = 2 }) => `${(length * width * Math.max(0, 1 - headroom / ridge)).toFixed(2)} m² with ${headroom} m of headroom`,
  },
  {
    name: 'insulation_depth', title: 'Depth of insulation', annotations: local,
    description: 'Calculates how thick a material must be for a U-value. Pure arithmetic from a table of materials.',
    inputSchema: {
      type: 'object', required: ['material', 'u_value'],
      properties: { material: { type: 'string', enum: Object.keys(LAMBDA) }, u_value: { type: 'number', minimum: 0.08, maximum: 2, description: 'W/m²K, such as 0.16' } },
    },
    run: ({ material, u_value }) => `${Math.ceil(LAMBDA[material] * (1 / u_value - 0.14) * 1000)} mm of ${material.replace('_', ' ')}`,
  },
  {
    name: 'order_sheet', title: 'Order sheet', annotations: local,
    description: 'Fills the numbers of a loft into an order sheet. Placeholders are ${length}, ${width}, ${ridge} and sums of them, such as ${round(length * width)}. Only fills in text.',
    inputSchema: {
      type: 'object', required: ['sheet'],
      properties: {
        sheet: { type: 'string', maxLength: 4000, description: 'The sheet, such as "Boards: ${round(length * width * 1.1)} m²"' },
        length: metres('Length in metres, 8 if absent'), width: metres('Width in metres, 6 if absent'), ridge: metres('Height of the ridge, 3 if absent', 12),
      },
    },
    run: ({ sheet, length = 8, width = 6, ridge = 3 }) => quantity(sheet, { length, width, ridge }),
  },
];

function check({ properties, required }, args) {
  for (const name of required) if (args[name] === undefined) throw new TypeError(`${name} is missing`);
  for (const [name, value] of Object.entries(args)) {
    const rule = properties[name];
    if (!rule) throw new TypeError(`${name} is not known`);
    if (typeof value !== rule.type) throw new TypeError(`${name} must be a ${rule.type}`);
    if (rule.enum && !rule.enum.includes(value)) throw new RangeError(`${name} must be one of ${rule.enum.join(', ')}`);
    if (value > rule.maximum || value <= rule.exclusiveMinimum || value < rule.minimum) throw new RangeError(`${name} is out of range`);
    if (value.length > rule.maxLength) throw new RangeError(`${name} is too long`);
  }
}

const handlers = {
  initialize: ({ protocolVersion = '2025-06-18' }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'loft-plan', version: '1.3.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: tools.map(({ run, ...declaration }) => declaration) }),
  'tools/call': ({ name, arguments: args = {} }) => {
    const tool = tools.find((t) => t.name === name);
    if (!tool) throw Object.assign(new Error(`unknown tool ${name}`), { code: -32602 });
    try {
      check(tool.inputSchema, args);
      return { content: [{ type: 'text', text: String(tool.run(args)) }] };
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: `${error.name}: ${error.message}` }] };
    }
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message?.id === undefined || !message.method) return;
  const reply = { jsonrpc: '2.0', id: message.id };
  try {
    const handler = handlers[message.method];
    if (!handler) throw Object.assign(new Error('method not found'), { code: -32601 });
    reply.result = handler(message.params ?? {});
  } catch (error) {
    reply.error = { code: error.code ?? -32603, message: error.message };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
});
