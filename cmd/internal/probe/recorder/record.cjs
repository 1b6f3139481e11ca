'use strict';
// Records which parts of a server's own code run. Node.js loads it before the server.
(() => {
  const fs = require('fs');
  const path = require('path');
  const url = require('url');
  const [root, out] = "@PLACES@".split('\n');
  // What the server replaces later must not change what is recorded.
  const { openSync, writeSync, closeSync, readFileSync, realpathSync } = fs;
  const { byteLength } = Buffer;
  const skipped = new Set(['node_modules', 'site-packages', '.venv', 'venv', 'vendor']);
  const most = 48 << 10;
  // A look costs more in a larger program, so the pause after it is a multiple of what it took.
  const [shortest, times] = [25, 10];
  const scripts = new Map();
  let session;
  let part = 0;
  let written = 0;
  let numbers = new Map();
  let lines = [];

  // emit keeps a line of a script for the next flush.
  function emit(script, text) {
    let n = numbers.get(script.name);
    if (n === undefined) {
      n = numbers.size + 1;
      numbers.set(script.name, n);
      lines.push(`F\t${n}\t${script.name}\n`);
    }
    lines.push(text(n));
    if (lines.length >= 1000) flush();
  }

  // flush appends what is kept. A file is begun anew before it grows too large to be collected.
  function flush() {
    if (lines.length === 0) return;
    const data = lines.join('');
    lines = [];
    const thread = process.pid + '-' + threadId;
    const fd = openSync(`${out}/js-${thread}-${part}`, 'a', 0o644);
    writeSync(fd, data);
    closeSync(fd);
    written += data.length;
    if (written > most) {
      part++;
      written = 0;
      numbers = new Map();
    }
  }

  // open finds the file of a script: null for one that is not the server's own.
  function open(address, end) {
    let file = address;
    try {
      if (address.startsWith('file:')) file = url.fileURLToPath(address.replace(/[?#].*$/, ''));
      if (!path.isAbsolute(file)) return null;
      let name;
      for (const full of [file, realpathSync(file)]) {
        if (full.startsWith(root + '/')) { name = full.slice(root.length + 1); break; }
      }
      if (!name || /[\t\n]/.test(name) || name.split('/').slice(0, -1).some((d) => skipped.has(d))) return null;
      let text = readFileSync(file, 'utf8');
      let mark = 0;
      if (text.charCodeAt(0) === 0xfeff) { text = text.slice(1); mark = 3; }
      const script = { name, seen: new Uint8Array(text.length + 1), offsets: null, mark, unfit: text.length !== end };
      if (byteLength(text) !== text.length) {
        const offsets = new Uint32Array(text.length + 1);
        for (let i = 0, at = 0; i < text.length; i++) {
          offsets[i] = at;
          const c = text.charCodeAt(i);
          at += c < 0x80 ? 1 : c < 0x800 ? 2 : c >= 0xd800 && c < 0xdc00 ? 4 : c >= 0xdc00 && c < 0xe000 ? 0 : 3;
          offsets[i + 1] = at;
        }
        script.offsets = offsets;
      }
      if (script.unfit) emit(script, (n) => `X\t${n}\n`);
      return script;
    } catch {
      return null;
    }
  }

  // ran emits what of a script is new from a to before b.
  function ran(script, a, b) {
    const { seen, offsets, mark } = script;
    b = Math.min(b, seen.length - 1);
    while (a < b) {
      while (a < b && seen[a]) a++;
      let end = a;
      while (end < b && !seen[end]) seen[end++] = 1;
      if (end > a) {
        const [from, to] = offsets ? [offsets[a], offsets[end]] : [a, end];
        emit(script, (n) => `R\t${n}\t${from + mark}\t${to + mark}\n`);
      }
      a = end;
    }
  }

  // add takes one script's coverage: ranges nest, and the innermost one counts.
  function add(result) {
    const ranges = [];
    for (const f of result.functions) ranges.push(...f.ranges);
    let script = scripts.get(result.url);
    if (script === undefined) {
      script = open(result.url, Math.max(...ranges.map((r) => r.endOffset)));
      scripts.set(result.url, script);
    }
    if (!script || script.unfit) return;
    ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
    const stack = [];
    let at = 0;
    const until = (end) => {
      const top = stack[stack.length - 1];
      if (top && top.count > 0 && end > at) ran(script, at, end);
      at = Math.max(at, end);
    };
    for (const r of ranges) {
      while (stack.length > 0 && stack[stack.length - 1].endOffset <= r.startOffset) {
        until(stack[stack.length - 1].endOffset);
        stack.pop();
      }
      until(r.startOffset);
      stack.push(r);
    }
    while (stack.length > 0) {
      until(stack[stack.length - 1].endOffset);
      stack.pop();
    }
  }

  function take() {
    try {
      session.post('Profiler.takePreciseCoverage', (err, got) => {
        if (err) return;
        for (const result of got.result) {
          if (result.url && !result.url.startsWith('node:') && scripts.get(result.url) !== null) add(result);
        }
      });
      flush();
    } catch {}
  }

  let threadId = 0;
  try {
    threadId = require('worker_threads').threadId;
    const { Session } = require('inspector');
    session = new Session();
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    const { setTimeout, performance } = globalThis;
    const { apply } = Reflect;
    const now = performance.now.bind(performance);
    // Times are in milliseconds. A look's own is the processor's: it does not grow on a busy machine.
    const { cpuUsage } = process;
    let took = 0;
    let ended = now();
    const timed = () => {
      const before = cpuUsage();
      take();
      const used = cpuUsage(before);
      took = (used.user + used.system) / 1000;
      ended = now();
    };
    const look = () => {
      timed();
      setTimeout(look, Math.max(shortest, times * took)).unref();
    };
    setTimeout(look, shortest).unref();
    process.on('exit', take);
    // What led to an answer is recorded before the answer leaves, whatever the load of the
    // machine. A server that writes without a pause spends at most half of its time on that.
    const { Socket } = require('net');
    for (const name of ['_write', '_writev']) {
      const write = Socket.prototype[name];
      Socket.prototype[name] = function (...args) {
        if (now() - ended > took) timed();
        return apply(write, this, args);
      };
    }
  } catch {}
})();
