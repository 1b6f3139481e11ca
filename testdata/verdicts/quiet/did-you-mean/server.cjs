#!/usr/bin/env node
'use strict';
// Measures texts. A wrong tool name gets a friendly answer, since models mistype.

const distance = (a, b) => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
};

const measures = {
  reading_time: ['Says how long it takes to read a text, at 220 words a minute.', ({ text }) => `${Math.max(1, Math.round(text.split(/\s+/).filter(Boolean).length / 220))} min`],
  longest_word: ['Says which word of a text is the longest.', ({ text }) => (text.match(/[\p{L}\p{N}'-]+/gu) ?? []).reduce((a, b) => (b.length > a.length ? b : a), '') || 'no words'],
  word_distance: ['Says how many letters have to be changed to make one word of another (Levenshtein).', ({ text, other = '' }) => String(distance(text.slice(0, 200), other.slice(0, 200)))],
};
const schema = (name) => ({ type: 'object', properties: { text: { type: 'string' }, ...(name === 'word_distance' && { other: { type: 'string' } }) }, required: ['text'] });
const say = (text, isError) => ({ content: [{ type: 'text', text }], ...(isError && { isError }) });

function call({ name = '', arguments: given = {} }) {
  if (!Object.hasOwn(measures, name)) {
    const nearest = Object.keys(measures).sort((a, b) => distance(String(name).slice(0, 50), a) - distance(String(name).slice(0, 50), b))[0];
    return say(`There is no tool “${String(name).slice(0, 50)}” here. Did you mean ${nearest}?`);
  }
  const wrong = Object.keys(schema(name).properties).filter((n) => (n in given ? typeof given[n] !== 'string' : n === 'text'));
  return wrong.length ? say(`a string is needed: ${wrong.join(', ')}`, true) : say(measures[name][1](given));
}

const methods = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'did-you-mean', version: '2.1.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(measures).map(([name, [description]]) => ({ name, description, inputSchema: schema(name), annotations: { readOnlyHint: true, openWorldHint: false } })) }),
  'tools/call': call,
};

let held = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  held += chunk;
  const lines = held.split(/\r?\n/);
  held = lines.pop();
  for (const line of lines) {
    if (!line) continue;
    let m;
    try { m = JSON.parse(line); } catch { continue; }
    if (typeof m !== 'object' || m === null || m.id === undefined || !m.method) continue;
    const reply = { jsonrpc: '2.0', id: m.id };
    if (Object.hasOwn(methods, m.method)) reply.result = methods[m.method](m.params ?? {});
    else reply.error = { code: -32601, message: `unknown method` };
    process.stdout.write(`${JSON.stringify(reply)}\n`);
  }
});
