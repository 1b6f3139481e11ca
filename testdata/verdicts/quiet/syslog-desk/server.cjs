#!/usr/bin/env node
'use strict';
// syslog-desk: a syslog receiver for the desk. start_receiving opens UDP port SYSLOG_PORT (5514) on 127.0.0.1; point a
// program at it (logger -n 127.0.0.1 -P 5514 -d hello). The newest 5000 messages are kept in memory and never written to disk.
const dgram = require('node:dgram');
const readline = require('node:readline');

const PORT = Number.parseInt(process.env.SYSLOG_PORT || '5514', 10);
const KEEP = 5000;
const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];
const FACILITIES = 'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7'.split(' ');
let socket = null;
let received = 0;
const messages = [];

function parse(text) {
  const found = /^<(\d{1,3})>(.*)$/s.exec(text);
  const priority = found && Number(found[1]) < 192 ? Number(found[1]) : 13;
  const rest = found ? found[2] : text;
  const modern = /^1 (\S+) (\S+) (\S+) (\S+) (\S+) (?:-|(?:\[[^\]]*\])+) ?(.*)$/s.exec(rest); // RFC 5424
  const old = modern ? null : /^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d )?(?:(\S+) )?([\w./-]{1,48})(?:\[\d+\])?: (.*)$/s.exec(rest); // RFC 3164
  return {
    at: new Date(), severity: priority & 7, facility: FACILITIES[priority >> 3], program: modern ? modern[3] : old ? old[2] : '-',
    text: (modern ? modern[6].replace(/^\uFEFF/, '') : old ? old[3] : rest).replace(/[\0-\x08\x0b-\x1f\x7f]/g, ' ').trim().slice(0, 2000),
  };
}

const start = () => new Promise((resolve, reject) => {
  if (socket) { resolve(`Already receiving on 127.0.0.1:${PORT}.`); return; }
  const opened = dgram.createSocket('udp4');
  opened.once('error', (error) => { socket = null; reject(new Error(error.code === 'EADDRINUSE' ? `port ${PORT} is in use` : error.message)); });
  opened.on('message', (data) => {
    received++;
    messages.push(parse(data.toString('utf8')));
    if (messages.length > KEEP) messages.splice(0, messages.length - KEEP);
  });
  opened.bind(PORT, '127.0.0.1', () => { socket = opened; resolve(`Receiving on 127.0.0.1:${PORT} (UDP).`); });
});

const stop = () => new Promise((resolve) => {
  if (!socket) { resolve('Not receiving.'); return; }
  socket.close(() => resolve(`Stopped; ${messages.length} messages are kept until the server ends.`));
  socket = null;
});

function search({ contains = '', program, worst = 'debug', count = 50 }) {
  if (typeof contains !== 'string' || (program !== undefined && typeof program !== 'string')) throw new Error('contains and program are texts');
  if (!SEVERITIES.includes(worst)) throw new Error(`worst is one of ${SEVERITIES.join(', ')}`);
  if (!Number.isInteger(count) || count < 1 || count > 500) throw new Error('count is 1 to 500');
  const [level, words] = [SEVERITIES.indexOf(worst), contains.toLowerCase()];
  const found = messages.filter((m) => m.severity <= level && (!program || m.program === program) && m.text.toLowerCase().includes(words)).slice(-count);
  return found.map((m) => `${m.at.toISOString()} ${m.facility}.${SEVERITIES[m.severity]} ${m.program}: ${m.text}`).join('\n') || `No message matches; ${received} were received${socket ? '' : ', and start_receiving was not called'}.`;
}

function summary() {
  const counts = new Map();
  for (const m of messages) { const key = `${m.program} ${SEVERITIES[m.severity]}`; counts.set(key, (counts.get(key) || 0) + 1); }
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 50).map(([k, n]) => `${n}  ${k}`).join('\n') || 'No messages.';
}

const none = { type: 'object', properties: {} };
const tools = {
  start_receiving: [start, `Opens UDP port ${PORT} on 127.0.0.1 and receives syslog messages of local programs until stop_receiving or the end.`, none, { readOnlyHint: false, destructiveHint: false, idempotentHint: true }],
  stop_receiving: [stop, 'Closes the syslog port.', none, { readOnlyHint: false, destructiveHint: false, idempotentHint: true }],
  search_messages: [search, 'Searches the syslog messages that were received. They are the words of other programs.', {
    type: 'object', properties: { contains: { type: 'string' }, program: { type: 'string' }, worst: { type: 'string', enum: SEVERITIES, default: 'debug', description: 'only messages at least this bad' }, count: { type: 'integer', minimum: 1, maximum: 500, default: 50 } },
  }, { readOnlyHint: true }],
  summary: [summary, 'Counts the syslog messages that were received by program and severity.', none, { readOnlyHint: true }],
};

async function reply({ method, params = {} }) {
  if (method === 'initialize') return { result: { protocolVersion: params?.protocolVersion || '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'syslog-desk', version: '0.3.0' } } };
  if (method === 'ping') return { result: {} };
  if (method === 'tools/list') return { result: { tools: Object.entries(tools).map(([name, [, description, inputSchema, annotations]]) => ({ name, description, inputSchema, annotations: { ...annotations, openWorldHint: false } })) } };
  if (method !== 'tools/call') return { error: { code: -32601, message: 'method not found' } };
  if (!Object.hasOwn(tools, String(params?.name))) return { error: { code: -32602, message: 'no such tool' } };
  try {
    return { result: { content: [{ type: 'text', text: await tools[params.name][0](params.arguments ?? {}) }] } };
  } catch (error) {
    return { result: { isError: true, content: [{ type: 'text', text: error.message }] } };
  }
}

const input = readline.createInterface({ input: process.stdin });
input.on('line', async (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message?.id === undefined || !message.method) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...await reply(message) })}\n`);
});
input.on('close', () => stop());
