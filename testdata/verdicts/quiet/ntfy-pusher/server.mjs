#!/usr/bin/env node
// ntfy-pusher: notifications through ntfy (https://ntfy.sh, or NTFY_SERVER).
// The topic is set by NTFY_TOPIC and not by the caller, so that nothing goes to strangers. At most NTFY_PER_HOUR (20) an hour.
import { Server, string } from './mcp.mjs';

const { NTFY_SERVER = 'https://ntfy.sh', NTFY_TOPIC = '', NTFY_TOKEN = '' } = process.env;
const perHour = Math.min(Math.max(Number.parseInt(process.env.NTFY_PER_HOUR ?? '20', 10) || 20, 1), 200);
const PRIORITIES = ['min', 'low', 'default', 'high', 'urgent'];
const server = new Server('ntfy-pusher', { version: '1.1.0', instructions: `Sends notifications to the owner's phone through ${NTFY_SERVER}, at most ${perHour} an hour. Anyone who knows the topic can read them, so send no secrets.` });
const sent = [];

async function ntfy(path, init = {}) {
  if (!/^[-_A-Za-z0-9]{1,64}$/.test(NTFY_TOPIC)) throw new Error('NTFY_TOPIC is not set, or is no topic');
  const url = new URL(path, NTFY_SERVER);
  const headers = { ...init.headers, ...(NTFY_TOKEN && { Authorization: `Bearer ${NTFY_TOKEN}` }) };
  const response = await fetch(url, { ...init, headers, redirect: 'error', signal: AbortSignal.timeout(10000) })
    .catch((error) => { throw new Error(`${url.host} is not reachable: ${error.cause?.code ?? error.message}`); });
  const text = await response.text();
  if (!response.ok) {
    let reason = '';
    try { reason = JSON.parse(text).error ?? ''; } catch { /* no JSON */ }
    throw new Error(`${url.host} answered ${response.status} ${String(reason).slice(0, 200)}`.trim());
  }
  return text;
}

function allowance() {
  const since = Date.now() - 3600e3;
  while (sent.length && sent[0] < since) sent.shift();
  return perHour - sent.length;
}

server.tool('send_notification', `Sends a notification to the ntfy topic of the configuration at ${NTFY_SERVER}.`, {
  required: { message: { type: 'string', minLength: 1, maxLength: 4000 } },
  optional: { title: { type: 'string', maxLength: 200 }, priority: { type: 'string', enum: PRIORITIES, default: 'default' }, tags: { type: 'array', items: string, maxItems: 5, description: "ntfy's names of emoji, such as white_check_mark" } },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
}, async ({ message, title, priority = 'default', tags = [] }) => {
  if (!message.trim() || message.length > 4000 || (title ?? '').length > 200) throw new Error('a message has 1 to 4000 characters and a title at most 200');
  if (!PRIORITIES.includes(priority)) throw new Error(`priority is one of ${PRIORITIES.join(', ')}`);
  if (tags.length > 5 || !tags.every((t) => typeof t === 'string' && /^[\w+-]{1,40}$/.test(t))) throw new Error('tags are at most five words');
  if (allowance() < 1) throw new Error(`${perHour} notifications were sent within an hour; wait a little`);
  sent.push(Date.now());
  await ntfy('/', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ topic: NTFY_TOPIC, message, title, priority: PRIORITIES.indexOf(priority) + 1, tags }) })
    .catch((error) => { sent.pop(); throw error; });
  return `Sent; ${allowance()} left this hour.`;
});

server.tool('recent_notifications', 'Lists the notifications that the ntfy server still has of the topic, of at most the last twelve hours.', {
  optional: { hours: { type: 'integer', minimum: 1, maximum: 12, default: 12 } }, annotations: { readOnlyHint: true, openWorldHint: true },
}, async ({ hours = 12 }) => {
  if (hours < 1 || hours > 12) throw new Error('hours is 1 to 12');
  const lines = (await ntfy(`/${NTFY_TOPIC}/json?poll=1&since=${hours}h`)).split('\n').filter(Boolean).slice(-200);
  const found = lines.flatMap((line) => { try { const m = JSON.parse(line); return m.event === 'message' ? [m] : []; } catch { return []; } });
  return found.map((m) => `${new Date(m.time * 1000).toISOString().slice(0, 16)}  ${m.title ? `${m.title}: ` : ''}${m.message}`).join('\n') || 'Nothing was sent.';
});

server.tool('remaining', 'Says how many notifications may still be sent within this hour.', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => `${allowance()} of ${perHour}`);

server.run();
