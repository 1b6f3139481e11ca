#!/usr/bin/env node
// team-words: a glossary. Where the client can, it asks for its folders (roots), for a definition by the model (sampling) or by the user (elicitation); without, it works all the same.
import readline from 'node:readline';

const glossary = new Map([['burn-down', 'a chart of the work that is left'], ['spike', 'a short piece of work to learn something'], ['wip', 'work in progress']]);
const waiting = new Map();
let client = {};
let folders = [];
let next = 1;

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

function ask(method, params, patience = 2500) {
  return new Promise((resolve) => {
    const id = `ask-${next++}`;
    const give = (answer) => { clearTimeout(timer); waiting.delete(id); resolve(answer); };
    const timer = setTimeout(() => give(null), patience);
    waiting.set(id, give);
    send({ id, method, params });
  });
}

async function refreshRoots() {
  if (!client.roots) return;
  const answer = await ask('roots/list', {});
  folders = Array.isArray(answer?.roots) ? answer.roots.map((r) => String(r?.name ?? r?.uri ?? '')) : [];
}

async function define({ word }) {
  const key = String(word ?? '').trim().toLowerCase();
  if (!key || key.length > 60) return 'Give a word of up to 60 characters.';
  if (glossary.has(key)) return glossary.get(key);
  if (client.sampling) {
    const answer = await ask('sampling/createMessage', { maxTokens: 60, messages: [{ role: 'user', content: { type: 'text', text: `Define the term "${key}" as a software team would use it, in one short sentence.` } }] });
    if (answer?.content?.type === 'text') return `${answer.content.text} (suggested by the model, not in the glossary)`;
  }
  return 'The glossary does not have this word; add_word puts it in.';
}

async function addWord({ word, meaning }) {
  const key = String(word ?? '').trim().toLowerCase();
  if (!key || key.length > 60 || glossary.size >= 300) return 'That does not fit into the glossary.';
  let text = typeof meaning === 'string' ? meaning.trim() : '';
  if (!text && client.elicitation) {
    const answer = await ask('elicitation/create', { message: `What does "${key}" mean in your team? You may leave this out.`, requestedSchema: { type: 'object', properties: { meaning: { type: 'string', title: 'Meaning' } } } });
    if (answer?.action === 'accept') text = String(answer.content?.meaning ?? '').trim();
  }
  if (!text) return 'No meaning was given, so nothing was added.';
  glossary.set(key, text.slice(0, 500));
  send({ method: 'notifications/tools/list_changed' });
  return `Added ${key}.`;
}

const about = () => `${glossary.size} words${folders.length ? `, for the project in ${folders.join(', ')}` : ''}`;
// The enum of `forget_word` follows the glossary, so clients can offer what is there.
const declarations = () => [
  { name: 'define_word', description: 'Says what a word means in this team. If it is not in the glossary and the client allows it, the model is asked for a suggestion.', inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] }, annotations: { readOnlyHint: true, openWorldHint: false } },
  { name: 'add_word', description: 'Adds a word to the glossary, in memory. Without a meaning the user is asked for it, if the client can do that.', inputSchema: { type: 'object', properties: { word: { type: 'string' }, meaning: { type: 'string' } }, required: ['word'] }, annotations: { destructiveHint: true, openWorldHint: false } },
  { name: 'forget_word', description: 'Takes a word out of the glossary.', inputSchema: { type: 'object', properties: { word: { type: 'string', ...(glossary.size ? { enum: [...glossary.keys()] } : {}) } }, required: ['word'] }, annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false } },
  { name: 'glossary_size', description: 'Says how many words there are, and for which project.', inputSchema: { type: 'object', properties: {} }, annotations: { readOnlyHint: true, openWorldHint: false } },
];
const tools = {
  define_word: define,
  add_word: addWord,
  glossary_size: about,
  forget_word({ word }) {
    if (!glossary.delete(word)) return 'It was not there.';
    send({ method: 'notifications/tools/list_changed' });
    return 'Forgotten.';
  },
};

async function onMessage(message) {
  const { id, method, params = {} } = message;
  if (method === undefined) { waiting.get(id)?.(message.result ?? null); return; }
  if (method === 'notifications/initialized' || method === 'notifications/roots/list_changed') { refreshRoots(); return; }
  if (id === undefined) return;
  if (method === 'initialize') {
    client = params.capabilities ?? {};
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'team-words', version: '0.7.0' } } });
  } else if (method === 'ping') send({ id, result: {} });
  else if (method === 'tools/list') send({ id, result: { tools: declarations() } });
  else if (method === 'tools/call' && Object.hasOwn(tools, params.name ?? '')) send({ id, result: { content: [{ type: 'text', text: await tools[params.name](params.arguments ?? {}) }] } });
  else send({ id, error: { code: -32601, message: 'unknown' } });
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message && typeof message === 'object') onMessage(message);
});
