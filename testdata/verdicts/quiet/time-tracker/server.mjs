#!/usr/bin/env node
// time-tracker: how long did that take? Times are in ~/.local/share/time-tracker/times.json.
//
// Usage statistics are off. Who wants to share them with a team sets TIME_TRACKER_STATS_URL to an https address; then how
// often each tool was called is posted there when the session ends. Names of projects and times are never sent.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server } from './mcp.mjs';

const FOLDER = join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'time-tracker');
const FILE = join(FOLDER, 'times.json');
const VERSION = '1.6.0';

class Statistics {
  counts = {};

  constructor(address) {
    this.address = address && URL.canParse(address) && new URL(address).protocol === 'https:' ? address : null;
    if (address && !this.address) process.stderr.write('time-tracker: TIME_TRACKER_STATS_URL is no https address; no statistics are sent\n');
  }

  count(tool) { this.counts[tool] = (this.counts[tool] ?? 0) + 1; }

  get report() { return { program: 'time-tracker', version: VERSION, calls: this.counts }; }

  async send() {
    if (!this.address || !Object.keys(this.counts).length) return;
    await fetch(this.address, {
      method: 'POST', redirect: 'error', signal: AbortSignal.timeout(3000), body: JSON.stringify(this.report),
      headers: { 'Content-Type': 'application/json', 'User-Agent': `time-tracker/${VERSION}` },
    }).catch(() => {}); // statistics may fail, tracking must not
  }
}

class Times {
  #data = { running: null, spans: [] };

  constructor() {
    mkdirSync(FOLDER, { recursive: true });
    if (existsSync(FILE)) this.#data = JSON.parse(readFileSync(FILE, 'utf8'));
  }

  get running() { return this.#data.running; }

  #save() {
    writeFileSync(`${FILE}.new`, JSON.stringify(this.#data));
    renameSync(`${FILE}.new`, FILE);
  }

  start(project, task) {
    const stopped = this.running && this.stop();
    this.#data.running = { project, task, begun: Date.now() };
    this.#save();
    return stopped;
  }

  stop() {
    const { running } = this;
    if (!running) throw new Error('no timer is running');
    this.#data.spans.push({ ...running, ended: Date.now() });
    this.#data.running = null;
    this.#save();
    return this.#data.spans.at(-1);
  }

  add(span) {
    this.#data.spans.push(span);
    this.#save();
  }

  since(when) { return this.#data.spans.filter((span) => span.ended >= when); }
}

const times = new Times();
const statistics = new Statistics(process.env.TIME_TRACKER_STATS_URL);
const minutes = (span) => Math.round((span.ended - span.begun) / 6000) / 10;
const server = new Server('time-tracker', {
  version: VERSION,
  instructions: 'Times are kept in ~/.local/share/time-tracker. If the variable TIME_TRACKER_STATS_URL is set, how often each tool was called is posted to that https address when the session ends; usage_statistics shows exactly what.',
});

const declare = (name, description, { annotations, ...schema }, run) => server.tool(name, description, { ...schema, annotations: { openWorldHint: false, ...annotations } }, (args) => {
  statistics.count(name);
  return run(args);
});

function label(text, what) {
  const clean = text.trim().replace(/\s+/g, ' ');
  if (!clean || clean.length > 60 || /[\p{Cc}\p{Cs}]/u.test(clean)) throw new Error(`the ${what} has from 1 to 60 characters`);
  return clean;
}

const project = { type: 'string', minLength: 1, maxLength: 60, examples: ['garden plan'] };
const task = { type: 'string', maxLength: 60, examples: ['drawing'] };

declare('start_timer', 'Starts the timer for a project, and stops the one that runs. Saved in ~/.local/share/time-tracker/times.json.',
  { required: { project }, optional: { task }, annotations: { readOnlyHint: false, destructiveHint: false } }, ({ project, task }) => {
    const stopped = times.start(label(project, 'project'), task === undefined ? '' : label(task, 'task'));
    return `${stopped ? `Stopped ${stopped.project} after ${minutes(stopped)} min. ` : ''}The timer runs for ${times.running.project}.`;
  });

declare('stop_timer', 'Stops the timer and saves its time in ~/.local/share/time-tracker/times.json.', { annotations: { readOnlyHint: false, destructiveHint: false } }, () => {
  const span = times.stop();
  return { project: span.project, task: span.task, minutes: minutes(span) };
});

declare('timer_status', 'Says which timer runs, and since when.', { annotations: { readOnlyHint: true } }, () => {
  const { running } = times;
  return running ? { project: running.project, task: running.task, since: new Date(running.begun).toISOString(), minutes: minutes({ ...running, ended: Date.now() }) } : 'No timer runs.';
});

declare('add_time', 'Adds a time that was not measured, ending now, to ~/.local/share/time-tracker/times.json.',
  { required: { project, minutes: { type: 'integer', minimum: 1, maximum: 1440, examples: [45] } }, optional: { task }, annotations: { readOnlyHint: false, destructiveHint: false } }, ({ project, task, minutes: length }) => {
    if (length < 1 || length > 1440) throw new RangeError('minutes is from 1 to 1440');
    const ended = Date.now();
    times.add({ project: label(project, 'project'), task: task === undefined ? '' : label(task, 'task'), begun: ended - length * 60_000, ended });
    return `Added ${length} min.`;
  });

declare('time_report', 'Adds up the times of the last days by project, or by project and task.',
  { optional: { days: { type: 'integer', minimum: 1, maximum: 366, default: 7 }, by_task: { type: 'boolean', default: false } }, annotations: { readOnlyHint: true } }, ({ days = 7, by_task = false }) => {
    if (days < 1 || days > 366) throw new RangeError('days is from 1 to 366');
    const sums = new Map();
    for (const span of times.since(Date.now() - days * 86_400_000)) {
      const key = by_task && span.task ? `${span.project}: ${span.task}` : span.project;
      sums.set(key, (sums.get(key) ?? 0) + minutes(span));
    }
    const rows = [...sums].sort((a, b) => b[1] - a[1]).map(([name, sum]) => ({ name, hours: Math.round(sum / 0.6) / 100 }));
    return rows.length ? rows : `There are no times of the last ${days} days.`;
  });

declare('usage_statistics', 'Shows whether usage statistics are on (TIME_TRACKER_STATS_URL names an https address) and exactly what will be posted there when the session ends: how often each tool was called. Sends nothing itself.',
  { annotations: { readOnlyHint: true } }, () => (statistics.address ? { on: true, address: statistics.address, posted: statistics.report } : { on: false }));

server.ended = () => statistics.send();
server.run();
