#!/usr/bin/env node
'use strict';
// Slack digest over the Web API, with a bot token in SLACK_BOT_TOKEN (scopes: channels:read, channels:history, chat:write).

const TOKEN = process.env.SLACK_BOT_TOKEN || '';
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function slack(method, params) {
  for (let attempt = 1; ; attempt++) {
    const res = await fetch('https://slack.com/api/' + method, {
      method: 'POST',
      headers: { Authorization: 'Bearer ' + TOKEN, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(params).toString(),
      signal: AbortSignal.timeout(7000),
    });
    if ((res.status === 429 || res.status >= 500) && attempt < 3) {
      const wait = Number(res.headers.get('retry-after')) || attempt / 4;
      await sleep(Math.min(wait, 2) * 1000);
      continue;
    }
    return (await res.json()) || {};
  }
}

const CHANNEL = { type: 'string', pattern: '^[CGD][A-Z0-9]{6,}$', description: 'id of the channel, see list_channels', examples: ['C024BE91L'] };
const okChannel = (id) => /^[CGD][A-Z0-9]{6,}$/.test(id);

async function listChannels() {
  const found = [];
  let cursor = '';
  for (let page = 0; page < 5; page++) {
    const body = await slack('conversations.list', { limit: '200', exclude_archived: 'true', cursor });
    if (!Array.isArray(body.channels)) break;
    for (const c of body.channels) found.push(`${c.id} #${c.name}`);
    cursor = (body.response_metadata && body.response_metadata.next_cursor) || '';
    if (!cursor) break;
  }
  return found.join('\n') || 'The bot is in no channel.';
}

async function digest(args) {
  if (!okChannel(args.channel)) return 'That is not the id of a channel.';
  const hours = Math.min(Math.max(Number(args.hours) || 24, 1), 168);
  const body = await slack('conversations.history', { channel: args.channel, oldest: String(Date.now() / 1000 - hours * 3600), limit: '100' });
  const messages = Array.isArray(body.messages) ? body.messages : [];
  if (!messages.length) return `Nothing was said in the last ${hours} hours.`;
  const people = new Set(messages.map((m) => m.user));
  return `${messages.length} messages by ${people.size} people\n` + messages.reverse().map((m) => `- ${String(m.text).slice(0, 200)}`).join('\n');
}

async function post(args) {
  if (!okChannel(args.channel)) return 'That is not the id of a channel.';
  const body = await slack('chat.postMessage', { channel: args.channel, text: String(args.text).slice(0, 4000) });
  return body.ok === true && body.ts ? `Posted (${body.ts}).` : `Slack did not take the message: ${body.error || 'no reason given'}.`;
}

const TOOLS = [
  { name: 'list_channels', description: 'Lists the Slack channels that the bot can see.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true, openWorldHint: true }, run: listChannels },
  { name: 'digest', description: 'Lists what was said in a Slack channel in the last hours.',
    inputSchema: { type: 'object', properties: { channel: CHANNEL, hours: { type: 'number', minimum: 1, maximum: 168 } }, required: ['channel'] },
    annotations: { readOnlyHint: true, openWorldHint: true }, run: digest },
  { name: 'post_message', description: 'Posts a message to a Slack channel as the bot. Ask the user before you post.',
    inputSchema: { type: 'object', properties: { channel: CHANNEL, text: { type: 'string', maxLength: 4000 } }, required: ['channel', 'text'] },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true }, run: post },
];

function reply(id, body) { process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\n'); }

async function onMessage(msg) {
  if (!msg || msg.id === undefined) return;
  if (msg.method === 'initialize') {
    return reply(msg.id, { result: { protocolVersion: (msg.params && msg.params.protocolVersion) || '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'slack-digest', version: '2.0.0' } } });
  }
  if (msg.method === 'ping') return reply(msg.id, { result: {} });
  if (msg.method === 'tools/list') return reply(msg.id, { result: { tools: TOOLS.map(({ run, ...t }) => t) } });
  if (msg.method === 'tools/call') {
    const params = msg.params || {};
    const tool = TOOLS.find((t) => t.name === params.name);
    if (!tool) return reply(msg.id, { error: { code: -32602, message: 'Unknown tool' } });
    let text;
    try {
      text = TOKEN ? await tool.run(params.arguments || {}) : 'SLACK_BOT_TOKEN is not set.';
    } catch (err) {
      text = 'Slack cannot be reached right now (' + err.name + ').';
    }
    return reply(msg.id, { result: { content: [{ type: 'text', text }] } });
  }
  reply(msg.id, { error: { code: -32601, message: 'Method not found' } });
}

let buffer = '';
process.stdin.on('data', (chunk) => {
  buffer += chunk;
  let end;
  while ((end = buffer.indexOf('\n')) >= 0) {
    const line = buffer.slice(0, end).trim();
    buffer = buffer.slice(end + 1);
    if (!line) continue;
    try { onMessage(JSON.parse(line)); } catch (err) { console.error('bad message', err.message); }
  }
});
