#!/usr/bin/env node
'use strict';
// desk-reminders: "remind me in 20 minutes". Due reminders are shown with notify-send (libnotify), or osascript on a Mac.
const { execFile } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const STORE = path.join(process.env.XDG_DATA_HOME || path.join(os.homedir(), '.local', 'share'), 'desk-reminders', 'reminders.json');
const HALF_DAY = 12 * 3600e3; // setTimeout cannot wait longer than 24 days, so it looks again
let reminders = [];
let timer = null;

function load() {
  try {
    reminders = JSON.parse(fs.readFileSync(STORE, 'utf8')).filter((r) => r && Number.isFinite(r.due) && typeof r.text === 'string');
  } catch (error) {
    if (error.code !== 'ENOENT') console.error('desk-reminders: ' + STORE + ': ' + error.message);
    reminders = [];
  }
}

function save() {
  fs.mkdirSync(path.dirname(STORE), { recursive: true });
  fs.writeFileSync(STORE + '.tmp', JSON.stringify(reminders, null, 1), { mode: 0o600 });
  fs.renameSync(STORE + '.tmp', STORE);
}

function send(message) {
  process.stdout.write(JSON.stringify(Object.assign({ jsonrpc: '2.0' }, message)) + '\n');
}

function show(reminder) {
  const done = (error) => {
    if (error) console.error('desk-reminders: no notification could be shown: ' + (error.code || error.message));
    send({ method: 'notifications/message', params: { level: 'notice', logger: 'reminders', data: 'Reminder: ' + reminder.text } });
  };
  if (process.platform === 'darwin') {
    execFile('osascript', ['-e', 'on run argv', '-e', 'display notification (item 1 of argv) with title "Reminder"', '-e', 'end run', '--', reminder.text], { timeout: 5000 }, done);
  } else {
    execFile('notify-send', ['--app-name=desk-reminders', '--urgency=' + (reminder.urgent ? 'critical' : 'normal'), '--', 'Reminder', reminder.text], { timeout: 5000 }, done);
  }
}

function schedule() {
  clearTimeout(timer);
  const now = Date.now();
  const due = reminders.filter((r) => r.due <= now);
  for (const reminder of due) {
    show(reminder);
    if (reminder.every) reminder.due += reminder.every * 60e3 * Math.ceil((now - reminder.due + 1) / (reminder.every * 60e3));
  }
  if (due.length) {
    reminders = reminders.filter((r) => r.due > now);
    try { save(); } catch (error) { console.error('desk-reminders: ' + error.message); }
  }
  if (reminders.length) timer = setTimeout(schedule, Math.min(HALF_DAY, Math.max(50, Math.min(...reminders.map((r) => r.due)) - now)));
}

const describe = (r) => r.id + '  ' + new Date(r.due).toISOString().slice(0, 16) + 'Z  ' + r.text + (r.every ? '  (every ' + r.every + ' minutes)' : '');

const tools = [
  {
    name: 'remind_me',
    description: 'Sets a reminder. When it is due, it is shown on the desktop by the program notify-send (osascript on a Mac). Reminders are kept in ~/.local/share/desk-reminders and shown late if the server did not run.',
    inputSchema: {
      type: 'object', required: ['text', 'minutes'],
      properties: {
        text: { type: 'string', minLength: 1, maxLength: 500 }, minutes: { type: 'integer', minimum: 1, maximum: 525600, description: 'from now' },
        every: { type: 'integer', minimum: 5, maximum: 10080, description: 'repeat after so many minutes' }, urgent: { type: 'boolean' },
      },
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    run(args) {
      if (typeof args.text !== 'string' || !args.text.trim() || args.text.length > 500 || args.text.includes('\0')) throw new Error('text has 1 to 500 characters');
      if (!Number.isInteger(args.minutes) || args.minutes < 1 || args.minutes > 525600) throw new Error('minutes is a number from 1 to 525600');
      if (args.every !== undefined && (!Number.isInteger(args.every) || args.every < 5 || args.every > 10080)) throw new Error('every is a number from 5 to 10080');
      if (reminders.length >= 500) throw new Error('there are 500 reminders already');
      const reminder = { id: Math.max(0, ...reminders.map((r) => r.id || 0)) + 1, due: Date.now() + args.minutes * 60e3, text: args.text.trim(), every: args.every, urgent: args.urgent === true };
      reminders.push(reminder);
      save();
      schedule();
      return describe(reminder);
    },
  },
  {
    name: 'list_reminders', description: 'Lists the reminders that are not due yet; times are UTC.', inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: () => reminders.slice().sort((a, b) => a.due - b.due).map(describe).join('\n') || 'No reminders.',
  },
  {
    name: 'drop_reminder', description: 'Removes a reminder, also one that repeats.', inputSchema: { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run(args) {
      const found = reminders.find((r) => r.id === args.id);
      if (!found) return 'There is no such reminder.';
      reminders = reminders.filter((r) => r !== found);
      save();
      schedule();
      return 'Removed: ' + found.text;
    },
  },
];

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: params.protocolVersion || '2025-06-18', capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'desk-reminders', version: '1.2.0' },
        instructions: 'While the server runs it shows due reminders on the desktop by itself, and says so to the client in a log message.' };
    case 'ping': case 'logging/setLevel': return {};
    case 'tools/list': return { tools: tools.map((t) => ({ name: t.name, description: t.description, inputSchema: t.inputSchema, annotations: t.annotations })) };
    case 'tools/call': {
      const tool = tools.find((t) => t.name === params.name);
      if (!tool) throw Object.assign(new Error('unknown tool'), { code: -32602 });
      try {
        return { content: [{ type: 'text', text: tool.run(params.arguments || {}) }] };
      } catch (error) {
        return { content: [{ type: 'text', text: error.message }], isError: true };
      }
    }
    default: throw Object.assign(new Error('method not found'), { code: -32601 });
  }
}

require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  let message;
  try { message = JSON.parse(line); } catch (e) { return; }
  if (message && message.method === 'notifications/initialized') schedule();
  if (!message || message.id === undefined) return;
  try {
    send({ id: message.id, result: answer(message.method, message.params || {}) });
  } catch (error) {
    send({ id: message.id, error: { code: error.code || -32603, message: error.message } });
  }
}).on('close', () => process.exit(0));
load();
