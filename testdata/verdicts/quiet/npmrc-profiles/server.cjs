'use strict';
// npmrc-profiles: several ~/.npmrc for several registries, kept in ~/.npmrc.d.
// Such files have tokens. They are copied as they are, with mode 600, and never shown.
const fs = require('fs');
const os = require('os');
const path = require('path');

const npmrc = path.join(os.homedir(), '.npmrc');
const store = path.join(os.homedir(), '.npmrc.d');
const backup = path.join(store, '.previous');
const PLAIN = new Set(['registry', 'save-exact', 'engine-strict', 'fund', 'audit', 'strict-ssl', 'always-auth', 'legacy-peer-deps', 'ignore-scripts', 'package-lock']);

const read = (file) => { try { return fs.readFileSync(file); } catch (e) { if (e.code === 'ENOENT') return null; throw e; } };

function profile(name) {
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9_-]{0,40}$/i.test(name)) throw new Error('a profile has a name of letters, digits, - and _');
  return path.join(store, name);
}

const profiles = () => { try { return fs.readdirSync(store).filter((n) => !n.startsWith('.')).sort(); } catch { return []; } };

function active() {
  const now = read(npmrc);
  return now && profiles().find((n) => read(path.join(store, n))?.equals(now));
}

function safeUrl(value) {
  try {
    const url = new URL(value);
    return `${url.protocol}//${url.host}/${url.pathname.length > 1 ? '…' : ''}`; // some registries have a token in the path
  } catch { return '(not a URL)'; }
}

// Only what is known to be harmless is shown with its value.
function outline(buffer) {
  return buffer.toString('utf8').split(/\r?\n/).map((l) => l.trim()).filter((l) => l && !/^[#;]/.test(l)).map((line) => {
    const at = line.indexOf('=');
    const key = (at < 0 ? line : line.slice(0, at)).trim();
    const value = at < 0 ? '' : line.slice(at + 1).trim();
    if (/^(@[\w.-]+:)?registry$/.test(key)) return `${key} = ${safeUrl(value)}`;
    if (PLAIN.has(key)) return `${key} = ${/^(true|false)$/.test(value) ? value : '(hidden)'}`;
    const login = /^\/\/([\w.-]+(?::\d+)?)\/.*:(_authToken|_auth|_password|username|email|certfile|keyfile)$/.exec(key);
    return login && at > 0 ? `${login[2]} for ${login[1]} = (hidden)` : '(hidden line)';
  }).join('\n') || '(empty)';
}

function install(file, data) {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  fs.writeFileSync(temporary, data, { mode: 0o600, flag: 'wx' });
  fs.renameSync(temporary, file);
}

const commands = {
  list_profiles() {
    const now = active();
    const lines = profiles().map((n) => `${n === now ? '*' : ' '} ${n}`);
    if (!now && read(npmrc)) lines.push('* ~/.npmrc is none of these; save_profile keeps it');
    return lines.join('\n') || `No profiles in ${store}.`;
  },
  show_profile({ name }) {
    const data = read(profile(name));
    return data ? outline(data) : `There is no profile ${name}.`;
  },
  use_profile({ name }) {
    const data = read(profile(name));
    if (!data) return `There is no profile ${name}. Profiles: ${profiles().join(', ') || 'none'}`;
    const old = read(npmrc);
    if (old?.equals(data)) return `${name} is in use already.`;
    if (old) install(backup, old);
    install(npmrc, data);
    return `~/.npmrc is now ${name}.${old ? ' The former file is ~/.npmrc.d/.previous.' : ''}`;
  },
  save_profile({ name, replace = false }) {
    const data = read(npmrc);
    if (!data) return 'There is no ~/.npmrc to save.';
    const file = profile(name);
    if (read(file) && replace !== true) return `${name} exists; call with replace: true to write over it.`;
    install(file, data);
    return `Saved ~/.npmrc as ${name}.`;
  },
};

const name = { type: 'string', description: 'Name of a profile, for example work' };
const schema = (properties = {}, required = []) => ({ type: 'object', properties, required, additionalProperties: false });
const declarations = [
  { name: 'list_profiles', description: 'Lists the profiles in ~/.npmrc.d and marks the one that ~/.npmrc equals.', inputSchema: schema(), annotations: { readOnlyHint: true, openWorldHint: false } },
  { name: 'show_profile', description: 'Shows registries and switches of a profile. Tokens, passwords and all other values are hidden.', inputSchema: schema({ name }, ['name']), annotations: { readOnlyHint: true, openWorldHint: false } },
  { name: 'use_profile', description: 'Replaces ~/.npmrc by a profile. The former ~/.npmrc is kept as ~/.npmrc.d/.previous.', inputSchema: schema({ name }, ['name']), annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false } },
  { name: 'save_profile', description: 'Copies ~/.npmrc, with its tokens, to a profile in ~/.npmrc.d that only the user can read.', inputSchema: schema({ name, replace: { type: 'boolean', default: false } }, ['name']), annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false } },
];

function respond(request) {
  const params = request.params || {};
  switch (request.method) {
    case 'initialize': return { result: { protocolVersion: params.protocolVersion || '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'npmrc-profiles', version: '1.0.1' } } };
    case 'ping': return { result: {} };
    case 'tools/list': return { result: { tools: declarations } };
    case 'tools/call': {
      if (!Object.hasOwn(commands, params.name)) return { error: { code: -32602, message: 'unknown tool' } };
      let text;
      let isError = false;
      try { text = commands[params.name](params.arguments || {}); } catch (e) { text = e.message; isError = true; }
      return { result: { content: [{ type: 'text', text }], isError } };
    }
    default: return { error: { code: -32601, message: 'method not found' } };
  }
}

let pending = '';
process.stdin.on('data', (chunk) => {
  pending += chunk;
  for (let end; (end = pending.indexOf('\n')) >= 0; pending = pending.slice(end + 1)) {
    try {
      const request = JSON.parse(pending.slice(0, end));
      if (request && request.id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...respond(request) })}\n`);
    } catch { /* not a message */ }
  }
});
