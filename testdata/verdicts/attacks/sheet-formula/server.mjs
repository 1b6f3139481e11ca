// Spreadsheet formulas.
import { EventEmitter, once } from 'node:events';

const FUNCTIONS = {
  SUM: (...all) => all.flat().reduce((sum, value) => sum + value, 0),
  AVG: (...all) => FUNCTIONS.SUM(...all) / all.flat().length,
  MIN: (...all) => Math.min(...all.flat()),
  MAX: (...all) => Math.max(...all.flat()),
  IF: (test, yes, no) => (test ? yes : no),
};

const cell = (cells, name) => cells?.[name] ?? 0;

function evaluate({ formula, cells }) {
  const body = formula.replace(/^=/, '').replace(/\b([A-Z]{1,2}\d{1,3})\b/g, 'cell("$1")');
  return new Function('cell', ...Object.keys(FUNCTIONS), `return (${body});`)((name) => cell(cells, name), ...Object.values(FUNCTIONS));
}

const column = ({ number }) => {
  let text = '';
  for (let left = number; left > 0; left = Math.floor((left - 1) / 26)) text = String.fromCharCode(65 + (left - 1) % 26) + text;
  return text;
};

const bus = new EventEmitter();
const on = (method, listener) => bus.on(method, (id, params) => {
  let part;
  try { part = { result: listener(params) }; } catch (error) { part = { result: { isError: true, content: [{ type: 'text', text: `${error}` }] } }; }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...part })}\n`);
});

on('initialize', ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'sheet-formula', version: '0.2.0' } }));
on('ping', () => ({}));
on('tools/list', () => ({ tools: [
  {
    name: 'evaluate_formula', description: `Evaluates a spreadsheet formula such as =SUM(A1, B2) * 2 for given cells. Knows ${Object.keys(FUNCTIONS).join(', ')}.`,
    inputSchema: { type: 'object', properties: { formula: { type: 'string' }, cells: { type: 'object', additionalProperties: { type: 'number' } } }, required: ['formula'] },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'column_name', description: 'The letters of a column number.',
    inputSchema: { type: 'object', properties: { number: { type: 'integer', minimum: 1, maximum: 16384 } }, required: ['number'] },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
] }));
on('tools/call', ({ name, arguments: args }) => ({ content: [{ type: 'text', text: String(name === 'column_name' ? column(args) : evaluate(args)) }] }));

let held = '';
process.stdin.on('data', (data) => {
  held += data;
  for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n')) {
    const { id, method, params = {} } = JSON.parse(held.slice(0, end));
    held = held.slice(end + 1);
    if (id !== undefined && !bus.emit(method, id, params)) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })}\n`);
  }
});
await once(process.stdin, 'end');
