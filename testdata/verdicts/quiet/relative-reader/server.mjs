import { open, readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { Server, string } from './mcp.mjs';

const server = new Server('relative-reader', { version: '1.1.0', instructions: 'Reads text files anywhere on this machine that its user may read. Paths are relative to the working directory, or absolute.' });
const annotations = { readOnlyHint: true, openWorldHint: false };
const path = { ...string, description: 'A path, relative to the working directory or absolute; both may be anywhere.' };

async function head(file, bytes) {
  const handle = await open(resolve(file));
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

server.tool('read_text', 'Reads a text file. The path is relative to the working directory, or absolute.', { required: { path }, optional: { bytes: { type: 'integer', minimum: 1, maximum: 100000 } }, annotations },
  async ({ path: file, bytes = 20000 }) => {
    const data = await head(file, Math.max(1, Math.min(bytes, 100000)));
    return data.includes(0) ? 'This is no text.' : data.toString('utf8');
  });

server.tool('list_folder', 'Lists a folder. The path is relative to the working directory, or absolute.', { optional: { path }, annotations }, async ({ path: folder = '.' }) => {
  const names = await readdir(resolve(folder), { withFileTypes: true });
  return names.map((n) => n.name + (n.isDirectory() ? '/' : '')).sort().join('\n') || 'empty';
});

server.tool('describe_path', 'Says what a path, relative to the working directory or absolute, means and what stands there.', { required: { path }, annotations }, async ({ path: file }) => {
  const full = isAbsolute(file) ? file : join(process.cwd(), file);
  const found = await stat(full).catch(() => null);
  return found ? `${full}: ${found.isDirectory() ? 'a folder' : `${found.size} bytes`}, changed ${found.mtime.toISOString()}` : `${full}: nothing is there.`;
});
server.run();
