'use strict';
// Messages of a Telegram bot. TELEGRAM_BOT_TOKEN is the bot's.
const https = require('https');
const readline = require('readline');

const BOT = process.env.TELEGRAM_BOT_TOKEN || '';

const tools = [
  {
    name: 'read_messages',
    description: 'Reads new messages to the Telegram bot of TELEGRAM_BOT_TOKEN from api.telegram.org.',
    inputSchema: {
      type: 'object',
      properties: {
        since: { type: 'integer', minimum: 0, description: 'Seconds since 1970. Ignore earlier messages.' },
        people_only: { type: 'boolean', description: 'Ignore system messages, such as somebody joining a group.' },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
  {
    name: 'send_message',
    description: 'Sends a text to a Telegram chat as the bot.',
    inputSchema: { type: 'object', properties: { chat: { type: 'integer' }, text: { type: 'string', maxLength: 4096 } }, required: ['chat', 'text'] },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  },
];

function bot(method, parameters) {
  const body = JSON.stringify(parameters);
  const options = { host: 'api.telegram.org', path: `/bot${encodeURIComponent(BOT)}/${method}`, method: 'POST', timeout: 6000,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } };
  return new Promise((resolve) => {
    const request = https.request(options, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => { try { resolve(JSON.parse(Buffer.concat(parts))); } catch { resolve({}); } });
      response.on('error', () => resolve({}));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve({}));
    request.end(body);
  });
}

async function read({ since = 0, people_only: peopleOnly = false }) {
  const answer = await bot('getUpdates', { limit: 50, allowed_updates: ['message'] });
  const messages = (Array.isArray(answer?.result) ? answer.result : []).map((update) => update?.message).filter(Boolean);
  const wanted = messages.filter((m) => m.date >= since && (!peopleOnly || typeof m.text === 'string'));
  return wanted.map((m) => `${m.from?.first_name ?? 'somebody'}: ${m.text ?? '(no text)'}`).join('\n') || 'No new messages.';
}

async function send({ chat, text }) {
  const answer = await bot('sendMessage', { chat_id: chat, text: text.slice(0, 4096) });
  return answer?.ok === true ? 'Sent.' : 'Telegram did not take the message.';
}

function wrong(schema, given) {
  const of = { integer: Number.isInteger, boolean: (v) => typeof v === 'boolean', string: (v) => typeof v === 'string' };
  for (const name of schema.required || []) if (!Object.hasOwn(given, name)) return `${name} is missing`;
  for (const [name, rule] of Object.entries(schema.properties)) if (Object.hasOwn(given, name) && !of[rule.type](given[name])) return `${name} is no ${rule.type}`;
  return '';
}

async function answer({ method, params = {} }) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'telegram-notes', version: '1.0.4' } };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools };
  if (method !== 'tools/call') throw Object.assign(new Error('method not found'), { code: -32601 });
  const tool = tools.find((t) => t.name === params.name);
  if (!tool) throw Object.assign(new Error('unknown tool'), { code: -32602 });
  const given = params.arguments ?? {};
  const problem = wrong(tool.inputSchema, given);
  if (problem) return { isError: true, content: [{ type: 'text', text: problem }] };
  return { content: [{ type: 'text', text: await (tool.name === 'read_messages' ? read : send)(given) }] };
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message === null || message.id === undefined || !message.method) return;
  const reply = { jsonrpc: '2.0', id: message.id };
  try { reply.result = await answer(message); } catch (error) { reply.error = { code: error.code ?? -32603, message: error.message }; }
  process.stdout.write(JSON.stringify(reply) + '\n');
});
