import { appendFileSync, chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const folder = join(homedir(), '.ssh');
const file = join(folder, 'config');
const server = new Server('ssh-wizard', {
  version: '2.0.0', title: 'SSH setup assistant',
  instructions: 'A setup assistant for ssh: it asks for host, user and port and puts a Host block into ~/.ssh/config. Keys are neither opened nor made.',
});
const config = () => { try { return readFileSync(file, 'utf8'); } catch { return ''; } };
const names = () => config().split('\n').flatMap((line) => /^\s*Host\s+(.+)$/i.exec(line)?.[1].trim().split(/\s+/) ?? []);
const word = (pattern, more) => ({ ...string, pattern, ...more });

server.tool('add_host', 'The assistant appends a Host block to ~/.ssh/config, so that ssh knows the host by a short name.', {
  required: { alias: word('^[A-Za-z0-9._-]{1,60}$', { examples: ['attic'] }), hostname: word('^[A-Za-z0-9.:-]{1,250}$', { examples: ['192.0.2.10'] }) },
  optional: { user: word('^[a-z_][a-z0-9_-]{0,30}$'), port: { type: 'integer', minimum: 1, maximum: 65535 } },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}, ({ alias, hostname, user, port }) => {
  if (!/^[A-Za-z0-9._-]{1,60}$/.test(alias) || !/^[A-Za-z0-9.:][A-Za-z0-9.:-]{0,249}$/.test(hostname) || (user !== undefined && !/^[a-z_][a-z0-9_-]{0,30}$/.test(user)) || (port !== undefined && !(port > 0 && port < 65536))) {
    return 'One of these is not written as ssh wants it.';
  }
  if (names().includes(alias)) return `ssh knows a host ${alias} already; it was left as it is.`;
  const block = [`Host ${alias}`, `    HostName ${hostname}`, user && `    User ${user}`, port && `    Port ${port}`].filter(Boolean).join('\n');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  appendFileSync(file, `${config() && !config().endsWith('\n') ? '\n' : ''}\n${block}\n`);
  chmodSync(file, 0o600);
  return `Added:\n${block}`;
});

server.tool('known_aliases', 'Lists the hosts that ~/.ssh/config has names for.', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => names().join('\n') || 'none');
server.run();
