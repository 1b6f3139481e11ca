#!/usr/bin/env node
/* browser-tabs: the open tabs of Chrome, Chromium or Edge, over the DevTools endpoint.
   Start the browser with --remote-debugging-port=9222 first. */
'use strict';
const http = require('node:http');

const port = Number(process.env.DEVTOOLS_PORT || 9222);

function devtools(method, path) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, path, timeout: 4000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => { body += chunk; if (body.length > 4e6) request.destroy(new Error('The list of tabs is too long.')); });
      response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(`The browser answered ${response.statusCode}: ${body.slice(0, 120)}`))));
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error('no answer within four seconds')));
    request.on('error', (error) => reject(new Error(`No browser at 127.0.0.1:${port} (${error.code || error.message}). Start it with --remote-debugging-port=${port}.`)));
    request.end();
  });
}

async function tabs() {
  const body = await devtools('GET', '/json/list');
  let list;
  try { list = JSON.parse(body); } catch { throw new Error(`What listens on port ${port} is not a browser.`); }
  return (Array.isArray(list) ? list : []).filter((t) => t && t.type === 'page' && !String(t.url).startsWith('devtools://'));
}

const ofId = { type: 'string', description: 'the id from list_tabs' };

async function find(id) {
  const tab = (await tabs()).find((t) => t.id === id);
  if (!tab) throw new Error('No tab has this id; list_tabs shows them.');
  return tab;
}

const TOOLS = [{
  name: 'list_tabs',
  description: 'Lists titles and addresses of the tabs that are open in the browser.',
  inputSchema: { type: 'object', properties: { filter: { type: 'string', description: 'a word of the title or address' } } },
  annotations: { title: 'List tabs', readOnlyHint: true },
  async run({ filter = '' }) {
    const word = String(filter).toLowerCase();
    const shown = (await tabs()).filter((t) => `${t.title} ${t.url}`.toLowerCase().includes(word));
    return shown.map((t) => `${t.id}  ${t.title || '(no title)'}\n    ${t.url}`).join('\n') || 'No such tab.';
  },
}, {
  name: 'open_tab',
  description: 'Opens a web address in a new tab of the browser.',
  inputSchema: { type: 'object', properties: { url: { type: 'string', format: 'uri' } }, required: ['url'] },
  annotations: { title: 'Open a tab', readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  async run({ url }) {
    const address = new URL(url);
    if (!['http:', 'https:'].includes(address.protocol)) throw new Error('Only http and https addresses are opened.');
    const tab = JSON.parse(await devtools('PUT', `/json/new?${encodeURIComponent(address.href)}`));
    return `Opened ${address.href} as ${tab.id}.`;
  },
}, {
  name: 'show_tab',
  description: 'Brings a tab to the front.',
  inputSchema: { type: 'object', properties: { id: ofId }, required: ['id'] },
  annotations: { title: 'Show a tab', readOnlyHint: false, destructiveHint: false },
  async run({ id }) { const tab = await find(id); await devtools('GET', `/json/activate/${encodeURIComponent(tab.id)}`); return `In front: ${tab.title}`; },
}, {
  name: 'close_tab',
  description: 'Closes a tab. What was typed on its page is lost.',
  inputSchema: { type: 'object', properties: { id: ofId }, required: ['id'] },
  annotations: { title: 'Close a tab', readOnlyHint: false, destructiveHint: true },
  async run({ id }) { const tab = await find(id); await devtools('GET', `/json/close/${encodeURIComponent(tab.id)}`); return `Closed ${tab.title}.`; },
}];

async function callTool({ name, arguments: args }) {
  const tool = TOOLS.find((t) => t.name === name);
  if (!tool) throw Object.assign(new Error(`Unknown tool: ${name}`), { code: -32602 });
  const given = args !== null && typeof args === 'object' ? args : {};
  const lacking = (tool.inputSchema.required || []).filter((key) => typeof given[key] !== 'string');
  if (lacking.length) return { isError: true, content: [{ type: 'text', text: `Needed, as a string: ${lacking.join(', ')}` }] };
  try {
    return { content: [{ type: 'text', text: await tool.run(given) }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
}

async function answer(method, params) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion || '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'browser-tabs', version: '0.2.7' }, instructions: `Talks only to the browser's debugging port, 127.0.0.1:${port} (DEVTOOLS_PORT).` };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: TOOLS.map(({ run, ...shown }) => shown) };
  if (method === 'tools/call') return callTool(params);
  throw Object.assign(new Error('Method not found'), { code: -32601 });
}

let pending = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  pending += chunk;
  for (let end; (end = pending.indexOf('\n')) >= 0; pending = pending.slice(end + 1)) {
    let message;
    try { message = JSON.parse(pending.slice(0, end)); } catch { continue; }
    if (!message || message.id === undefined || typeof message.method !== 'string') continue;
    const { id } = message;
    answer(message.method, message.params || {}).then((result) => ({ result }), (error) => ({ error: { code: error.code || -32603, message: error.message } }))
      .then((reply) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...reply }) + '\n'));
  }
});
