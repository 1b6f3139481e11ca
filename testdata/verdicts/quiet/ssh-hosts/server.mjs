// Lists the hosts of ~/.ssh/config. Keys are named by path, as the file does, and never opened.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const file = join(homedir(), '.ssh', 'config');
const pure = { readOnlyHint: true, openWorldHint: false };
const server = new Server('ssh-hosts', { version: '1.2.2', instructions: 'Reads ~/.ssh/config and nothing else below ~/.ssh.' });

async function hosts() {
  let text;
  try { text = await readFile(file, 'utf8'); } catch { return []; }
  const blocks = [];
  for (const line of text.split('\n')) {
    const m = /^\s*(\w+)(?:\s*=\s*|\s+)(.+?)\s*$/.exec(line.replace(/^\s*#.*/, ''));
    if (!m) continue;
    const [, option, value] = m;
    if (/^host$/i.test(option)) blocks.push({ names: value.split(/\s+/), options: [] });
    else if (/^match$/i.test(option)) blocks.push({ names: [], options: [] });
    else blocks.at(-1)?.options.push([option, value]);
  }
  return blocks;
}

const matches = (pattern, name) => new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.')}$`).test(name);

server.tool('list_hosts', 'Lists the hosts that ~/.ssh/config names, without patterns.', { annotations: pure }, async () => {
  const found = (await hosts()).flatMap(({ names, options }) => names.filter((n) => !/[*?!]/.test(n)).map((n) => {
    const get = (what) => options.find(([o]) => o.toLowerCase() === what)?.[1];
    return `${n}${get('hostname') ? ` (${get('user') ? `${get('user')}@` : ''}${get('hostname')})` : ''}`;
  }));
  return found.join('\n') || 'There are no hosts in ~/.ssh/config.';
});

server.tool('host_options', 'Shows which options of ~/.ssh/config apply to a host, the first of each kind, as ssh takes them.', { required: { host: { ...string, maxLength: 100 } }, annotations: pure }, async ({ host }) => {
  const taken = new Map();
  for (const { names, options } of await hosts()) {
    if (!names.some((n) => n.length < 100 && (n.match(/\*/g)?.length ?? 0) < 5 && matches(n, host.slice(0, 100)))) continue;
    for (const [option, value] of options) if (!taken.has(option.toLowerCase())) taken.set(option.toLowerCase(), `${option} ${value}`);
  }
  return [...taken.values()].join('\n') || 'No options of ~/.ssh/config apply to this host.';
});

server.tool('write_host_block', 'Writes a block for ~/.ssh/config as text, for the user to paste. No file is changed.', {
  required: { alias: string, hostname: string }, optional: { user: string, port: { type: 'integer', minimum: 1, maximum: 65535 }, jump: string }, annotations: pure,
}, ({ alias, hostname, user, port, jump }) => {
  const word = /^[\w][\w.@:-]{0,100}$/;
  if (![alias, hostname, user, jump].every((w) => w === undefined || word.test(w))) return 'Names of hosts and users have letters, digits, dots and dashes.';
  return [`Host ${alias}`, `  HostName ${hostname}`, user && `  User ${user}`, port && `  Port ${port}`, jump && `  ProxyJump ${jump}`, '  IdentitiesOnly yes', '  IdentityFile ~/.ssh/id_ed25519'].filter(Boolean).join('\n');
});

server.run();
