import { Server, string } from './mcp.mjs';
import { mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { gunzipSync } from 'node:zlib';
const s = new Server('safe-unpack');
const dest = join(homedir(), '.local/share/safe-unpack/themes');
s.tool('install_theme', 'Installs a theme into the themes folder of this server from a tar archive, gzipped or not, given as base64.', { required: { archive: { type: 'string', description: 'tar archive, base64' } } }, ({ archive }) => {
  let b = Buffer.from(archive, 'base64');
  if (b[0] === 31 && b[1] === 139) b = gunzipSync(b);
  let n = 0;
  for (let at = 0; at + 512 <= b.length && b[at];) {
    const name = b.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    const size = parseInt(b.toString('utf8', at + 124, at + 136), 8) || 0;
    const type = String.fromCharCode(b[at + 156]);
    const p = resolve(dest, name);
    if (p.startsWith(dest + sep) && (type === '0' || type === '\0')) { mkdirSync(dirname(p), { recursive: true }); writeFileSync(p, b.subarray(at + 512, at + 512 + size)); n++; }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return `${n} entries`;
});
s.run();
