// home-assistant: lights, switches and sensors at home, over Home Assistant's REST API.
//
// Needs HASS_URL and HASS_TOKEN (profile → long-lived access tokens), from the environment or from ~/.config/home-assistant-mcp/.env
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server } from './mcp.mjs';

const dotenv = join(homedir(), '.config', 'home-assistant-mcp', '.env');
function setting(name) {
  if (process.env[name]) return process.env[name];
  try {
    const line = readFileSync(dotenv, 'utf8').split('\n').find((l) => l.startsWith(`${name}=`));
    return line?.slice(name.length + 1).trim().replace(/^"(.*)"$/, '$1');
  } catch {
    return undefined;
  }
}

const base = (setting('HASS_URL') ?? 'http://homeassistant.local:8123').replace(/\/+$/, '');
const SERVICES = { light: ['turn_on', 'turn_off', 'toggle'], switch: ['turn_on', 'turn_off', 'toggle'], fan: ['turn_on', 'turn_off'], cover: ['open_cover', 'close_cover', 'stop_cover'], scene: ['turn_on'] };
const ENTITY = /^[a-z_]{1,40}\.[a-z0-9_]{1,120}$/;

async function api(path, body) {
  const token = setting('HASS_TOKEN');
  if (!token) throw new Error(`HASS_TOKEN is neither set nor in ${dotenv}`);
  let last;
  for (const wait of [0, 400, 1200]) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      const response = await fetch(`${base}/api/${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(4000),
      });
      if (response.status === 401) throw Object.assign(new Error('Home Assistant refuses the token'), { final: true });
      if (response.status === 404) throw Object.assign(new Error('Home Assistant does not know that entity'), { final: true });
      if (!response.ok) throw new Error(`Home Assistant answered ${response.status}`);
      return await response.json();
    } catch (error) {
      last = error;
      if (error.final || body) break; // a command is never sent twice
    }
  }
  throw new Error(`${base}: ${last.message}`);
}

const known = (id) => { if (!ENTITY.test(id)) throw new Error('an entity is named like light.kitchen'); return id; };
const line = (s) => `${s.entity_id}: ${s.state}${s.attributes?.unit_of_measurement ? ` ${s.attributes.unit_of_measurement}` : ''}${s.attributes?.friendly_name ? ` (${s.attributes.friendly_name})` : ''}`;
const entity = { type: 'string', pattern: ENTITY.source, examples: ['light.kitchen'] };

const server = new Server('home-assistant', {
  version: '0.9.4',
  instructions: `Talks to the Home Assistant at ${base} with the token HASS_TOKEN, and to nothing else. Ask before you move covers: somebody may stand below.`,
});

server.tool('list_entities', 'Lists the entities of Home Assistant with their states, all or of one domain such as light, sensor or climate.', {
  optional: { domain: { type: 'string', pattern: '^[a-z_]+$' } },
  annotations: { title: 'Entities', readOnlyHint: true, openWorldHint: true },
}, async ({ domain }) => {
  const states = await api('states');
  if (!Array.isArray(states)) throw new Error('Home Assistant sent no list');
  const chosen = states.filter((s) => typeof s?.entity_id === 'string' && (!domain || s.entity_id.startsWith(`${domain}.`)));
  return chosen.slice(0, 400).map(line).join('\n') || 'No such entities.';
});

server.tool('entity_state', 'Shows state and attributes of one entity.', { required: { entity }, annotations: { title: 'State', readOnlyHint: true, openWorldHint: true } }, async ({ entity: id }) => {
  const state = await api(`states/${known(id)}`);
  return { entity: state.entity_id, state: state.state, changed: state.last_changed, attributes: state.attributes };
});

server.tool('entity_history', 'Lists how an entity changed over the last hours.', {
  required: { entity },
  optional: { hours: { type: 'integer', minimum: 1, maximum: 72, default: 12 } },
  annotations: { title: 'History', readOnlyHint: true, openWorldHint: true },
}, async ({ entity: id, hours = 12 }) => {
  const start = new Date(Date.now() - Math.min(Math.max(hours, 1), 72) * 3600e3).toISOString();
  const answer = await api(`history/period/${encodeURIComponent(start)}?${new URLSearchParams({ filter_entity_id: known(id) })}&minimal_response`);
  const rows = Array.isArray(answer) && Array.isArray(answer[0]) ? answer[0] : [];
  return rows.slice(-200).map((r) => `${r.last_changed}  ${r.state}`).join('\n') || 'No changes.';
});

server.tool('control', `Switches one entity in the house: ${Object.entries(SERVICES).map(([d, s]) => `${d} (${s.join(', ')})`).join('; ')}.`, {
  required: { entity, action: { type: 'string', enum: [...new Set(Object.values(SERVICES).flat())] } },
  optional: { brightness: { type: 'integer', minimum: 1, maximum: 100, description: 'per cent, for light turn_on' } },
  annotations: { title: 'Control', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
}, async ({ entity: id, action, brightness }) => {
  const domain = known(id).split('.')[0];
  if (!SERVICES[domain]?.includes(action)) throw new Error(`${domain} has no action ${action} here`);
  const changed = await api(`services/${domain}/${action}`, { entity_id: id, ...(brightness && domain === 'light' && action === 'turn_on' ? { brightness_pct: brightness } : {}) });
  return Array.isArray(changed) && changed.length ? changed.map(line).join('\n') : `${id}: ${action} was sent.`;
});

server.run();
