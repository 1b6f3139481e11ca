import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const folder = join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'percent-notes');
const server = new Server('percent-notes', { version: '1.0.0' });

// encodeURIComponent leaves dots alone, which a name may not consist of, and throws at half a surrogate pair.
function fileOf(title) {
  const name = encodeURIComponent(title.toWellFormed ? title.toWellFormed() : title).replace(/\./g, '%2E');
  if (!name || name.length > 200) throw new Error('a title has 1 to about 60 characters');
  return join(folder, `${name}.md`);
}
const titleOf = (file) => decodeURIComponent(file.slice(0, -3));
const titles = () => { try { return readdirSync(folder).filter((f) => f.endsWith('.md')).map(titleOf); } catch { return []; } };
const title = { ...string, minLength: 1, maxLength: 60, description: 'Title of the note; any characters' };

server.tool('write_note', 'Writes a note under a title, over an older one of that title.', {
  required: { title, text: string }, annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, ({ title: name, text }) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(fileOf(name), text, { mode: 0o600 });
  return `Written: ${name}`;
});
server.tool('read_note', 'Reads the note of a title.', { required: { title }, annotations: { readOnlyHint: true, openWorldHint: false } }, ({ title: name }) => {
  try { return readFileSync(fileOf(name), 'utf8'); } catch { return 'There is no note of this title.'; }
});
server.tool('list_titles', 'Lists the titles of all notes.', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => titles().sort().join('\n') || 'There are no notes.');
server.run();
