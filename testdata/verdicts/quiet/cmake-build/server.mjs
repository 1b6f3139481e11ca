// cmake-build: configure, build and test a CMake project by its presets.
// usage: server.mjs [PROJECT]   (the folder with CMakeLists.txt and CMakePresets.json; the working directory if none is named)
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Server, string } from './mcp.mjs';

const project = path.resolve(process.argv[2] ?? '.');
const MINUTES = Number(process.env.CMAKE_BUILD_MINUTES) || 15;
let busy = null;

function presets(kind) {
  const found = [];
  for (const name of ['CMakePresets.json', 'CMakeUserPresets.json']) {
    const file = path.join(project, name);
    if (!existsSync(file)) continue;
    let content;
    try { content = JSON.parse(readFileSync(file, 'utf8')); } catch (error) { throw new Error(`${file}: ${error.message}`); }
    for (const preset of content[kind] ?? []) if (!preset.hidden) found.push(preset);
  }
  return found;
}

function checked(kind, name) {
  const names = presets(kind).map((p) => p.name);
  if (!names.includes(name)) throw new Error(`${name} is none of the ${kind}: ${names.join(', ') || 'there are none'}`);
  return name;
}

// Keeps the last lines of what a program prints; builds can print megabytes.
function run(program, args) {
  if (busy) throw new Error(`${busy} is still running`);
  busy = `${program} ${args.join(' ')}`;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: project, stdio: ['ignore', 'pipe', 'pipe'], timeout: MINUTES * 60e3 });
    let output = '';
    const keep = (data) => { output = (output + data).slice(-200_000); };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => { busy = null; reject(error.code === 'ENOENT' ? new Error(`${program} is not installed`) : error); });
    child.on('close', (code, signal) => { busy = null; resolve({ code: code ?? signal, output }); });
  });
}

const DIAGNOSTIC = /^(.{1,300}?):(\d+)(?::\d+)?: (?:fatal )?(error|warning): (.*)$/;
function report({ code, output }) {
  const lines = output.split('\n');
  const problems = [...new Set(lines.filter((l) => l.length < 2000 && DIAGNOSTIC.test(l)))];
  const errors = problems.filter((l) => DIAGNOSTIC.exec(l)[3] === 'error');
  const text = [
    code === 0 ? 'Finished.' : `Failed (${code}).`,
    `${errors.length} errors, ${problems.length - errors.length} warnings`,
    ...[...errors, ...problems.filter((l) => !errors.includes(l))].slice(0, 40),
    ...(code !== 0 && !errors.length ? lines.slice(-40) : lines.slice(-3)),
  ].join('\n');
  return { content: [{ type: 'text', text }], isError: code !== 0 };
}

const server = new Server('cmake-build', {
  version: '0.5.0',
  instructions: `Runs cmake and ctest in ${project}. CMake files are programs: configure only projects that you trust. One build runs at a time, for ${MINUTES} minutes at most.`,
});
const builds = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };

server.tool('list_presets', 'Lists the configure, build and test presets of the project, from CMakePresets.json and CMakeUserPresets.json.', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => {
  const lines = ['configurePresets', 'buildPresets', 'testPresets'].map((kind) => [`${kind}:`, ...presets(kind).map((p) => `  ${p.name}${p.displayName ? ` (${p.displayName})` : ''}`)].join('\n'));
  return lines.join('\n');
});

server.tool('configure', 'Runs cmake --preset: executes the CMake files of the project, writes the build folder of the preset, and may download what the project fetches.', {
  required: { preset: string }, optional: { fresh: { type: 'boolean', default: false, description: 'forget the old CMake cache' } }, annotations: builds,
}, async ({ preset, fresh }) => report(await run('cmake', [`--preset=${checked('configurePresets', preset)}`, ...(fresh ? ['--fresh'] : [])])));

server.tool('build', 'Runs cmake --build with a build preset, which compiles into its build folder. Returns the errors and warnings of the compiler.', {
  required: { preset: string }, optional: { target: { type: 'string', pattern: '^[A-Za-z0-9_][A-Za-z0-9_.+-]*$' }, jobs: { type: 'integer', minimum: 1, maximum: 16, default: 2 } }, annotations: builds,
}, async ({ preset, target, jobs = 2 }) => {
  if (target !== undefined && !/^\w[\w.+-]{0,100}$/.test(target)) throw new Error('no such target');
  const args = ['--build', `--preset=${checked('buildPresets', preset)}`, '--parallel', String(Math.min(Math.max(jobs, 1), 16))];
  return report(await run('cmake', target ? [...args, '--target', target] : args));
});

server.tool('test', 'Runs ctest with a test preset: executes the tests of the project.', {
  required: { preset: string }, annotations: builds,
}, async ({ preset }) => {
  const { code, output } = await run('ctest', [`--preset=${checked('testPresets', preset)}`, '--output-on-failure']);
  return { content: [{ type: 'text', text: output.split('\n').slice(-80).join('\n') || `ctest ended with ${code}` }], isError: code !== 0 };
});

server.run();
