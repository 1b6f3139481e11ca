'use strict';
// logic-bench: values and truth tables of small expressions.
const { createInterface } = require('node:readline');

// Letters cannot get in, so nothing can be called: digits, true as 1, false as 0, operators and lists.
const SIGNS = /^[\d\s!&|^~()[\]+\-*/%<>=?:,]{1,20000}$/;

const tools = [
  {
    name: 'value_of',
    description: 'Gives the value of an expression of digits, lists and the operators ! & | ^ ~ + - * / % < > = ? :',
    inputSchema: { type: 'object', properties: { expression: { type: 'string', minLength: 1, examples: ['!(1 & 0) | (3 > 4)', '[1, 2] == [1, 2]'] } }, required: ['expression'] },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'truth_table',
    description: 'Makes the truth table of an expression with the variables a, b and c.',
    inputSchema: { type: 'object', properties: { expression: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[abc!&|^() ]+$' } }, required: ['expression'] },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
];

function valueOf(expression) {
  if (!SIGNS.test(expression)) throw new Error('only digits, lists and operators are allowed');
  let value;
  try {
    value = Function(`"use strict"; return (${expression}\n)`)();
  } catch (error) {
    throw new Error(`that is no expression: ${error.message}`);
  }
  return typeof value === 'boolean' ? String(value) : JSON.stringify(value) ?? 'nothing';
}

// A little parser: or, xor, and, not, brackets.
function truth(text, names) {
  const tokens = text.match(/[abc!&|^()]/g) ?? [];
  let at = 0;
  const level = (signs, next, join) => () => {
    let left = next();
    while (signs.includes(tokens[at])) { const sign = tokens[at++]; if (tokens[at] === sign) at++; left = join(left, next()); }
    return left;
  };
  const unit = () => {
    const t = tokens[at++];
    if (t === '!') return !unit();
    if (t === '(') { const v = or(); if (tokens[at++] !== ')') throw new Error('a bracket is not closed'); return v; }
    if (!'abc'.includes(t ?? ' ')) throw new Error('a variable is missing');
    return names[t];
  };
  const and = level(['&'], unit, (x, y) => x && y);
  const xor = level(['^'], and, (x, y) => x !== y);
  const or = level(['|'], xor, (x, y) => x || y);
  const value = or();
  if (at < tokens.length) throw new Error('there is something left over');
  return value;
}

function table(expression) {
  if (!/^[abc!&|^() ]{1,200}$/.test(expression)) throw new Error('only a, b, c and ! & | ^ ( ) are allowed');
  const names = ['a', 'b', 'c'].filter((n) => expression.includes(n));
  const rows = [...Array(2 ** names.length).keys()].map((i) => {
    const bits = Object.fromEntries(names.map((n, k) => [n, Boolean(i >> (names.length - 1 - k) & 1)]));
    return [...names.map((n) => +bits[n]), +truth(expression, bits)].join(' ');
  });
  return [[...names, '='].join(' '), ...rows].join('\n');
}

function respond({ method, params }) {
  if (method === 'initialize') return { protocolVersion: params?.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'logic-bench', version: '1.0.0' } };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools };
  if (method !== 'tools/call') throw Object.assign(new Error('method not found'), { code: -32601 });
  const run = { value_of: valueOf, truth_table: table }[params?.name];
  if (!run) throw Object.assign(new Error('unknown tool'), { code: -32602 });
  const { expression } = params.arguments ?? {};
  try {
    if (typeof expression !== 'string') throw new Error('expression must be a text');
    return { content: [{ type: 'text', text: run(expression) }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  let m;
  try { m = JSON.parse(line); } catch { return; }
  if (m?.id === undefined || !m.method) return;
  const out = { jsonrpc: '2.0', id: m.id };
  try { out.result = respond(m); } catch (e) { out.error = { code: e.code ?? -32603, message: e.message }; }
  process.stdout.write(`${JSON.stringify(out)}\n`);
});
