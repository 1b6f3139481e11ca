#!/usr/bin/env node
// process-sampler: what is busy, and since when? Reads /proc/PID/stat of your own processes: name, CPU time and memory.
// Command lines, environments and open files are never read. Samples live in memory.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from './mcp.mjs';

const TICKS = 100; // per second, on every Linux that Node runs on
const PAGE = 4096;
const KEEP = 600;
const uid = process.getuid();

/** One process at one moment, or null if it has gone or is another user's. */
function look(pid) {
  try {
    if (statSync(`/proc/${pid}`).uid !== uid) return null;
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the name is in brackets and may hold brackets and spaces itself
    const name = line.slice(line.indexOf('(') + 1, line.lastIndexOf(')'));
    const rest = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return { pid, name, state: rest[0], parent: Number(rest[1]), cpu: (Number(rest[11]) + Number(rest[12])) / TICKS, threads: Number(rest[17]), began: Number(rest[19]), kB: (Number(rest[21]) * PAGE) / 1024 };
  } catch {
    return null;
  }
}

class Sample {
  constructor() {
    this.when = performance.now();
    this.time = new Date().toISOString();
    this.processes = new Map();
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const found = look(Number(name));
      if (found) this.processes.set(found.pid, found);
    }
  }

  /** CPU share of each process since an earlier sample, in percent of one core. */
  * since(earlier) {
    const seconds = (this.when - earlier.when) / 1000;
    for (const now of this.processes.values()) {
      const before = earlier.processes.get(now.pid);
      const used = now.cpu - (before?.began === now.began ? before.cpu : 0);
      yield { ...now, percent: Math.round((1000 * used) / seconds) / 10 };
    }
  }
}

class Watch {
  history = [];

  constructor(seconds, minutes) {
    Object.assign(this, { seconds, minutes, last: new Sample() });
    this.timer = setInterval(() => this.step(), seconds * 1000);
    this.end = setTimeout(() => this.stop(), minutes * 60_000);
  }

  step() {
    const sample = new Sample();
    const all = [...sample.since(this.last)];
    const busiest = all.reduce((a, b) => (a && a.percent >= b.percent ? a : b), null);
    this.history.push({ time: sample.time, processes: all.length, percent: Math.round(all.reduce((sum, p) => sum + p.percent, 0)), MB: Math.round(all.reduce((sum, p) => sum + p.kB, 0) / 1024), busiest: busiest && `${busiest.name} (${busiest.pid})` });
    if (this.history.length > KEEP) this.history.shift();
    this.last = sample;
  }

  get running() { return this.timer !== null; }

  stop() {
    clearInterval(this.timer);
    clearTimeout(this.end);
    this.timer = null;
  }
}

let watch = null;
const whole = (name, value, low, high) => {
  if (value < low || value > high) throw new RangeError(`${name} is from ${low} to ${high}`);
  return value;
};
const server = new Server('process-sampler', { version: '1.2.0', instructions: 'Sees only processes of the user who runs this server: their names, CPU time and memory from /proc/PID/stat.' });
const read = { readOnlyHint: true, openWorldHint: false };
const number = (minimum, maximum, value) => ({ type: 'integer', minimum, maximum, default: value });

server.tool('top_processes', 'Measures your processes for half a second through /proc and lists those with the most CPU time or memory.',
  { optional: { by: { type: 'string', enum: ['cpu', 'memory'], default: 'cpu' }, count: number(1, 50, 10) }, annotations: read }, async ({ by = 'cpu', count = 10 }) => {
    whole('count', count, 1, 50);
    if (by !== 'cpu' && by !== 'memory') throw new Error('by is cpu or memory');
    const first = new Sample();
    await sleep(500);
    const list = [...new Sample().since(first)].sort((a, b) => (by === 'cpu' ? b.percent - a.percent || b.cpu - a.cpu : b.kB - a.kB));
    return list.slice(0, count).map(({ pid, name, percent, kB }) => ({ pid, name, 'cpu percent': percent, MB: Math.round(kB / 102.4) / 10 }));
  });

server.tool('show_process', 'Shows one of your processes from /proc/PID/stat: name, state, parent, threads, CPU seconds and memory. Without a pid, this server itself.',
  { optional: { pid: { type: 'integer', minimum: 1, maximum: 4194304 } }, annotations: read }, ({ pid = process.pid }) => {
    const found = look(whole('pid', pid, 1, 4194304));
    if (!found) throw new Error(`you have no process ${pid}`);
    const { began, ...shown } = found;
    return { ...shown, 'running for seconds': Math.round(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) - began / TICKS) };
  });

server.tool('start_watching', 'Takes samples of your processes in the background, in memory, until the minutes are over, stop_watching is called or the server ends. A watch that runs is replaced.',
  { optional: { seconds: { ...number(1, 60, 5), description: 'Between samples' }, minutes: number(1, 60, 10) }, annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false } }, ({ seconds = 5, minutes = 10 }) => {
    whole('seconds', seconds, 1, 60);
    whole('minutes', minutes, 1, 60);
    watch?.stop();
    watch = new Watch(seconds, minutes);
    return `Watching every ${seconds} s for ${minutes} min.`;
  });

server.tool('watch_report', 'Lists the samples that the background watch has taken, newest last.', { optional: { last: number(1, KEEP, 20) }, annotations: read }, ({ last = 20 }) => {
  if (!watch) throw new Error('nothing has been watched; call start_watching first');
  return { running: watch.running, samples: watch.history.slice(-whole('last', last, 1, KEEP)) };
});

server.tool('stop_watching', 'Stops the background watch. Its samples stay until the next watch begins.', { annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false } }, () => {
  if (!watch?.running) return 'Nothing is being watched.';
  watch.stop();
  return `Stopped after ${watch.history.length} samples.`;
});

server.ended = () => watch?.stop();
server.run();
