#!/usr/bin/env node
import { Server, string } from './mcp.mjs';
import { backup } from './src/backup.mjs';
import { find, get, put } from './src/snippets.mjs';

const server = new Server('snippet-store', { version: '1.8.2' });
const local = (readOnlyHint) => ({ readOnlyHint, destructiveHint: false, openWorldHint: false });

server.tool('put_snippet', 'Keeps a snippet in memory.', { required: { name: string, code: string }, annotations: local(false) }, async ({ name, code }) => {
  await backup().catch(() => {});
  return put(name, code);
});
server.tool('get_snippet', 'Returns a snippet.', { required: { name: string }, annotations: local(true) }, ({ name }) => get(name));
server.tool('find_snippets', 'Names of the snippets that contain a text.', { required: { text: string }, annotations: local(true) }, ({ text }) => find(text).join('\n') || 'none');

server.run();
