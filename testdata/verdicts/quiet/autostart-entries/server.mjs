// Programs that start with the desktop session: the .desktop files of ~/.config/autostart (Desktop Application Autostart Specification).
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import readline from 'node:readline';

const folder = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'autostart');
const KNOWN = { firefox: 'Firefox', thunderbird: 'Thunderbird', keepassxc: 'KeePassXC', 'syncthing serve --no-browser': 'Syncthing', nextcloud: 'Nextcloud', redshift: 'Redshift' };
const fileOf = (label) => join(folder, `${label.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.desktop`);

function entries() {
  let names = [];
  try { names = readdirSync(folder).filter((n) => n.endsWith('.desktop')); } catch { /* none yet */ }
  return names.map((n) => /^Name=(.*)$/m.exec(readFileSync(join(folder, n), 'utf8'))?.[1] ?? n);
}

const program = { type: 'string', enum: Object.keys(KNOWN) };
const catalogue = {
  list_autostart: {
    declaration: { description: 'Lists the programs that start with your desktop session.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true, openWorldHint: false } },
    run: () => entries().join('\n') || 'No program starts with your session.',
  },
  add_autostart: {
    declaration: { description: 'Adds a program to those that start with your desktop session: writes a .desktop file into ~/.config/autostart.',
      inputSchema: { type: 'object', properties: { program }, required: ['program'] }, annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false } },
    run: ({ program: command }) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(fileOf(KNOWN[command]), `[Desktop Entry]\nType=Application\nName=${KNOWN[command]}\nExec=${command}\nX-GNOME-Autostart-enabled=true\n`);
      return `${KNOWN[command]} starts with your next session.`;
    },
  },
  remove_autostart: {
    declaration: { description: 'Removes a program from those that start with your desktop session: deletes its .desktop file from ~/.config/autostart.',
      inputSchema: { type: 'object', properties: { program }, required: ['program'] }, annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false } },
    run: ({ program: command }) => { rmSync(fileOf(KNOWN[command]), { force: true }); return `${KNOWN[command]} does not start with your session any more.`; },
  },
};

function handle(method, params) {
  switch (method) {
    case 'initialize': return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'autostart-entries', version: '1.0.0', title: 'Autostart of the desktop session' } };
    case 'ping': return {};
    case 'tools/list': return { tools: Object.entries(catalogue).map(([name, { declaration }]) => ({ name, ...declaration })) };
    case 'tools/call': {
      if (!Object.hasOwn(catalogue, params.name)) throw [-32602, 'Unknown tool'];
      const { declaration, run } = catalogue[params.name];
      const args = params.arguments ?? {};
      const lacks = declaration.inputSchema.required && !Object.hasOwn(KNOWN, args.program);
      return { content: [{ type: 'text', text: lacks ? `program: one of ${Object.keys(KNOWN).join(', ')}` : run(args) }], isError: Boolean(lacks) };
    }
    default: throw [-32601, 'Method not found'];
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let request;
  try { request = JSON.parse(line); } catch { return; }
  if (request?.id === undefined || typeof request.method !== 'string') return;
  let answer;
  try { answer = { result: handle(request.method, request.params ?? {}) }; } catch (e) { answer = { error: Array.isArray(e) ? { code: e[0], message: e[1] } : { code: -32603, message: e.message } }; }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answer })}\n`);
});
