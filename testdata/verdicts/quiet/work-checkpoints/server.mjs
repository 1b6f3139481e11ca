// work-checkpoints: saves the state of a working folder before it is edited, without touching the
// repository of the project: the states are commits of a repository of their own,
// ~/.local/share/work-checkpoints/HASH-OF-THE-FOLDER.git.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, sep } from 'node:path';
import { Server, string } from './mcp.mjs';

const root = realpathSync(process.cwd());
const home = realpathSync(homedir());
const base = join(process.env.XDG_DATA_HOME || join(home, '.local', 'share'), 'work-checkpoints');
const store = join(base, `${createHash('sha256').update(root).digest('hex').slice(0, 16)}.git`);
// Besides what the project's .gitignore names. Secrets have no place in a second copy.
const LEFT_OUT = ['.git', 'node_modules/', '.venv/', '__pycache__/', 'dist/', 'target/', '.env', '.env.*', '*.pem', '*.key', '*.p12', '*.kdbx', 'id_rsa*', 'id_ed25519*', '.npmrc', '.netrc', '.ssh/', '.aws/', '.gnupg/', '.kube/', 'credentials*', '*.iso', '*.zip', '*.mp4'];

function git(...args) {
  const environment = { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_NAME: 'work-checkpoints', GIT_AUTHOR_EMAIL: 'checkpoints@localhost', GIT_COMMITTER_NAME: 'work-checkpoints', GIT_COMMITTER_EMAIL: 'checkpoints@localhost' };
  for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']) delete environment[name];
  return new Promise((resolve, reject) => {
    execFile('git', ['--no-pager', `--git-dir=${store}`, `--work-tree=${root}`, ...args], { cwd: root, env: environment, timeout: 60000, maxBuffer: 8 << 20 }, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') reject(new Error('git is not installed.'));
      else if (error) reject(new Error(`git ${args[0]}: ${stderr.trim().split('\n').at(-1) || error.message}`));
      else resolve(stdout.trimEnd());
    });
  });
}

async function prepare(make) {
  if (root === sep || home === root || home.startsWith(root + sep)) throw new Error(`${root} holds the home folder; start this server in a project's folder.`);
  if (existsSync(join(store, 'HEAD'))) return;
  if (!make) throw new Error('There is no checkpoint of this folder yet.');
  mkdirSync(base, { recursive: true, mode: 0o700 });
  await git('init', '--quiet', '--template=');
  mkdirSync(join(store, 'info'), { recursive: true });
  writeFileSync(join(store, 'info', 'exclude'), `${LEFT_OUT.join('\n')}\n`);
}

async function save(label) {
  await git('add', '--all', '--ignore-errors', '.');
  await git('commit', '--quiet', '--allow-empty', '--no-verify', `--message=${label}`);
  return git('rev-parse', '--short', 'HEAD');
}

// One at a time, because git locks its index.
let turn = Promise.resolve();
const inTurn = (work, make = false) => (args) => (turn = turn.catch(() => {}).then(() => prepare(make)).then(() => work(args)));

async function known(id) {
  if (!/^[0-9a-f]{4,40}$/.test(id)) throw new Error('A checkpoint is named by its hash; list_checkpoints shows them.');
  return git('rev-parse', '--verify', '--quiet', `${id}^{commit}`).catch(() => { throw new Error(`There is no checkpoint ${id}.`); });
}

const list = () => git('log', '--max-count=100', '--format=%h  %cd  %s', '--date=format:%Y-%m-%d %H:%M');

const server = new Server('work-checkpoints', {
  version: '1.4.0',
  instructions: `Copies of ${basename(root)} are kept as git commits below ~/.local/share/work-checkpoints; the project's own repository is not touched. What .gitignore names is left out, and so are .env files, keys and credentials.`,
});
const id = { ...string, description: 'a hash from list_checkpoints' };

server.tool('save_checkpoint', 'Saves the present state of the files in the working folder as a checkpoint, in a git repository below ~/.local/share/work-checkpoints.', {
  optional: { label: { ...string, maxLength: 100 } }, annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}, inTurn(async ({ label = 'checkpoint' }) => `Saved as ${await save(label.replace(/\s+/g, ' ').trim().slice(0, 100) || 'checkpoint')}.`, true));

server.tool('list_checkpoints', 'Lists the checkpoints of the working folder, the latest first.', { annotations: { readOnlyHint: true, openWorldHint: false } }, inTurn(list));

server.tool('compare_with_checkpoint', 'Shows how the files of the working folder differ from a checkpoint.', { required: { id }, annotations: { openWorldHint: false } }, inTurn(async (args) => {
  const text = await git('diff', '--no-ext-diff', '--no-textconv', '--no-color', await known(args.id), '--', '.');
  return text.slice(0, 60000) || 'No difference.';
}));

server.tool('restore_checkpoint', 'Brings the files of a checkpoint back into the working folder, over what is there now. Saves a checkpoint of the present state first, so that it can be undone. Files made since are left where they are.', {
  required: { id }, annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
}, inTurn(async (args) => {
  const commit = await known(args.id);
  const before = await save(`before going back to ${commit.slice(0, 7)}`);
  await git('checkout', '--quiet', commit, '--', '.');
  return `The files are as in ${commit.slice(0, 7)}. The state before is ${before}.`;
}));

server.run();
