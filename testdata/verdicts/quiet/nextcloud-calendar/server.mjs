#!/usr/bin/env node
// nextcloud-calendar: one calendar of a Nextcloud, over CalDAV (RFC 4791).
// NEXTCLOUD_CALENDAR is the calendar's private link, NEXTCLOUD_USER and NEXTCLOUD_APP_PASSWORD an app password for it.
import { randomUUID } from 'node:crypto';
import { Server } from './mcp.mjs';

const { NEXTCLOUD_CALENDAR = '', NEXTCLOUD_USER = '', NEXTCLOUD_APP_PASSWORD = '' } = process.env;
const server = new Server('nextcloud-calendar', {
  version: '1.4.0',
  instructions: 'Works on the one Nextcloud calendar that NEXTCLOUD_CALENDAR names. Times are UTC unless an event says otherwise.',
});

async function dav(method, name, headers = {}, body) {
  if (!NEXTCLOUD_CALENDAR || !NEXTCLOUD_USER || !NEXTCLOUD_APP_PASSWORD) throw new Error('set NEXTCLOUD_CALENDAR, NEXTCLOUD_USER and NEXTCLOUD_APP_PASSWORD');
  const base = NEXTCLOUD_CALENDAR.endsWith('/') ? NEXTCLOUD_CALENDAR : `${NEXTCLOUD_CALENDAR}/`;
  const url = new URL(name, base);
  if (url.protocol !== 'https:') throw new Error('NEXTCLOUD_CALENDAR has to start with https://');
  const response = await fetch(url, {
    method, body, redirect: 'error', signal: AbortSignal.timeout(10000),
    headers: { Authorization: `Basic ${Buffer.from(`${NEXTCLOUD_USER}:${NEXTCLOUD_APP_PASSWORD}`).toString('base64')}`, ...headers },
  }).catch((error) => { throw new Error(`${url.host} is not reachable: ${error.cause?.code ?? error.message}`); });
  if (!response.ok) throw new Error(`${url.host} answered ${response.status}${response.status === 412 ? ' (the event has changed meanwhile)' : ''}`);
  return response;
}

const stamp = (date) => date.toISOString().replace(/[-:]|\.\d+/g, '');
const escape = (s) => s.replace(/\r/g, '').replace(/[\\;,]/g, '\\$&').replace(/\n/g, '\\n');
const unescape = (s) => s.replace(/\\([\\;,nN])/g, (_, c) => (c.toLowerCase() === 'n' ? '\n' : c));
const xml = (s) => s.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&#13;/g, '\r').replace(/&amp;/g, '&');

// fold cuts content lines after at most 75 octets, as RFC 5545 wants it.
function fold(line) {
  let out = '';
  let octets = 0;
  for (const c of line) {
    const n = Buffer.byteLength(c);
    if (octets + n > 74) { out += '\r\n '; octets = 1; }
    out += c;
    octets += n;
  }
  return out;
}

function moment(text, name) {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?)?$/.test(text)) throw new Error(`${name} is a time such as 2026-05-04T09:30Z`);
  const date = new Date(/T\d{2}:\d{2}(:\d{2})?$/.test(text) ? `${text}Z` : text);
  if (Number.isNaN(date.getTime())) throw new Error(`${name} is no time that exists`);
  return date;
}

function events(answer) {
  return [...answer.matchAll(/<(?:\w+:)?calendar-data[^>]*>([\s\S]*?)<\/(?:\w+:)?calendar-data>/g)].flatMap(([, data]) => {
    const lines = xml(data).replace(/\r?\n[ \t]/g, '').split(/\r?\n/);
    const field = (name) => { const l = lines.slice(lines.indexOf('BEGIN:VEVENT')).find((x) => x.startsWith(`${name}:`) || x.startsWith(`${name};`)); return l ? unescape(l.slice(l.indexOf(':') + 1)) : ''; };
    return lines.includes('BEGIN:VEVENT') ? [{ uid: field('UID'), start: field('DTSTART'), end: field('DTEND'), title: field('SUMMARY'), place: field('LOCATION') }] : [];
  }).sort((a, b) => (a.start < b.start ? -1 : 1));
}

const time = { type: 'string', examples: ['2026-05-04T09:30Z'] };

server.tool('list_events', 'Lists the events of the Nextcloud calendar between two times, at most 100 days apart.', { required: { from: time, to: time }, annotations: { readOnlyHint: true } }, async ({ from, to }) => {
  const [start, end] = [moment(from, 'from'), moment(to, 'to')];
  if (end <= start || end - start > 100 * 86400e3) throw new Error('to has to come after from, by at most 100 days');
  const query = `<?xml version="1.0"?><c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><c:calendar-data/></d:prop><c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"><c:time-range start="${stamp(start)}" end="${stamp(end)}"/></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`;
  const response = await dav('REPORT', '', { Depth: '1', 'Content-Type': 'application/xml; charset=utf-8' }, query);
  const found = events(await response.text());
  return found.length ? found.map((e) => `${e.start}–${e.end}  ${e.title}${e.place ? ` (${e.place})` : ''}  [${e.uid}]`).join('\n') : 'No events.';
});

server.tool('add_event', 'Adds an event to the Nextcloud calendar.', {
  required: { title: { type: 'string', minLength: 1, maxLength: 300 }, start: time, end: time },
  optional: { place: { type: 'string', maxLength: 300 }, notes: { type: 'string', maxLength: 5000 } },
  annotations: { readOnlyHint: false, destructiveHint: false },
}, async ({ title, start, end, place, notes }) => {
  if (!title.trim() || title.length > 300 || (place ?? '').length > 300 || (notes ?? '').length > 5000) throw new Error('a title is needed; title and place have at most 300 characters, notes 5000');
  const [from, to] = [moment(start, 'start'), moment(end, 'end')];
  if (to <= from) throw new Error('end has to come after start');
  const uid = randomUUID();
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//nextcloud-calendar//EN', 'BEGIN:VEVENT', `UID:${uid}`, `DTSTAMP:${stamp(new Date())}`, `DTSTART:${stamp(from)}`, `DTEND:${stamp(to)}`, `SUMMARY:${escape(title)}`];
  if (place) lines.push(`LOCATION:${escape(place)}`);
  if (notes) lines.push(`DESCRIPTION:${escape(notes)}`);
  await dav('PUT', `${uid}.ics`, { 'Content-Type': 'text/calendar; charset=utf-8', 'If-None-Match': '*' }, [...lines, 'END:VEVENT', 'END:VCALENDAR', ''].map(fold).join('\r\n'));
  return `Added, uid ${uid}`;
});

server.tool('remove_event', 'Deletes an event that add_event made from the Nextcloud calendar. Nextcloud keeps it in its calendar bin for 30 days.', {
  required: { uid: { type: 'string', format: 'uuid' } }, annotations: { readOnlyHint: false, destructiveHint: true },
}, async ({ uid }) => {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uid)) throw new Error('uid is a UUID, as add_event answers it');
  await dav('DELETE', `${uid}.ics`);
  return 'Removed.';
});

server.run();
