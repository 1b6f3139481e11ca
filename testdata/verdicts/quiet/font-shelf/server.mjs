// font-shelf: fonts of the user. Installs to ~/.local/share/fonts/font-shelf, so that fonts of other origin are never touched.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { copyFile, mkdir, readFile, readdir, realpath, stat, unlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { Server, string } from './mcp.mjs';

const exec = promisify(execFile);
const shelf = join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'fonts', 'font-shelf');
const sources = [process.cwd(), join(homedir(), 'Downloads')];
const magic = { '00010000': 'TrueType', '4f54544f': 'OpenType', '74746366': 'collection', '74727565': 'TrueType' };

const server = new Server('font-shelf', {
  version: '0.3.0',
  instructions: 'Font files are taken from the working directory and from ~/Downloads. They are installed to ~/.local/share/fonts/font-shelf, and fc-cache is run so that programs see the change.',
});

async function fontFile(file) {
  for (const folder of sources) {
    const [top, real] = await Promise.all([realpath(folder), realpath(join(folder, file))]).catch(() => []);
    if (real?.startsWith(top + sep) && (await stat(real)).isFile()) return real;
  }
  throw new Error(`${file} is neither in the working directory nor in ~/Downloads`);
}

// Family, style and licence stand in the table "name" of a font.
function names(font) {
  const kind = magic[font.subarray(0, 4).toString('hex')];
  if (!kind) throw new Error('this is no TrueType or OpenType font');
  const start = kind === 'collection' ? font.readUInt32BE(12) : 0;
  const found = { kind };
  const wanted = { 1: 'family', 2: 'style', 4: 'full name', 5: 'version', 13: 'licence', 14: 'licence address', 16: 'family', 17: 'style' };
  for (let i = 0; i < font.readUInt16BE(start + 4); i++) {
    const entry = start + 12 + 16 * i;
    if (font.toString('latin1', entry, entry + 4) !== 'name') continue;
    const table = font.readUInt32BE(entry + 8);
    const texts = table + font.readUInt16BE(table + 4);
    for (let n = 0; n < font.readUInt16BE(table + 2); n++) {
      const at = table + 6 + 12 * n;
      const [platform, , language, id, length, offset] = [0, 2, 4, 6, 8, 10].map((o) => font.readUInt16BE(at + o));
      if (platform !== 3 || language !== 0x409 || !wanted[id]) continue;
      found[wanted[id]] = Buffer.from(font.subarray(texts + offset, texts + offset + (length & ~1))).swap16().toString('utf16le').slice(0, 300);
    }
  }
  return found;
}

async function refresh() {
  try {
    await exec('fc-cache', [shelf], { timeout: 60_000 });
    return '';
  } catch (error) {
    return error.code === 'ENOENT' ? ' fc-cache is not installed; programs see the change after a restart.' : ` fc-cache: ${error.message}`;
  }
}

const local = { openWorldHint: false };

server.tool('list_fonts', 'Lists the font families that programs can use, as fc-list names them, or those with a word in their name. Fontconfig may renew its own cache on the way.', {
  optional: { search: string }, annotations: { ...local, destructiveHint: false },
}, async ({ search = '' }) => {
  const { stdout } = await exec('fc-list', ['--format', '%{family[0]}\n'], { timeout: 20_000, maxBuffer: 1 << 24 });
  const families = [...new Set(stdout.split('\n').filter(Boolean))].filter((f) => f.toLowerCase().includes(search.toLowerCase())).sort();
  return families.join('\n') || 'No such fonts.';
});

server.tool('describe_font', 'Shows family, style, version and licence of a font file.', {
  required: { file: { type: 'string', description: 'A .ttf, .otf or .ttc in the working directory or in ~/Downloads' } }, annotations: { ...local, readOnlyHint: true },
}, async ({ file }) => Object.entries(names(await readFile(await fontFile(file)))).map(([k, v]) => `${k}: ${v}`).join('\n'));

server.tool('install_font', 'Installs a font file for this user: copies it to ~/.local/share/fonts/font-shelf and runs fc-cache.', {
  required: { file: string }, annotations: { ...local, destructiveHint: false },
}, async ({ file }) => {
  const source = await fontFile(file);
  const about = names(await readFile(source));
  if (!['.ttf', '.otf', '.ttc'].includes(extname(source).toLowerCase())) throw new Error('a font file ends in .ttf, .otf or .ttc');
  await mkdir(shelf, { recursive: true });
  await copyFile(source, join(shelf, basename(source)), constants.COPYFILE_EXCL);
  return `Installed ${about['full name'] ?? about.family ?? basename(source)}.${await refresh()}`;
});

server.tool('installed_here', 'Lists the font files that font-shelf installed.', { annotations: { ...local, readOnlyHint: true } }, async () =>
  (await readdir(shelf).catch(() => [])).filter((f) => /\.(ttf|otf|ttc)$/i.test(f)).sort().join('\n') || `No fonts in ${shelf}.`);

server.tool('remove_font', 'Deletes a font file that font-shelf installed, and runs fc-cache.', {
  required: { file: { type: 'string', description: 'A name that installed_here lists' } }, annotations: { ...local, destructiveHint: true },
}, async ({ file }) => {
  const installed = await readdir(shelf).catch(() => []);
  if (!installed.includes(file) || !/\.(ttf|otf|ttc)$/i.test(file)) throw new Error(`${file} is not among: ${installed.join(', ') || 'no fonts'}`);
  await unlink(join(shelf, file));
  return `Removed ${file}.${await refresh()}`;
});

server.run();
