// Switches the lamps of a Hue bridge in the home network. LAMP_BRIDGE is its address, LAMP_USER the name it gave us.
import http from 'node:http';
import { isIP } from 'node:net';
import { Server } from './mcp.mjs';

const bridge = process.env.LAMP_BRIDGE ?? '192.168.1.40';
const user = process.env.LAMP_USER ?? 'newdeveloper';
if (!isIP(bridge)) {
  console.error('LAMP_BRIDGE must be the IP address of the bridge.');
  process.exit(2);
}

function talk(method, path, body) {
  return new Promise((resolve) => {
    const data = body && JSON.stringify(body);
    const request = http.request({ host: bridge, port: 80, method, path: `/api/${encodeURIComponent(user)}${path}`, timeout: 3000,
      headers: data ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(data) } : {} }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => { if (text.length < 1e6) text += part; });
      response.on('end', () => { try { resolve(JSON.parse(text)); } catch { resolve(null); } });
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', () => resolve(null));
    request.end(data || undefined);
  });
}

const isLamp = (entry) => entry && typeof entry === 'object' && entry.state && typeof entry.name === 'string';
const home = { openWorldHint: false };
const lamp = { type: 'integer', minimum: 1, maximum: 63, description: 'number of the lamp, see list_lamps' };
const server = new Server('lamp-switch', { instructions: `Lamps hang on the bridge at ${bridge} in your own network; nothing is sent to the internet.` });

server.tool('list_lamps', 'Lists the lamps of the bridge in the home network, and whether they are on.', { annotations: { ...home, readOnlyHint: true } }, async () => {
  const lamps = Object.entries((await talk('GET', '/lights')) ?? {}).filter(([, entry]) => isLamp(entry));
  return lamps.map(([id, { name, state }]) => `${id}: ${name}, ${state.on ? 'on' : 'off'}`).join('\n') || `No lamps: is the bridge at ${bridge} on, and is the user known to it?`;
});

server.tool('set_lamp', 'Switches a lamp in the home network on or off, or dims it.', {
  required: { lamp, on: { type: 'boolean' } }, optional: { brightness: { type: 'integer', minimum: 1, maximum: 254 } },
  annotations: { ...home, destructiveHint: false, idempotentHint: true },
}, async ({ lamp: id, on, brightness }) => {
  if (id < 1 || id > 63) return 'A bridge has lamps 1 to 63.';
  const state = { on, ...(brightness === undefined ? {} : { bri: Math.min(Math.max(brightness, 1), 254) }) };
  const answer = await talk('PUT', `/lights/${id}/state`, state);
  const done = Array.isArray(answer) && answer.length && answer.every((part) => part?.success);
  return done ? `Lamp ${id} is ${on ? 'on' : 'off'}.` : `The bridge did not switch lamp ${id}.`;
});

server.run();
