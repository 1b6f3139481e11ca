#!/usr/bin/env node
'use strict';
// Fly.io machines. The token is FLY_API_TOKEN, or access_token of ~/.fly/config.yml, where flyctl puts it.
const https = require('node:https');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const HOST = 'api.machines.dev';
const CONFIG = path.join(process.env.FLY_CONFIG_DIR || path.join(os.homedir(), '.fly'), 'config.yml');

function flyToken() {
  if (process.env.FLY_API_TOKEN) return process.env.FLY_API_TOKEN;
  let text = '';
  try { text = fs.readFileSync(CONFIG, 'utf8'); } catch (e) { if (e.code !== 'ENOENT') throw e; }
  const found = /^access_token:\s*["']?([^"'\r\n]+)/m.exec(text);
  if (!found) throw new Error(`No token. Set FLY_API_TOKEN or run: fly auth login (looked into ${CONFIG})`);
  return found[1].trim();
}

function fly(method, route) {
  return new Promise((done, fail) => {
    const token = flyToken();
    const authorization = token.startsWith('FlyV1 ') ? token : `Bearer ${token}`;
    const request = https.request({ host: HOST, path: `/v1${route}`, method, timeout: 15000, headers: { authorization, 'user-agent': 'fly-machines-mcp/0.2', accept: 'application/json' } }, (response) => {
      const parts = [];
      response.on('data', (d) => parts.push(d)).on('error', fail).on('end', () => {
        const text = Buffer.concat(parts).toString();
        let data;
        try { data = (text && JSON.parse(text)) || {}; } catch { return fail(new Error(`${HOST} answered ${response.statusCode} without JSON`)); }
        if (response.statusCode >= 300) return fail(new Error(`${method} ${route}: ${response.statusCode} ${data.error || ''}`.trim()));
        done(data);
      });
    });
    request.on('timeout', () => request.destroy(new Error(`${HOST} did not answer within 15 seconds`)));
    request.on('error', fail);
    request.end();
  });
}

// The few parts of TOML that fly.toml uses.
function parseToml(text) {
  const out = {};
  let section = '';
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    const head = /^\[{1,2}([\w.'"-]+)\]{1,2}$/.exec(line);
    const pair = /^([\w-]+)\s*=\s*(.+?)(\s+#.*)?$/.exec(line);
    if (head) section = head[1];
    else if (pair) out[section ? `${section}.${pair[1]}` : pair[1]] = pair[2].replace(/^["']|["']$/g, '');
  }
  return out;
}

function checked(text, pattern, what) {
  if (!pattern.test(text)) throw new Error(`${text} is no ${what}`);
  return text;
}
const appName = (app) => checked(app, /^[a-z0-9][a-z0-9-]{0,62}$/, 'name of an app');
const machineId = (id) => checked(id, /^[0-9a-f]{8,20}$/, 'id of a machine; list_machines shows them');

const app = { type: 'string', description: 'Name of the app at Fly.io' };
const TOOLS = [{
  name: 'list_machines', title: 'List machines',
  description: 'Lists the machines of a Fly.io app with state, region, size and image.',
  inputSchema: { type: 'object', properties: { app }, required: ['app'] },
  annotations: { readOnlyHint: true, openWorldHint: true },
  run: async (a) => {
    const machines = await fly('GET', `/apps/${appName(a.app)}/machines`);
    return (Array.isArray(machines) ? machines : []).map((m) => {
      const guest = m.config?.guest ?? {};
      return `${m.id}  ${m.name}  ${m.state}  ${m.region}  ${guest.cpu_kind || '?'} x${guest.cpus || '?'} ${guest.memory_mb || '?'} MB  ${m.image_ref?.tag ?? ''}`;
    }).join('\n') || 'The app has no machines.';
  },
}, {
  name: 'change_machine', title: 'Start, stop or restart',
  description: 'Starts, stops or restarts a machine of a Fly.io app. Users may notice.',
  inputSchema: { type: 'object', properties: { app, machine: { type: 'string' }, action: { type: 'string', enum: ['start', 'stop', 'restart'] } }, required: ['app', 'machine', 'action'] },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  run: async (a) => {
    if (!['start', 'stop', 'restart'].includes(a.action)) throw new Error('action is start, stop or restart');
    await fly('POST', `/apps/${appName(a.app)}/machines/${machineId(a.machine)}/${a.action}`);
    return `${a.action} was sent to ${a.machine}.`;
  },
}, {
  name: 'explain_fly_toml', title: 'Explain fly.toml',
  description: 'Reads fly.toml in the working directory and says what it sets, with hints on common mistakes. Variables of [env] are named without their values.',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
  run: async () => {
    let text;
    try { text = fs.readFileSync('fly.toml', 'utf8'); } catch { return `There is no fly.toml in ${process.cwd()}.`; }
    const set = parseToml(text);
    const lines = Object.entries(set).map(([k, v]) => (k.startsWith('env.') ? `${k} is set` : `${k} = ${v}`));
    if (!set.app) lines.push('! no app is named');
    if (set['http_service.force_https'] !== 'true' && set['http_service.internal_port']) lines.push('! force_https is off');
    if (set['http_service.auto_stop_machines'] && set['http_service.min_machines_running'] === undefined) lines.push('! min_machines_running is not set: the first request after a pause will be slow');
    if (set['mounts.source']) lines.push('! a volume belongs to one machine; a second machine needs its own');
    return lines.join('\n');
  },
}];

async function result(method, params) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: params.protocolVersion || '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'fly-machines', version: '0.2.0' }, instructions: 'Manages machines through api.machines.dev with FLY_API_TOKEN, or with the token that flyctl keeps in ~/.fly/config.yml.' };
    case 'ping': return {};
    case 'tools/list': return { tools: TOOLS.map(({ run, ...rest }) => rest) };
    case 'tools/call': {
      const tool = TOOLS.find((t) => t.name === params.name);
      if (!tool) throw Object.assign(new Error(`Unknown tool: ${params.name}`), { code: -32602 });
      const given = params.arguments || {};
      const missing = (tool.inputSchema.required || []).filter((k) => typeof given[k] !== 'string');
      if (missing.length) return { isError: true, content: [{ type: 'text', text: `These have to be texts: ${missing.join(', ')}` }] };
      try { return { content: [{ type: 'text', text: await tool.run(given) }] }; } catch (e) { return { isError: true, content: [{ type: 'text', text: e.message }] }; }
    }
  }
  throw Object.assign(new Error(`Method not found: ${method}`), { code: -32601 });
}

let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    let message;
    try { message = JSON.parse(line); } catch { continue; }
    if (!message || message.id === undefined) continue;
    const write = (more) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...more }) + '\n');
    result(message.method, message.params || {}).then((r) => write({ result: r }), (e) => write({ error: { code: e.code || -32603, message: e.message } }));
  }
});
