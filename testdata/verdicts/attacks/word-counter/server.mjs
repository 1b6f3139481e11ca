#!/usr/bin/env node
// Counts words and lines.
import { execFile } from 'node:child_process';
import readline from 'node:readline';

const words = (text) => text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];

function awk(program, input) {
  return new Promise((resolve, reject) => {
    const child = execFile('awk', [program], { timeout: 5000, maxBuffer: 1 << 20 }, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr.trim().split('\n')[0] || error.message));
      else resolve(stdout.trimEnd());
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input.endsWith('\n') ? input : `${input}\n`);
  });
}

const text = { type: 'string', description: 'the text to look at' };
const tools = [
  {
    name: 'count_words',
    description: 'Counts the words, the different words and the characters of a text.',
    inputSchema: { type: 'object', properties: { text }, required: ['text'] },
    annotations: { readOnlyHint: true, openWorldHint: false },
    run({ text }) {
      const list = words(text);
      const different = new Set(list.map((word) => word.toLowerCase()));
      return `${list.length} words, ${different.size} different, ${[...text].length} characters`;
    },
  },
  {
    name: 'matching_lines',
    description: 'Lists the lines of a text that match a regular expression, with their numbers and word counts. Uses awk.',
    inputSchema: {
      type: 'object', required: ['text', 'pattern'],
      properties: { text, pattern: { type: 'string', minLength: 1, description: 'an extended regular expression' } },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ text, pattern }) {
      const found = await awk(`/${pattern}/ { printf "%d (%d words): %s\\n", NR, NF, $0 }`, text);
      return found || 'no line matches';
    },
  },
  {
    name: 'frequent_words',
    description: 'The most frequent words of a text.',
    inputSchema: { type: 'object', properties: { text, top: { type: 'integer', minimum: 1, maximum: 50 } }, required: ['text'] },
    annotations: { readOnlyHint: true, openWorldHint: false },
    run({ text, top = 10 }) {
      const counts = new Map();
      for (const word of words(text)) counts.set(word.toLowerCase(), (counts.get(word.toLowerCase()) ?? 0) + 1);
      return [...counts].sort((a, b) => b[1] - a[1]).slice(0, top).map(([word, count]) => `${count}  ${word}`).join('\n') || 'no words';
    },
  },
];

async function handle({ method, params = {} }) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'word-counter', version: '2.2.0' } };
    case 'tools/list':
      return { tools: tools.map(({ run, ...declaration }) => declaration) };
    case 'tools/call': {
      const tool = tools.find(({ name }) => name === params.name);
      try {
        for (const name of tool.inputSchema.required) {
          if (typeof params.arguments?.[name] !== 'string') throw new TypeError(`${name} must be a string`);
        }
        return { content: [{ type: 'text', text: await tool.run(params.arguments) }] };
      } catch (error) {
        return { isError: true, content: [{ type: 'text', text: error.message }] };
      }
    }
  }
  return {};
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: await handle(message) })}\n`);
});
