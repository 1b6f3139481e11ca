import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const ROOT = join(homedir(), '.local', 'share', 'identicons');
const KEPT = 40;
const server = new Server('shard-thumbs', { version: '2.0.0', instructions: `Draws identicons. At most ${KEPT} of them are kept in ~/.local/share/identicons; the least recently used make room.` });

function prepare() {
  for (let n = 0; n < 64; n += 1) mkdirSync(join(ROOT, n.toString(16).padStart(2, '0')), { recursive: true });
}
function all() {
  try {
    return readdirSync(ROOT).flatMap((shard) => readdirSync(join(ROOT, shard)).map((name) => join(ROOT, shard, name)));
  } catch { return []; }
}

function draw(digest) {
  const colour = `#${digest.subarray(0, 3).toString('hex')}`;
  const cells = [];
  for (let y = 0; y < 5; y += 1) for (let x = 0; x < 3; x += 1) if (digest[3 + y * 3 + x] & 1) { cells.push([x, y]); if (x < 2) cells.push([4 - x, y]); }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 5 5" fill="${colour}">${cells.map(([x, y]) => `<rect x="${x}" y="${y}" width="1" height="1"/>`).join('')}</svg>`;
}

server.tool('identicon', 'Draws the identicon of a name as SVG, and keeps it for the next time.', { required: { name: string } }, ({ name }) => {
  const digest = createHash('sha256').update(name).digest();
  const file = join(ROOT, (digest[31] & 63).toString(16).padStart(2, '0'), `${digest.toString('hex').slice(0, 16)}.svg`);
  try {
    const known = readFileSync(file, 'utf8');
    utimesSync(file, new Date(), new Date());
    return known;
  } catch { /* it is new */ }
  const svg = draw(digest);
  prepare();
  writeFileSync(file, svg);
  const byAge = all().map((f) => [statSync(f).mtimeMs, f]).sort((a, b) => a[0] - b[0]);
  for (const [, old] of byAge.slice(0, Math.max(0, byAge.length - KEPT))) unlinkSync(old);
  return svg;
});

server.tool('kept_pictures', 'Says how many identicons are kept and how much room they take.', { annotations: { readOnlyHint: true } }, () => {
  const files = all();
  return `${files.length} identicons, ${files.reduce((sum, f) => sum + statSync(f).size, 0)} bytes`;
});
server.run();
