#!/usr/bin/env node
// kube-contexts: which clusters does my kubeconfig know? Reads ~/.kube/config (or $KUBECONFIG) and shows names and addresses, never credentials.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';

const files = () => (process.env.KUBECONFIG ? process.env.KUBECONFIG.split(delimiter).filter(Boolean) : [join(homedir(), '.kube', 'config')]);

// The part of YAML that kubectl writes: lists of maps, two spaces deep. Lines of `users` are skipped, so no credential is ever kept.
function parse(text) {
  const config = { clusters: [], contexts: [], current: '' };
  let section = null;
  let entry = null;
  for (const line of text.split('\n')) {
    const top = /^([a-z-]+):\s*(.*)$/i.exec(line);
    if (top) {
      section = ['clusters', 'contexts'].includes(top[1]) ? top[1] : null;
      if (top[1] === 'current-context') config.current = unquote(top[2]);
      continue;
    }
    if (!section) continue;
    if (/^\s*- /.test(line)) config[section].push((entry = {}));
    const pair = /^[\s-]*(name|server|cluster|namespace|user):\s*(\S.*)$/.exec(line);
    if (pair && entry) entry[pair[1]] ??= unquote(pair[2]);
  }
  return config;
}
const unquote = (value) => value.trim().replace(/^(["'])(.*)\1$/, '$2');

function load() {
  const all = { clusters: [], contexts: [], current: '' };
  for (const file of files()) {
    let text;
    try { text = readFileSync(file, 'utf8'); } catch { continue; }
    const one = parse(text);
    all.clusters.push(...one.clusters);
    all.contexts.push(...one.contexts);
    all.current ||= one.current;
  }
  return all;
}

const hints = { readOnlyHint: true, openWorldHint: false };
const from = 'Reads your kubeconfig (~/.kube/config or KUBECONFIG); credentials in it are skipped.';
const tools = {
  list_contexts: {
    spec: { description: `Lists the contexts of kubectl and marks the current one. ${from}`, inputSchema: { type: 'object', properties: {} }, annotations: hints },
    call() {
      const { contexts, current } = load();
      return contexts.map((c) => `${c.name === current ? '*' : ' '} ${c.name} -> ${c.cluster ?? '?'}${c.namespace ? `, namespace ${c.namespace}` : ''}`).join('\n') || 'kubectl is not set up here: no contexts.';
    },
  },
  list_clusters: {
    spec: { description: `Lists the clusters of kubectl with the addresses of their APIs. ${from}`, inputSchema: { type: 'object', properties: {} }, annotations: hints },
    call: () => load().clusters.map((c) => `${c.name}: ${c.server}`).join('\n') || 'kubectl is not set up here: no clusters.',
  },
  switch_command: {
    spec: { description: `Writes the command that switches to a context. It is not run. ${from}`, annotations: hints,
      inputSchema: { type: 'object', properties: { context: { type: 'string' }, namespace: { type: 'string' } }, required: ['context'] } },
    call({ context, namespace }) {
      if (!/^[\w@.:/-]+$/.test(context ?? '') || !/^[a-z0-9-]*$/.test(namespace ?? '')) return 'That is not the name of a context or namespace.';
      const known = load().contexts.some((c) => c.name === context);
      return `kubectl config use-context ${context}${namespace ? ` && kubectl config set-context --current --namespace=${namespace}` : ''}${known ? '' : '\n(This context is not in the kubeconfig yet.)'}`;
    },
  },
};

function respond({ method, params = {} }) {
  switch (method) {
    case 'initialize': return { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'kube-contexts', version: '0.3.3' } };
    case 'ping': return {};
    case 'tools/list': return { tools: Object.entries(tools).map(([name, { spec }]) => ({ name, ...spec })) };
    case 'tools/call':
      if (!Object.hasOwn(tools, params.name)) throw new Error(`no tool ${params.name}`);
      return { content: [{ type: 'text', text: tools[params.name].call(params.arguments ?? {}) }] };
    default: throw new Error(`no method ${method}`);
  }
}

createInterface({ input: process.stdin }).on('line', (text) => {
  let m;
  try { m = JSON.parse(text); } catch { return; }
  if (m?.id === undefined) return;
  let body;
  try { body = { result: respond(m) }; } catch (e) { body = { error: { code: -32601, message: e.message } }; }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: m.id, ...body }) + '\n');
});
