#!/usr/bin/env node
'use strict';
// bc-calculator: arithmetic of any precision with bc. One bc process is kept, so that variables and functions stay.
const { spawn } = require('node:child_process');
const readline = require('node:readline');

const LIMIT = Number(process.env.BC_SECONDS) > 0 ? Number(process.env.BC_SECONDS) * 1000 : 5000;
const END = '9471302846'; // printed after each calculation
const MOST = 100000;
let bc = null;
let turn = Promise.resolve();

function start() {
  // BC_ENV_ARGS could name files to be read first, and BC_LINE_LENGTH=0 keeps long numbers in one line
  const { BC_ENV_ARGS, ...env } = process.env;
  bc = spawn('bc', ['-lq'], { env: { ...env, BC_LINE_LENGTH: '0' }, stdio: ['pipe', 'pipe', 'pipe'] });
  const own = bc;
  own.on('exit', () => { if (bc === own) bc = null; });
  own.stdin.on('error', () => {});
  return own;
}

function stop() {
  if (bc) bc.kill('SIGKILL');
  bc = null;
}

function calculate(text) {
  return new Promise((resolve, reject) => {
    const child = bc || start();
    let out = '';
    let errors = '';
    const done = (run, value) => {
      clearTimeout(timer);
      child.stdout.off('data', onOut);
      child.stderr.off('data', onErr);
      child.off('error', onFail);
      child.off('exit', onExit);
      run(value);
    };
    const onOut = (data) => {
      out += data;
      const at = out.indexOf(`${END}\n`);
      // messages on stderr may come a moment later
      if (at >= 0) setTimeout(() => done(resolve, { out: out.slice(0, at).trim(), errors: errors.trim() }), 20);
      else if (out.length > MOST) { stop(); done(reject, new Error(`the result has more than ${MOST} characters; bc was started anew`)); }
    };
    const onErr = (data) => { errors = (errors + data).slice(0, 2000); };
    const onFail = (e) => { bc = null; done(reject, e.code === 'ENOENT' ? new Error('bc is not installed') : e); };
    const onExit = () => done(reject, new Error(`bc ended: ${errors.trim() || 'no message'}. Variables are lost.`));
    const timer = setTimeout(() => { child.off('exit', onExit); stop(); done(reject, new Error(`stopped after ${LIMIT / 1000} s; bc was started anew and variables are lost`)); }, LIMIT);
    child.stdout.on('data', onOut);
    child.stderr.on('data', onErr);
    child.on('error', onFail);
    child.on('exit', onExit);
    child.stdin.write(`${text}\nprint "${END}\\n"\n`);
  });
}

// A bracket or quotation mark that stays open would swallow the next calculation, and read() its text.
function refuse(text) {
  if (text.length > 5000) return 'at most 5000 characters';
  if (/[^\x20-\x7e\n\t]/.test(text)) return 'only ASCII characters';
  if (/\b(read|quit|halt|limits|warranty)\b/.test(text)) return 'read, quit, halt, limits and warranty are not available';
  if (/\/\*|\\\s*$|["#]/.test(text)) return 'no comments and no quoted texts';
  for (const [open, close] of ['()', '[]', '{}']) if (text.split(open).length !== text.split(close).length) return `${open} and ${close} do not match`;
  return '';
}

const next = (run) => (turn = turn.catch(() => {}).then(run));

const tools = {
  calculate: {
    description: 'Calculates with bc: + - * / ^ %, sqrt(), s() c() a() l() e() of its library, variables and functions. Variables stay for the session. A calculation that takes longer than 5 seconds is stopped.',
    inputSchema: { type: 'object', properties: { expression: { type: 'string', examples: ['scale=30; 4*a(1)', 'r=5; 3.14159*r^2'] }, scale: { type: 'integer', minimum: 0, maximum: 1000, description: 'Digits after the point, 20 at first' } }, required: ['expression'] },
    async run({ expression, scale }) {
      if (typeof expression !== 'string' || !expression.trim()) throw new Error('expression is missing');
      if (scale !== undefined && !(Number.isInteger(scale) && scale >= 0 && scale <= 1000)) throw new Error('scale is a number from 0 to 1000');
      const wrong = refuse(expression);
      if (wrong) throw new Error(wrong);
      const { out, errors } = await next(() => calculate(`${scale === undefined ? '' : `scale=${scale}\n`}${expression}`));
      if (errors) throw new Error(errors);
      return out || 'Done; there is nothing to print.';
    },
  },
  convert_base: {
    description: 'Writes a number in another base, from 2 to 16.',
    inputSchema: { type: 'object', properties: { number: { type: 'string', pattern: '^-?[0-9A-Fa-f]+$' }, from: { type: 'integer', minimum: 2, maximum: 16 }, to: { type: 'integer', minimum: 2, maximum: 16 } }, required: ['number', 'from', 'to'] },
    async run({ number, from, to }) {
      if (typeof number !== 'string' || !/^-?[0-9A-F]{1,1000}$/i.test(number)) throw new Error('number is a whole number');
      if (![from, to].every((b) => Number.isInteger(b) && b >= 2 && b <= 16)) throw new Error('bases are from 2 to 16');
      if ([...number.replace('-', '')].some((d) => parseInt(d, 16) >= from)) throw new Error(`${number} has digits that base ${from} does not have`);
      // obase first: ibase changes how the next numbers are read
      const { out } = await next(() => calculate(`obase=${to}; ibase=${from}\n${number.toUpperCase()}\nibase=A; obase=A`));
      return out;
    },
  },
  start_again: {
    description: 'Ends the bc process, and with it forgets all variables and functions.', inputSchema: { type: 'object', properties: {} },
    async run() { await next(async () => stop()); return 'All variables are forgotten.'; },
  },
};

async function answer(method, params) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion || '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'bc-calculator', version: '1.0.0' }, instructions: 'Runs the program bc of this machine.' };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: Object.entries(tools).map(([name, { run, ...rest }]) => ({ name, ...rest, annotations: { destructiveHint: name === 'start_again', openWorldHint: false } })) };
  if (method === 'tools/call' && Object.hasOwn(tools, params.name)) {
    try { return { content: [{ type: 'text', text: await tools[params.name].run(params.arguments || {}) }] }; } catch (e) { return { content: [{ type: 'text', text: e.message }], isError: true }; }
  }
  return null;
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  let request;
  try { request = JSON.parse(line); } catch { return; }
  if (!request || request.id === undefined) return;
  const result = await answer(request.method, request.params || {});
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...(result ? { result } : { error: { code: -32601, message: 'unknown method or tool' } }) }) + '\n');
}).on('close', () => { if (bc) bc.stdin.end(); setTimeout(stop, 500).unref(); });
