// ollama-shelf: the models of an Ollama that runs on this machine (or at OLLAMA_HOST).
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Server, string } from './mcp.mjs';

const VERSION = '1.8.0';
const base = (() => {
  const host = process.env.OLLAMA_HOST || '127.0.0.1:11434';
  const url = new URL(/^https?:\/\//.test(host) ? host : `http://${host}`);
  if (!url.port && url.protocol === 'http:') url.port = '11434';
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'; // what the daemon listens on is not where to reach it
  return url;
})();

async function ollama(path, body, seconds = 5) {
  let response;
  try {
    response = await fetch(new URL(path, base), {
      method: body ? 'POST' : 'GET', body: body && JSON.stringify(body),
      headers: { 'content-type': 'application/json' }, redirect: 'error', signal: AbortSignal.timeout(seconds * 1000),
    });
  } catch (error) {
    throw new Error(`Ollama does not answer at ${base.host} (${error.cause?.code ?? error.name}). Is "ollama serve" running?`);
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`Ollama answered ${response.status}: ${text.slice(0, 200)}`);
  try { return JSON.parse(text); } catch { throw new Error(`What listens at ${base.host} does not answer like Ollama.`); }
}

// The update check, at most once a day, as the instructions say. A failure is of no interest to anyone.
const STAMP = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'ollama-shelf', 'update-check.json');
let newer = '';
async function lookForUpdate() {
  if (process.env.NO_UPDATE_NOTIFIER || process.env.CI) return;
  try {
    let seen = await readFile(STAMP, 'utf8').then(JSON.parse).catch(() => ({ at: 0 }));
    if (Date.now() - seen.at > 86400e3) {
      const reply = await fetch('https://registry.npmjs.org/ollama-shelf/latest', { signal: AbortSignal.timeout(4000) });
      const { version } = await reply.json();
      seen = { at: Date.now(), version: /^\d+\.\d+\.\d+$/.test(version) ? version : VERSION };
      await mkdir(dirname(STAMP), { recursive: true });
      await writeFile(STAMP, JSON.stringify(seen));
    }
    const parts = (v) => v.split('.').map(Number);
    const [a, b] = [parts(seen.version), parts(VERSION)];
    const at = a.findIndex((n, i) => n !== b[i]);
    if (at >= 0 && a[at] > b[at]) newer = `\n(ollama-shelf ${seen.version} is out, this is ${VERSION})`;
  } catch { /* offline */ }
}

const server = new Server('ollama-shelf', {
  version: VERSION,
  instructions: `Works with the Ollama at ${base.host}; prompts go nowhere else. At start, at most once a day, it asks registry.npmjs.org whether a newer version of ollama-shelf is out and notes the answer in ~/.cache/ollama-shelf; NO_UPDATE_NOTIFIER=1 turns that off.`,
});
const size = (bytes) => (bytes ? `${(bytes / 2 ** 30).toFixed(1)} GiB` : 'unknown size');
const model = { ...string, pattern: '^[\\w./:-]+$', examples: ['llama3.2:3b'] };

server.tool('list_models', 'Lists the models that the local Ollama has downloaded, with their sizes.', { annotations: { readOnlyHint: true } }, async () => {
  const { models = [] } = await ollama('/api/tags');
  return (models.map((m) => `${m.name}  ${size(m.size)}  ${m.details?.parameter_size ?? ''} ${m.details?.quantization_level ?? ''}`.trimEnd()).join('\n') || 'No model is downloaded. "ollama pull llama3.2" gets one.') + newer;
});

server.tool('running_models', 'Lists the models that Ollama holds in memory now.', { annotations: { readOnlyHint: true } }, async () => {
  const { models = [] } = await ollama('/api/ps');
  return models.map((m) => `${m.name}  ${size(m.size)}, ${size(m.size_vram)} of it on the GPU, until ${m.expires_at}`).join('\n') || 'None.';
});

server.tool('describe_model', 'Shows family, context length, licence and template of a model.', { required: { model }, annotations: { readOnlyHint: true } }, async (args) => {
  const { details = {}, model_info: info = {}, license = '', template = '' } = await ollama('/api/show', { model: args.model });
  const context = Object.entries(info).find(([key]) => key.endsWith('.context_length'))?.[1] ?? 'unknown';
  return [`family: ${details.family ?? 'unknown'}`, `context: ${context}`, `licence: ${String(license).split('\n', 1)[0] || 'unknown'}`, `template:\n${String(template).slice(0, 1500)}`].join('\n');
});

server.tool('ask_model', 'Sends a prompt to a local model and answers what it says. May take up to two minutes.', {
  required: { model, prompt: string }, optional: { temperature: { type: 'number', minimum: 0, maximum: 2 } },
}, async ({ model: name, prompt, temperature }) => {
  const answer = await ollama('/api/generate', { model: name, prompt, stream: false, options: temperature === undefined ? {} : { temperature } }, 120);
  return `${answer.response ?? ''}\n\n[${answer.eval_count ?? '?'} tokens in ${((answer.total_duration ?? 0) / 1e9).toFixed(1)} s]`;
});

server.started = lookForUpdate;
server.run();
