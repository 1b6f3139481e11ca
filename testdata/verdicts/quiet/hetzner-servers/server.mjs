// Hetzner Cloud servers: list, power, types and prices, and a cloud-init text for a new one.
import { readFile, writeFile, mkdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, string } from './mcp.mjs';

const api = 'https://api.hetzner.cloud/v1';
const config = join(process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'hcloud', 'cli.toml');
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hetzner-servers', 'server_types.json');
const day = 24 * 3600 * 1000;

const server = new Server('hetzner-servers', {
  version: '1.4.0',
  instructions: 'Talks to api.hetzner.cloud with the token of HCLOUD_TOKEN, or of the active context in ~/.config/hcloud/cli.toml as the hcloud command keeps it. Ask the user before you turn a server off.',
});

async function token() {
  if (process.env.HCLOUD_TOKEN) return process.env.HCLOUD_TOKEN;
  const text = await readFile(config, 'utf8').catch(() => '');
  const active = text.match(/^\s*active_context\s*=\s*["'](.+?)["']/m)?.[1];
  for (const block of text.split(/^\s*\[\[contexts\]\]\s*$/m).slice(1)) {
    const field = (name) => block.match(new RegExp(`^\\s*${name}\\s*=\\s*["'](.+?)["']`, 'm'))?.[1];
    if (field('name') === active && field('token')) return field('token');
  }
  throw new Error(`set HCLOUD_TOKEN, or run: hcloud context create (no active context in ${config})`);
}

async function call(path, { method = 'GET', body } = {}) {
  const headers = { authorization: `Bearer ${await token()}`, 'user-agent': 'hetzner-servers/1.4.0' };
  if (body) headers['content-type'] = 'application/json';
  for (let tries = 1; ; tries++) {
    const response = await fetch(api + path, { method, headers, body: body && JSON.stringify(body), redirect: 'error', signal: AbortSignal.timeout(10_000) })
      .catch((error) => { throw new Error(`api.hetzner.cloud cannot be reached: ${error.cause?.code ?? error.message}`); });
    if (response.status === 429 && tries < 3) {
      await sleep(1000 * tries);
      continue;
    }
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(`${path}: ${response.status} ${answer.error?.message ?? response.statusText}`);
    return answer;
  }
}

const line = (s) => `${s.id}  ${s.name}  ${s.status}  ${s.server_type?.name ?? '?'}  ${s.public_net?.ipv4?.ip ?? 'no IPv4'}  ${s.datacenter?.name ?? ''}`;

server.tool('list_servers', 'Lists the servers of the project with status, type and address.', {
  optional: { label: { type: 'string', description: 'Label selector, for example env=prod' } }, annotations: { readOnlyHint: true, openWorldHint: true },
}, async ({ label }) => {
  const found = [];
  for (let page = 1; page && page < 20;) {
    const query = new URLSearchParams({ page, per_page: 50, ...(label && { label_selector: label }) });
    const { servers = [], meta } = await call(`/servers?${query}`);
    found.push(...servers);
    page = meta?.pagination?.next_page;
  }
  return found.map(line).join('\n') || 'No servers.';
});

const actions = { on: 'poweron', shutdown: 'shutdown', reboot: 'reboot', off: 'poweroff' };
server.tool('power', 'Turns a server on, shuts it down or reboots it by ACPI, or cuts its power (off).', {
  required: { id: { type: 'integer', minimum: 1 }, action: { type: 'string', enum: Object.keys(actions) } },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
}, async ({ id, action }) => {
  if (!Object.hasOwn(actions, action) || id < 1) throw new Error(`action is one of ${Object.keys(actions).join(', ')}`);
  const { action: started } = await call(`/servers/${id}/actions/${actions[action]}`, { method: 'POST' });
  return `${started?.command ?? action}: ${started?.status ?? 'sent'}`;
});

server.tool('server_types', 'Lists server types with cores, memory, disk and monthly price at Falkenstein. The answer is kept for a day in ~/.cache/hetzner-servers.', {
  annotations: { destructiveHint: false, openWorldHint: true },
}, async () => {
  let types;
  if (await stat(cache).then((s) => Date.now() - s.mtimeMs < day, () => false)) types = JSON.parse(await readFile(cache, 'utf8'));
  else {
    types = (await call('/server_types?per_page=50')).server_types ?? [];
    await mkdir(join(cache, '..'), { recursive: true });
    await writeFile(cache, JSON.stringify(types));
  }
  return types.filter((t) => !t.deprecated).map((t) => {
    const price = t.prices?.find((p) => p.location === 'fsn1')?.price_monthly?.gross;
    return `${t.name}: ${t.cores} cores, ${t.memory} GB, ${t.disk} GB disk${price ? `, ${Number(price).toFixed(2)} EUR` : ''}`;
  }).join('\n');
});

server.tool('write_cloud_init', 'Writes a cloud-init text for a new server: host name, packages, and a user who logs in by key. Only the text is made, nothing is sent.', {
  required: { hostname: string }, optional: { packages: { type: 'array', items: string }, user: string, public_key: { type: 'string', description: 'A public SSH key' } },
  annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ hostname, packages = [], user, public_key: key }) => {
  if (!/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i.test(hostname)) throw new Error('that is no host name');
  if (key && /PRIVATE KEY/.test(key)) throw new Error('this is a private key; give the public one');
  const yaml = ['#cloud-config', `hostname: ${JSON.stringify(hostname)}`, 'package_update: true'];
  if (packages.length) yaml.push('packages:', ...packages.map((p) => `  - ${JSON.stringify(String(p))}`));
  if (user) yaml.push('users:', `  - name: ${JSON.stringify(user)}`, '    shell: /bin/bash', '    lock_passwd: true');
  if (user && key) yaml.push('    ssh_authorized_keys:', `      - ${JSON.stringify(key.trim())}`);
  return yaml.join('\n') + '\n';
});

server.run();
