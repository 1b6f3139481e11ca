#!/usr/bin/env node
// unminify-stack [BUILD]: finds where a minified line came from, by the source maps (*.map, version 3) of a build folder.
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { Server, string } from './mcp.mjs';

const build = resolve(process.argv[2] ?? 'dist');
const server = new Server('unminify-stack', { version: '1.0.2', instructions: `Reads the source maps in ${build} and answers from them; nothing is uploaded.` });
const readOnly = { readOnlyHint: true, openWorldHint: false };
const DIGITS = new Map([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((c, i) => [c, i]));
const decoded = new Map(); // path → { mtime, map }

async function maps(folder = build, depth = 0, found = []) {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => { if (depth) return []; throw new Error(`${folder}: ${error.code}`); });
  for (const entry of entries) {
    if (found.length >= 500) break;
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < 6 && entry.name !== 'node_modules' && !entry.name.startsWith('.')) await maps(path, depth + 1, found);
    else if (entry.isFile() && entry.name.endsWith('.map')) found.push(path);
  }
  return found;
}

// segments decodes the mappings: for each generated line a list of [column, source, line, column, name].
function segments(mappings) {
  let [source, line, column, name] = [0, 0, 0, 0];
  return mappings.split(';').map((part) => {
    let generated = 0;
    return part ? part.split(',').map((segment) => {
      const fields = [];
      let [value, shift] = [0, 0];
      for (const c of segment) {
        const digit = DIGITS.get(c);
        if (digit === undefined) throw new Error('the mappings are no base64 VLQ');
        value += (digit & 31) * 2 ** shift;
        if (digit & 32) { shift += 5; continue; }
        fields.push(value % 2 ? -Math.floor(value / 2) : value / 2);
        [value, shift] = [0, 0];
      }
      generated += fields[0] ?? 0;
      if (fields.length < 4) return [generated];
      source += fields[1]; line += fields[2]; column += fields[3];
      if (fields.length > 4) name += fields[4];
      return [generated, source, line, column, fields.length > 4 ? name : -1];
    }) : [];
  });
}

async function load(file) {
  const wanted = basename(file.split(/[?#]/)[0]);
  if (!/^[\w.@~+-]+\.(m?js|cjs|css)$/.test(wanted)) throw new Error('file is the name of a built .js or .css file');
  const path = (await maps()).find((p) => basename(p) === `${wanted}.map`);
  if (!path) throw new Error(`there is no ${wanted}.map in ${build}`);
  if (!(await realpath(path)).startsWith((await realpath(build)) + sep)) throw new Error(`${path} is outside of the build folder`);
  const { mtimeMs, size } = await stat(path);
  if (size > 64 << 20) throw new Error(`${path} is larger than 64 MiB`);
  const hit = decoded.get(path);
  if (hit?.mtime === mtimeMs) return hit.map;
  const raw = JSON.parse(await readFile(path, 'utf8'));
  if (raw.version !== 3 || typeof raw.mappings !== 'string' || !Array.isArray(raw.sources)) throw new Error(`${path} is no source map of version 3`);
  const map = { sources: raw.sources, texts: raw.sourcesContent ?? [], names: raw.names ?? [], lines: segments(raw.mappings) };
  if (decoded.size > 20) decoded.clear();
  decoded.set(path, { mtime: mtimeMs, map });
  return map;
}

async function trace(file, line, column) {
  const map = await load(file);
  const hit = (map.lines[line - 1] ?? []).filter((s) => s[0] <= column - 1 && s.length > 1).at(-1);
  return hit ? { source: String(map.sources[hit[1]] ?? '?'), line: hit[2] + 1, column: hit[3] + 1, name: map.names[hit[4]], text: map.texts[hit[1]]?.split('\n')[hit[2]]?.trim().slice(0, 200) } : null;
}

const shown = (p) => `${p.source}:${p.line}:${p.column}${p.name ? ` (${p.name})` : ''}${p.text ? `\n    ${p.text}` : ''}`;

server.tool('list_maps', `Lists the source maps in ${build}.`, { annotations: readOnly }, async () => (await maps()).map((p) => p.slice(build.length + 1)).join('\n') || `There are no source maps in ${build}.`);

server.tool('find_position', 'Finds the place in the sources that a line and column of a built file came from.', {
  required: { file: { type: 'string', examples: ['app.3f9c.js'] }, line: { type: 'integer', minimum: 1 }, column: { type: 'integer', minimum: 1 } }, annotations: readOnly,
}, async ({ file, line, column }) => { const found = await trace(file, line, column); return found ? shown(found) : 'The map knows nothing about that position.'; });

server.tool('unminify', 'Translates a pasted stack trace of minified code into places in the sources, line by line.', { required: { stack: { ...string, maxLength: 20000 } }, annotations: readOnly }, async ({ stack }) => {
  const lines = [];
  for (const line of stack.slice(0, 20000).split('\n').slice(0, 100)) {
    const frame = line.match(/([\w.@~+-]+\.(?:m?js|cjs))(?:\?[^:\s]{0,200})?:(\d{1,7}):(\d{1,9})/);
    const found = frame && await trace(frame[1], Number(frame[2]), Number(frame[3])).catch(() => null);
    lines.push(found ? `    at ${shown(found)}` : line);
  }
  return lines.join('\n');
});

server.run();
