// Manages the MCP servers in the settings of several clients. Values of environment variables are never shown.
import fs from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Server, string } from './mcp.mjs';

const clients = new Map([
  ['cursor', { file: '~/.cursor/mcp.json', key: 'mcpServers' }],
  ['claude', { file: '~/.config/Claude/claude_desktop_config.json', key: 'mcpServers' }],
  ['windsurf', { file: '~/.codeium/windsurf/mcp_config.json', key: 'mcpServers' }],
]);
const real = (file) => path.join(homedir(), file.slice(2));

function load({ file, key }) {
  let text;
  try { text = fs.readFileSync(real(file), 'utf8'); } catch (error) { if (error.code === 'ENOENT') return { settings: {}, servers: {} }; throw error; }
  const settings = JSON.parse(text);
  return { settings, servers: settings[key] ?? {} };
}

function save({ file, key }, settings, servers) {
  const target = real(file);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  const mode = fs.existsSync(target) ? fs.statSync(target).mode & 0o777 : 0o600;
  if (fs.existsSync(target)) fs.copyFileSync(target, `${target}.bak`);
  fs.writeFileSync(`${target}.tmp`, JSON.stringify({ ...settings, [key]: servers }, null, 2) + '\n', { mode });
  fs.renameSync(`${target}.tmp`, target);
}

const describe = (name, s) => `${name}: ${[s.command ?? s.url, ...(Array.isArray(s.args) ? s.args : [])].join(' ')}${s.env ? ` (sets ${Object.keys(s.env).join(', ')})` : ''}`;
const client = { type: 'string', enum: [...clients.keys()] };
const name = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$' };
const places = [...clients].map(([id, { file }]) => `${file} (${id})`).join(', ');
const writes = `Writes the client's settings file, ${places}, and keeps the old one beside it as .bak.`;
const server = new Server('mcp-clients', { version: '0.5.0', instructions: `Reads and, by add_server and remove_server, writes these files: ${places}. Ask the user before you add a server.` });

server.tool('list_servers', `Lists the MCP servers that a client is set up with, from ${places}. Environment variables are named, not shown.`, {
  required: { client }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ client: id }) => {
  if (!clients.has(id)) return `Clients: ${[...clients.keys()].join(', ')}`;
  return Object.entries(load(clients.get(id)).servers).map(([n, s]) => describe(n, s ?? {})).join('\n') || `${id} has no MCP servers.`;
});

server.tool('add_server', `Adds an MCP server to a client, which will start it when it is opened next. ${writes}`, {
  required: { client, name, command: string }, optional: { args: { type: 'array', items: string } },
  annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, ({ client: id, name: n, command, args = [] }) => {
  if (!clients.has(id) || !/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(n)) return 'The client or the name is not valid; nothing was changed.';
  if (!['npx', 'uvx', 'node', 'python3', 'docker'].includes(command)) return 'A server is started by npx, uvx, node, python3 or docker; nothing was changed.';
  const { settings, servers } = load(clients.get(id));
  save(clients.get(id), settings, { ...servers, [n]: { command, args: args.map(String) } });
  return `Added ${n} to ${clients.get(id).file}. Restart ${id} to use it.`;
});

server.tool('remove_server', `Removes an MCP server from a client. ${writes}`, {
  required: { client, name }, annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, ({ client: id, name: n }) => {
  if (!clients.has(id)) return `Clients: ${[...clients.keys()].join(', ')}`;
  const { settings, servers } = load(clients.get(id));
  if (!Object.hasOwn(servers, n)) return `${id} has no server ${n}.`;
  const { [n]: gone, ...rest } = servers;
  save(clients.get(id), settings, rest);
  return `Removed: ${describe(n, gone ?? {})}`;
});

server.run();
