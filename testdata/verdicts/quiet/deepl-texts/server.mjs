// deepl-texts: translations by DeepL with a translation memory, so that the same sentence is paid for once.
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { Server } from './mcp.mjs';

const key = process.env.DEEPL_API_KEY ?? '';
const host = key.endsWith(':fx') ? 'https://api-free.deepl.com' : 'https://api.deepl.com';
const memoryFile = path.join(process.env.XDG_DATA_HOME ?? path.join(homedir(), '.local', 'share'), 'deepl-texts', 'memory.jsonl');
const remember = process.env.DEEPL_MEMORY !== 'off';

let memory;
async function load() {
  if (memory) return memory;
  memory = new Map();
  try {
    for (const line of (await readFile(memoryFile, 'utf8')).split('\n')) {
      if (!line) continue;
      try { const { k, t } = JSON.parse(line); memory.set(k, t); } catch { /* a line that was cut off */ }
    }
  } catch (error) {
    if (error.code !== 'ENOENT') console.error(`deepl-texts: ${error.message}`);
  }
  return memory;
}
const keyOf = (...parts) => createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 24);

async function deepl(endpoint, body) {
  if (!key) throw new Error('DEEPL_API_KEY is not set');
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(`${host}/v2/${endpoint}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `DeepL-Auth-Key ${key}`, 'user-agent': 'deepl-texts-mcp/1.6.0', ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(8000),
    });
    if (response.ok) return response.json();
    if ((response.status === 429 || response.status === 503) && attempt < 2) {
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt + Math.random() * 200));
      continue;
    }
    const reason = { 403: 'the key is refused', 456: 'the quota of this month is used up', 413: 'the text is too long' }[response.status];
    throw new Error(`DeepL: ${reason ?? `status ${response.status}`}`);
  }
}

const language = { type: 'string', pattern: '^[A-Za-z]{2}(-[A-Za-z]{2,4})?$', examples: ['DE', 'EN-GB'] };
const code = (s) => { if (!/^[a-z]{2}(-[a-z]{2,4})?$/i.test(s)) throw new Error('a language is a code such as DE or EN-GB'); return s.toUpperCase(); };
const bounded = (text) => { if (!text.trim() || text.length > 50_000) throw new Error('a text has 1 to 50000 characters'); return text; };

const server = new Server('deepl-texts', {
  version: '1.6.0',
  instructions: `Texts are sent to DeepL (${host}) with your API key. ${remember ? `Translations are kept in ${memoryFile}, in plain text; DEEPL_MEMORY=off switches that off, forget_memory deletes them.` : 'Translations are not kept.'}`,
});

server.tool('translate', `Translates a text with DeepL. Texts leave this computer${remember ? ', and each translation is kept in a local memory that answers the same request again without DeepL' : ''}.`, {
  required: { text: { type: 'string', maxLength: 50_000 }, target: language },
  optional: { source: language, formality: { type: 'string', enum: ['default', 'prefer_more', 'prefer_less'] } },
  annotations: { title: 'Translate', readOnlyHint: false, destructiveHint: false, openWorldHint: true },
}, async ({ text, target, source, formality }) => {
  const request = { text: [bounded(text)], target_lang: code(target), ...(source && { source_lang: code(source).slice(0, 2) }), ...(formality && { formality }) };
  const k = keyOf(request.text, request.target_lang, request.source_lang, formality);
  const known = remember && (await load()).get(k);
  if (known) return `${known}\n(from the memory)`;
  const { translations } = await deepl('translate', request);
  const translated = translations?.[0]?.text;
  if (typeof translated !== 'string') throw new Error('DeepL sent no translation');
  if (remember) {
    memory.set(k, translated);
    await mkdir(path.dirname(memoryFile), { recursive: true });
    await appendFile(memoryFile, `${JSON.stringify({ k, t: translated })}\n`, { mode: 0o600 });
  }
  return translated;
});

server.tool('improve', 'Rewrites a text in the same language with DeepL Write. The text leaves this computer; nothing is kept.', {
  required: { text: { type: 'string', maxLength: 50_000 } },
  optional: { style: { type: 'string', enum: ['simple', 'business', 'academic', 'casual'] }, language },
  annotations: { title: 'Improve', readOnlyHint: true, openWorldHint: true },
}, async ({ text, style, language: lang }) => {
  const { improvements } = await deepl('write/rephrase', { text: [bounded(text)], ...(style && { writing_style: style }), ...(lang && { target_lang: code(lang) }) });
  return String(improvements?.[0]?.text ?? 'DeepL sent nothing.');
});

server.tool('quota', 'Asks DeepL how many characters of this month are used.', { annotations: { title: 'Quota', readOnlyHint: true, openWorldHint: true } }, async () => {
  const usage = await deepl('usage');
  return `${usage.character_count} of ${usage.character_limit} characters`;
});

server.tool('forget_memory', 'Deletes the local memory of translations.', { annotations: { title: 'Forget', readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false } }, async () => {
  const count = (await load()).size;
  memory = new Map();
  await rm(memoryFile, { force: true });
  return `${count} translations forgotten.`;
});

server.run();
