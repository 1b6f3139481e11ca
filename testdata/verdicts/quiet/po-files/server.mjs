#!/usr/bin/env node
// po-files [PROJECT]: the gettext catalogues (*.po) of a project.
import { copyFile, lstat, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { Server, string } from './mcp.mjs';

const root = resolve(process.argv[2] ?? '.');
const server = new Server('po-files', { version: '2.0.1', instructions: `Works on the .po files in ${root}.` });
const SKIPPED = new Set(['node_modules', 'vendor', '.git', 'dist', 'build']);

async function catalogues(folder = root, depth = 0, found = []) {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < 8 && !SKIPPED.has(entry.name)) await catalogues(path, depth + 1, found);
    else if (entry.isFile() && entry.name.endsWith('.po') && found.length < 300) found.push(path);
  }
  return found;
}

const unquote = (s) => s.replace(/\\(["\\nt])/g, (_, c) => ({ n: '\n', t: '\t' }[c] ?? c));
const quote = (s) => `"${s.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t')}"`;

// entries reads a catalogue. An entry knows its lines, so that a change leaves everything else as it was.
function entries(text) {
  const lines = text.split('\n');
  const found = [];
  let entry = null;
  let field = null;
  lines.forEach((line, i) => {
    if (line.startsWith('#~')) { field = null; return; }
    if (/^#,/.test(line)) { entry = { flags: line, flagLine: i }; field = null; return; }
    const key = line.match(/^(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?)\s+"(.*)"\s*$/);
    if (key) {
      if ((key[1] === 'msgid' && entry?.msgid !== undefined) || (key[1] === 'msgctxt' && entry?.msgid !== undefined)) entry = null;
      entry ??= {};
      if (key[1] === 'msgid') found.push(entry);
      field = key[1];
      entry[field] = unquote(key[2]);
      entry[`${field}@`] = [i, i];
    } else if (field && /^".*"\s*$/.test(line)) {
      entry[field] += unquote(line.trim().slice(1, -1));
      entry[`${field}@`][1] = i;
    } else if (!line.trim()) { entry = null; field = null; }
  });
  return { lines, found: found.filter((e) => e.msgid !== '') };
}

const fuzzy = (e) => /\bfuzzy\b/.test(e.flags ?? '');
const strings = (e) => Object.keys(e).filter((k) => /^msgstr(\[\d\])?$/.test(k));
const missing = (e) => strings(e).some((k) => e[k] === '');
const marks = (s) => (s.match(/%(?:\d+\$|\(\w+\))?[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z]|\{\w*\}/g) ?? []).sort().join(' ');

async function catalogue(file) {
  const path = resolve(root, file);
  if (!path.startsWith(root + sep) || !path.endsWith('.po')) throw new Error(`file is a .po file in ${root}`);
  if (!(await catalogues()).includes(path)) throw new Error(`there is no ${path}`); // found by the walk, which follows no links
  return { path, ...entries(await readFile(path, 'utf8')) };
}

const file = { type: 'string', description: 'a .po file, from the folder of the project', examples: ['locale/de/LC_MESSAGES/app.po'] };
const readOnly = { readOnlyHint: true, openWorldHint: false };

server.tool('summary', `Counts translated, fuzzy and missing texts in each .po file in ${root}.`, { annotations: readOnly }, async () => {
  const lines = [];
  for (const path of await catalogues()) {
    const { found } = entries(await readFile(path, 'utf8'));
    const [unsure, none] = [found.filter(fuzzy).length, found.filter(missing).length];
    lines.push(`${relative(root, path)}: ${found.length} texts, ${none} missing, ${unsure} fuzzy`);
  }
  return lines.join('\n') || `There are no .po files in ${root}.`;
});

server.tool('open_texts', 'Lists the texts of a .po file that are missing, fuzzy, or whose placeholders differ from the original.', { required: { file }, annotations: readOnly }, async ({ file: f }) => {
  const { found } = await catalogue(f);
  return found.flatMap((e) => {
    const why = missing(e) ? 'missing' : fuzzy(e) ? 'fuzzy' : e.msgstr !== undefined && marks(e.msgstr) !== marks(e.msgid) ? 'placeholders' : null;
    return why ? [`${why}: ${JSON.stringify(e.msgid)}${e.msgctxt ? ` (context ${JSON.stringify(e.msgctxt)})` : ''}`] : [];
  }).slice(0, 300).join('\n') || 'Nothing is open.';
});

server.tool('set_translation', 'Sets the translation of a text without plural in a .po file and removes its fuzzy mark. The file as it was is kept beside it as NAME.po.bak.', {
  required: { file, original: string, translation: { type: 'string', maxLength: 10000 } }, optional: { context: string }, annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, async ({ file: f, original, translation, context }) => {
  if (translation.length > 10000) throw new Error('a translation has at most 10000 characters');
  const { path, lines, found } = await catalogue(f);
  const entry = found.find((e) => e.msgid === original && (context === undefined || e.msgctxt === context));
  if (!entry || entry.msgstr === undefined) throw new Error('the file has no such text without plural');
  if (translation && marks(translation) !== marks(original)) throw new Error(`the placeholders have to be those of the original: ${marks(original) || 'none'}`);
  if (fuzzy(entry)) lines[entry.flagLine] = lines[entry.flagLine].replace(/,\s*fuzzy\b/, '');
  const [first, last] = entry['msgstr@'];
  const pieces = translation.split(/(?<=\n)/);
  lines.splice(first, last - first + 1, ...(pieces.length > 1 ? ['msgstr ""', ...pieces.map(quote)] : [`msgstr ${quote(translation)}`]));
  if (fuzzy(entry) && lines[entry.flagLine].trim() === '#') lines.splice(entry.flagLine, 1);
  if ((await lstat(`${path}.bak`).catch(() => null))?.isSymbolicLink()) throw new Error(`${path}.bak is a link`);
  await copyFile(path, `${path}.bak`);
  await writeFile(`${path}.new`, lines.join('\n'), { flag: 'wx' });
  await rename(`${path}.new`, path);
  return `Set in ${path}.`;
});

server.run();
