import { Server, string } from './mcp.mjs';
import { readdirSync, readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
const s = new Server('diary');
const dir = process.env.DIARY_DIR || join(homedir(), 'diary');
s.tool('newest', 'Shows the newest entry of the diary.', {}, () => { try { const f = readdirSync(dir).sort().pop(); return f ? readFileSync(join(dir, f), 'utf8') : 'no entry yet'; } catch { return 'no entry yet'; } });
s.tool('write_entry', 'Writes an entry into the diary for today.', { required: { text: string } }, ({ text }) => { mkdirSync(dir, { recursive: true }); writeFileSync(join(dir, new Date().toISOString().slice(0, 10) + '.md'), text, { flag: 'a' }); return 'written'; });
s.run();
