// Checks the syntax of snippets with the programs that are there anyway: node, python3 and sh. Nothing of a snippet is run.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const PYTHON = 'import ast, sys\ntry:\n    ast.parse(sys.stdin.read(), "snippet")\nexcept (SyntaxError, ValueError) as e:\n    sys.exit(f"line {getattr(e, \'lineno\', 1)}: {e}")';
const checkers = new Map([
  ['javascript', { file: 'snippet.mjs', command: ([file]) => [process.execPath, ['--check', file]] }],
  ['python', { command: () => ['python3', ['-I', '-c', PYTHON]] }],
  ['shell', { command: () => ['sh', ['-n', '-s']] }],
  ['json', { command: () => ['python3', ['-I', '-m', 'json.tool', '--compact', '-', '/dev/null']] }],
]);

function run(command, args, input) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { timeout: 8000, env: { PATH: process.env.PATH, LANG: 'C.UTF-8' }, cwd: tmpdir() });
    let problem = '';
    child.stdout.resume();
    child.stderr.setEncoding('utf8').on('data', (part) => { if (problem.length < 4000) problem += part; });
    child.on('error', () => resolve({ missing: true }));
    child.on('close', (code) => resolve({ code, problem }));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

const server = new Server('syntax-check', { version: '0.4.0' });
const languages = [...checkers.keys()];

server.tool('check_syntax', 'Checks whether a snippet is well-formed, by the language\'s own parser in a process of its own. The snippet is not run; a temporary file is made for JavaScript and removed.', {
  required: { language: { type: 'string', enum: languages }, code: string },
  annotations: { destructiveHint: false, openWorldHint: false },
}, async ({ language, code }) => {
  const checker = checkers.get(language);
  if (!checker) return `Languages: ${languages.join(', ')}`;
  const folder = checker.file ? mkdtempSync(join(tmpdir(), 'syntax-')) : null;
  try {
    const files = folder ? [join(folder, checker.file)] : [];
    files.forEach((file) => writeFileSync(file, code));
    const result = await run(...checker.command(files), folder ? '' : code);
    if (result.missing) return `The parser for ${language} is not installed here.`;
    if (result.code === 0) return 'The syntax is fine.';
    return `Not well-formed:\n${(folder ? result.problem.replaceAll(folder + '/', '') : result.problem).split('\n    at ')[0].trim() || 'no details'}`;
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
});

server.tool('count_lines', 'Counts the lines, the blank ones and those that are comments of a snippet.', {
  required: { language: { type: 'string', enum: languages }, code: string }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ language, code }) => {
  const lines = code.split('\n').map((line) => line.trim());
  const comment = language === 'javascript' ? '//' : '#';
  return { lines: lines.length, blank: lines.filter((l) => !l).length, comments: language === 'json' ? 0 : lines.filter((l) => l.startsWith(comment)).length };
});

server.run();
