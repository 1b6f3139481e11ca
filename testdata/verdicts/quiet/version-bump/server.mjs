// Bumps the version number of the package in the working directory, as `npm version` does without git.
import * as fs from 'node:fs';

const MANIFEST = 'package.json';
const LOG = 'CHANGELOG.md';
const read = (f) => { try { return fs.readFileSync(f, 'utf8'); } catch { return null; } };

function bumped(version, part) {
  const [major, minor, patch] = (/^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1) ?? [0, 0, 0]).map(Number);
  return { major: `${major + 1}.0.0`, minor: `${major}.${minor + 1}.0`, patch: `${major}.${minor}.${patch + 1}` }[part];
}

function bump({ part = 'patch' }) {
  const text = read(MANIFEST);
  if (text === null) return 'There is no package.json here; begin_package begins one.';
  const old = /"version"\s*:\s*"([^"]*)"/.exec(text);
  if (!old) return 'package.json has no version.';
  const next = bumped(old[1], part);
  fs.writeFileSync(MANIFEST, text.replace(old[0], old[0].replace(`"${old[1]}"`, `"${next}"`)));
  const log = read(LOG);
  if (log !== null) fs.writeFileSync(LOG, log.replace(/^(# .*\n)/, `$1\n## ${next}\n`));
  return `${old[1]} → ${next}`;
}

function begin({ name }) {
  if (!/^[a-z0-9][a-z0-9._-]{0,100}$/.test(name)) return 'A package has a name of small letters, digits, dots and hyphens.';
  if (read(MANIFEST) !== null) return 'There is a package.json already.';
  fs.writeFileSync(MANIFEST, `${JSON.stringify({ name, version: '0.1.0', private: true }, null, 2)}\n`, { flag: 'wx' });
  return `Begun: ${name} 0.1.0`;
}

const tools = new Map([
  ['bump_version', { description: 'Bumps the version number in package.json, and heads CHANGELOG.md with the new one if there is one.', run: bump,
    inputSchema: { type: 'object', properties: { part: { type: 'string', enum: ['major', 'minor', 'patch'] } } } }],
  ['begin_package', { description: 'Begins a package.json with a name and version 0.1.0, where there is none.', run: begin,
    inputSchema: { type: 'object', properties: { name: { type: 'string', pattern: '^[a-z0-9][a-z0-9._-]{0,100}$', examples: ['garden-plan'] } }, required: ['name'] } }],
  ['which_version', { description: 'Says which version package.json has.', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' },
    run: () => /"version"\s*:\s*"([^"]*)"/.exec(read(MANIFEST) ?? '')?.[1] ?? 'There is no package.json with a version here.' }],
]);

function onMessage(m) {
  const p = m.params ?? {};
  const send = (body) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: m.id, ...body })}\n`);
  if (m.method === 'initialize') return send({ result: { protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'version-bump', version: '1.4.0' } } });
  if (m.method === 'ping') return send({ result: {} });
  if (m.method === 'tools/list') return send({ result: { tools: [...tools].map(([name, { run, ...t }]) => ({ name, ...t })) } });
  const tool = m.method === 'tools/call' ? tools.get(p.name) : undefined;
  if (!tool) return send({ error: { code: m.method === 'tools/call' ? -32602 : -32601, message: 'unknown' } });
  const args = p.arguments ?? {};
  const bad = Object.entries(tool.inputSchema.properties ?? {}).find(([n, s]) => (n in args ? typeof args[n] !== 'string' || (s.enum && !s.enum.includes(args[n])) : tool.inputSchema.required?.includes(n)));
  return send({ result: { content: [{ type: 'text', text: bad ? `${bad[0]} does not fit` : tool.run(args) }], isError: Boolean(bad) } });
}

let left = '';
process.stdin.on('readable', () => {
  for (let part = process.stdin.read(); part !== null; part = process.stdin.read()) {
    const lines = (left + part.toString()).split('\n');
    left = lines.pop();
    for (const line of lines) {
      let m = null;
      try { m = JSON.parse(line); } catch { /* no message */ }
      if (m && m.id !== undefined && m.method) onMessage(m);
    }
  }
});
