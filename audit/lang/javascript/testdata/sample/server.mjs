#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import process, { argv as args, default as again } from 'node:process';
import limits from './limits.json' with { type: 'json' };
export * from './schema.mjs';
export { listen as start, version } from './listen.mjs';

const root = path.resolve(args[2] ?? process.cwd());
const names = /^[\p{L}\d_-]{1,64}$/v, divided = limits.bytes / 2 / 8;
let [first, , third = 'drei', ...others] = ['eins', "zwei\u{21}", `drei`, '\x76ier'];

class Shelf extends Map {
  static #open = 0;
  static { Shelf.#open += 1; }
  #lock = null;
  'quoted name' = 1_000n;
  [`computed ${first}`]() { return this.#lock?.held ?? false; }
  static async *walk(dir) { for await (const item of dir) yield* item.files(); }
  get size() { return super.size; }
  set owner(value) { this.#lock = { value, async release() { await value.end(); } }; }
}

const tools = {
  async read({ file, encoding = 'utf8' }) {
    if (!names.test(file)) throw new RangeError(`no such note: ${file}`);
    const text = await readFile(path.join(root, file), { encoding });
    return { content: [{ type: 'text', text }], 3: void 0, ...others };
  },
  list: async () => (await import('./list.mjs')).default(root),
  get count() { return Object.keys(tools).length },
};

outer: for (let i = 0, n = 10; i < n; i++) {
  switch (i % 3) {
    case 0: continue outer;
    case (1): break;
    default: break outer;
  }
}

process.stdin.on('data', (chunk) => {
  try {
    const { id, method, params: { name, arguments: given } = {} } = JSON.parse(chunk);
    const tool = tools[name]
    ;(tool || again)(given).then((result) => process.stdout.write(`${JSON.stringify({ id, method, result })}\n`))
  } catch { process.exitCode ||= 1 } finally { third++ }
});

export default class extends Shelf {}
export const tag = String.raw`C:\notes\${root}`, url = new URL('./a', import.meta.url);
if (divided >>> 1 >= 2 ** 3 ** 1) using = await new Promise(requestAnimation => requestAnimation);
