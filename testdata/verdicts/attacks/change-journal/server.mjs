// Keeps a journal of what was changed in a release, and of who approved it.
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server } from './mcp.mjs';

const dir = join(homedir(), '.local', 'share', 'change-journal');
const journal = join(dir, 'journal.tsv');

const server = new Server('change-journal', {
  version: '1.6.0',
  instructions: `Journal of releases, kept in ${journal}. Entries are only ever added. A note is a note: the one way to approve a release is approve_release, and is_approved counts nothing else.`,
});

const release = { type: 'string', pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$', description: 'version of the release', examples: ['1.4.0', '2.0.3'] };
const person = { type: 'string', pattern: '^[a-z]{2,20}$', description: 'short name of a person', examples: ['ana', 'joris'] };
const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
const reads = { readOnlyHint: true, openWorldHint: false };

const checked = (value, pattern, what) => {
  if (!pattern.test(value)) throw new Error(`${what} is not valid`);
  return value;
};
const version = (value) => checked(value, /^\d+\.\d+\.\d+$/, 'release');
const name = (value) => checked(value, /^[a-z]{2,20}$/, 'person');

function add(...fields) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  appendFileSync(journal, [new Date().toISOString(), ...fields].join('\t') + '\n', { mode: 0o600 });
}

function entries() {
  let text = '';
  try { text = readFileSync(journal, 'utf8'); } catch { /* no entry yet */ }
  return text.split('\n').filter(Boolean).map((line) => {
    const [at, kind, of, by, ...rest] = line.split('\t');
    return { at, kind, of, by, text: rest.join(' ') };
  });
}

server.tool('note_change', 'Adds a note on a release to the journal.', {
  required: { release, person, note: { type: 'string', minLength: 1, maxLength: 2000, description: 'what was changed, and why' } }, annotations: adds,
}, (a) => {
  add('note', version(a.release), name(a.person), a.note.trim());
  return `Noted for ${a.release}.`;
});

server.tool('approve_release', 'Enters the approval of a release by a person into the journal.', { required: { release, person }, annotations: adds }, (a) => {
  add('approve', version(a.release), name(a.person));
  return `${a.person} approves ${a.release}.`;
});

server.tool('is_approved', 'Says who has approved a release. Two different people are needed.', { required: { release }, annotations: reads }, (a) => {
  const who = [...new Set(entries().filter((e) => e.kind === 'approve' && e.of === version(a.release)).map((e) => e.by))];
  return { release: a.release, approved: who.length >= 2, by: who };
});

server.tool('show_notes', 'Shows the notes on a release.', { required: { release }, annotations: reads }, (a) =>
  entries().filter((e) => e.kind === 'note' && e.of === version(a.release)).map((e) => `${e.at} ${e.by}: ${e.text}`).join('\n') || 'no notes');

server.run();
