#!/usr/bin/env node
// appimage-keeper: the AppImages in ~/Applications. Nothing is downloaded or started; a menu entry is a .desktop file.
// ~/.config/appimage-keeper.json may name projects of GitHub: {"projects": {"Inkscape": "inkscape/inkscape"}}
import { chmod, lstat, mkdir, open, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server } from './mcp.mjs';

const folder = join(homedir(), 'Applications');
const entries = join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'applications');
const config = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'appimage-keeper.json');
const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}\.AppImage$/i;
const CATEGORIES = ['AudioVideo', 'Development', 'Education', 'Game', 'Graphics', 'Network', 'Office', 'Science', 'Settings', 'System', 'Utility'];
const server = new Server('appimage-keeper', { version: '0.9.0', instructions: `Looks after the AppImages in ${folder} and their menu entries in ${entries}. Projects for update checks are named in ${config}.` });

async function images() {
  const found = [];
  for (const name of (await readdir(folder).catch(() => [])).filter((n) => NAME.test(n)).sort()) {
    const info = await lstat(join(folder, name));
    if (info.isFile()) found.push({ name, size: info.size, runs: (info.mode & 0o100) !== 0, type: await kind(join(folder, name)) });
  }
  return found;
}

// kind reads the mark that AppImages have in their ELF header: AI and the type.
async function kind(path) {
  const handle = await open(path).catch(() => null);
  if (!handle) return 0;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(11), 0, 11, 0);
    return bytesRead === 11 && buffer.toString('latin1', 1, 4) === 'ELF' && buffer.toString('latin1', 8, 10) === 'AI' ? buffer[10] : 0;
  } finally { await handle.close(); }
}

async function image(name) {
  if (!NAME.test(name)) throw new Error(`name is the name of an AppImage in ${folder}`);
  const found = (await images()).find((i) => i.name === name);
  if (!found) throw new Error(`there is no ${join(folder, name)}`);
  return found;
}

const title = (name) => name.replace(/\.AppImage$/i, '').split(/[-_]v?\d/)[0].replace(/[-_](x86_64|amd64|aarch64).*$/i, '');
const entryOf = (name) => join(entries, `appimage-keeper-${title(name).toLowerCase()}.desktop`);
const ours = async (path) => (await readFile(path, 'utf8').catch(() => '')).includes('\nX-AppImage-Keeper=true\n');
const name = { type: 'string', description: `an AppImage in ${folder}`, examples: ['Inkscape-1.3.2-x86_64.AppImage'] };

server.tool('list_appimages', `Lists the AppImages in ${folder}, and whether each is executable and has a menu entry.`, { annotations: { readOnlyHint: true, openWorldHint: false } }, async () => {
  const lines = [];
  for (const i of await images()) lines.push(`${i.name}  ${(i.size / 1048576).toFixed(1)} MiB  ${i.type ? `type ${i.type}` : 'no AppImage inside'}, ${i.runs ? 'executable' : 'not executable'}, ${await ours(entryOf(i.name)) ? 'in the menu' : 'not in the menu'}`);
  return lines.join('\n') || `There are no AppImages in ${folder}.`;
});

server.tool('add_to_menu', `Makes an AppImage in ${folder} executable and writes a menu entry for it to ${entries}. Does not start it.`, {
  required: { name }, optional: { category: { type: 'string', enum: CATEGORIES, default: 'Utility' } }, annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}, async ({ name: n, category = 'Utility' }) => {
  if (!CATEGORIES.includes(category)) throw new Error(`category is one of ${CATEGORIES.join(', ')}`);
  const found = await image(n);
  if (!found.type) throw new Error(`${n} is no AppImage`);
  const path = entryOf(n);
  if (await lstat(path).catch(() => null) && !await ours(path)) throw new Error(`${path} was not made by appimage-keeper`);
  await mkdir(entries, { recursive: true });
  await chmod(join(folder, n), 0o755);
  const command = `"${join(folder, n).replace(/[\\"`$]/g, '\\\\$&').replace(/%/g, '%%')}"`;
  await writeFile(`${path}.new`, ['[Desktop Entry]', 'Type=Application', `Name=${title(n)}`, `Exec=${command} %U`, `TryExec=${join(folder, n)}`, `Categories=${category};`, 'X-AppImage-Keeper=true', ''].join('\n'));
  await rename(`${path}.new`, path);
  return `Wrote ${path}.`;
});

server.tool('remove_from_menu', 'Deletes the menu entry that add_to_menu wrote. The AppImage stays.', { required: { name }, annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false } }, async ({ name: n }) => {
  if (!NAME.test(n)) throw new Error('name is the name of an AppImage');
  if (!await ours(entryOf(n))) return 'There is no such entry.';
  await unlink(entryOf(n));
  return `Deleted ${entryOf(n)}.`;
});

server.tool('check_updates', `Asks api.github.com for the newest release of each project that ${config} names, and shows it beside the AppImages that are there. Downloads nothing.`, { annotations: { readOnlyHint: true, openWorldHint: true } }, async () => {
  const text = await readFile(config, 'utf8').catch(() => '');
  if (!text) return `No projects are named in ${config}.`;
  let projects;
  try { projects = JSON.parse(text).projects ?? {}; } catch { throw new Error(`${config} is no JSON`); }
  const here = await images();
  const lines = await Promise.all(Object.entries(projects).slice(0, 20).map(async ([app, project]) => {
    if (!/^[\w-]+(\.[\w-]+)*\/[\w-]+(\.[\w-]+)*$/.test(project)) return `${app}: "${project}" is not owner/name`;
    try {
      const response = await fetch(`https://api.github.com/repos/${project}/releases/latest`, { headers: { Accept: 'application/vnd.github+json', 'User-Agent': 'appimage-keeper' }, signal: AbortSignal.timeout(8000) });
      if (!response.ok) return `${app}: GitHub answered ${response.status}`;
      const { tag_name: tag } = await response.json();
      return `${app}: newest is ${tag}; here: ${here.filter((i) => title(i.name).toLowerCase() === app.toLowerCase()).map((i) => i.name).join(', ') || 'none'}`;
    } catch (error) { return `${app}: ${error.cause?.code ?? error.message}`; }
  }));
  return lines.join('\n') || 'No projects are named.';
});

server.run();
