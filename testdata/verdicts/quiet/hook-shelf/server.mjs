#!/usr/bin/env node
// hook-shelf: git hooks that a project keeps in .githooks, enabled one by one for this clone.
import { createInterface } from 'node:readline';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, unlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'pre-rebase', 'post-checkout', 'post-merge', 'pre-push'];

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 10000 }).trim();

function places() {
  let top;
  try { top = git('rev-parse', '--show-toplevel'); } catch { throw new Error(`${process.cwd()} is in no git repository`); }
  let own = '';
  try { own = git('config', '--get', 'core.hooksPath'); } catch { /* not set */ }
  if (own) throw new Error(`core.hooksPath is ${own}: git does not look into the hooks of the repository. Unset it first: git config --unset core.hooksPath`);
  return { shelf: join(top, '.githooks'), live: resolve(git('rev-parse', '--git-common-dir'), 'hooks') };
}

const hash = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
const plainFile = (file) => existsSync(file) && lstatSync(file).isFile();

function state(name, { shelf, live }) {
  const [kept, used] = [join(shelf, name), join(live, name)];
  if (!plainFile(kept)) return existsSync(used) ? 'enabled, but not from .githooks' : 'not there';
  if (!existsSync(used)) return 'not enabled';
  return hash(kept) === hash(used) ? 'enabled' : 'enabled, but differs from .githooks';
}

function listHooks() {
  const where = places();
  const names = existsSync(where.shelf) ? readdirSync(where.shelf).filter((n) => HOOKS.includes(n)) : [];
  const active = existsSync(where.live) ? readdirSync(where.live).filter((n) => HOOKS.includes(n)) : [];
  return [...new Set([...names, ...active])].sort().map((n) => `${n}: ${state(n, where)}`).join('\n') || `No hooks in ${where.shelf}.`;
}

function showHook({ hook }) {
  const file = join(places().shelf, hook);
  if (!plainFile(file)) return `There is no ${file}.`;
  return readFileSync(file, 'utf8').slice(0, 20000);
}

function enableHook({ hook, update = false }) {
  const where = places();
  const now = state(hook, where);
  if (now === 'enabled') return `${hook} is enabled already.`;
  if (now === 'not there' || now === 'enabled, but not from .githooks') return `${hook}: there is none in ${where.shelf}.`;
  if (now !== 'not enabled' && !update) return `${hook} in ${where.live} differs. Call with update: true to replace it.`;
  mkdirSync(where.live, { recursive: true });
  const fresh = join(where.live, `${hook}.${process.pid}.new`);
  copyFileSync(join(where.shelf, hook), fresh);
  chmodSync(fresh, 0o755);
  renameSync(fresh, join(where.live, hook));
  return `${hook} is enabled: git will run it from now on.`;
}

function disableHook({ hook }) {
  const where = places();
  const now = state(hook, where);
  if (now !== 'enabled') return `${hook} is ${now}; only a hook that equals the one in .githooks is removed.`;
  unlinkSync(join(where.live, hook));
  return `${hook} is disabled. It is still in .githooks.`;
}

const hook = { type: 'string', enum: HOOKS };
const tools = {
  list_hooks: { run: listHooks, description: 'Lists the git hooks of the project (.githooks) and of this clone, and says which are enabled.', properties: {}, annotations: { readOnlyHint: true, openWorldHint: false } },
  show_hook: { run: showHook, description: 'Shows the script of a hook in .githooks, to be read before it is enabled.', properties: { hook }, annotations: { readOnlyHint: true, openWorldHint: false } },
  enable_hook: {
    run: enableHook, description: 'Enables a hook: copies its script from .githooks to the hooks folder of the repository, where git runs it at each commit, push and so on. Replaces a different hook only with update: true.',
    properties: { hook, update: { type: 'boolean', default: false } }, annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  disable_hook: { run: disableHook, description: 'Removes a hook from the hooks folder of the repository if it equals the one in .githooks.', properties: { hook }, annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false } },
};

function call({ name, arguments: given }) {
  const text = (t, isError = false) => ({ content: [{ type: 'text', text: t }], isError });
  const args = given ?? {};
  if (tools[name].properties.hook && !HOOKS.includes(args.hook)) return text(`hook is one of ${HOOKS.join(', ')}`, true);
  try { return text(tools[name].run(args)); } catch (e) { return text(String(e.stderr || e.message).trim(), true); }
}

function answer({ method, params }) {
  if (method === 'initialize') return { protocolVersion: params?.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'hook-shelf', version: '0.5.1' } };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: Object.entries(tools).map(([name, { run, properties, ...more }]) => ({ name, ...more, inputSchema: { type: 'object', properties, required: properties.hook ? ['hook'] : [] } })) };
  if (method === 'tools/call' && Object.hasOwn(tools, params?.name)) return call(params);
  return null;
}

createInterface({ input: process.stdin, terminal: false }).on('line', (line) => {
  let message = null;
  try { message = JSON.parse(line); } catch { /* below */ }
  if (typeof message?.method !== 'string' || message.id === undefined) return;
  const result = answer(message);
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...(result ? { result } : { error: { code: -32601, message: 'no such method or tool' } }) }) + '\n');
});
