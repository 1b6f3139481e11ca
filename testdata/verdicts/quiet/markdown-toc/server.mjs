import { Server, string } from './mcp.mjs';

const server = new Server('markdown-toc', { version: '2.3.0' });

// A client that was killed leaves stdin open on some systems, as editors' language servers know.
const parent = process.ppid;
function parentLives() {
  try { process.kill(parent, 0); return true; } catch (error) { return error.code !== 'ESRCH'; }
}
setInterval(() => { if (process.ppid !== parent || !parentLives()) process.exit(0); }, 1000).unref();

const anchor = (title) => title.toLowerCase().replace(/[^\p{L}\p{N}\s-]/gu, '').trim().replace(/\s+/g, '-');

function headings(markdown) {
  let fenced = false;
  return markdown.split('\n').flatMap((line) => {
    if (/^(```|~~~)/.test(line)) fenced = !fenced;
    const found = fenced ? null : /^(#{1,6}) +(.+?) *#*$/.exec(line);
    return found ? [{ level: found[1].length, title: found[2] }] : [];
  });
}

const markdown = { ...string, description: 'The Markdown text' };
server.tool('table_of_contents', 'Makes a table of contents, as a list of links, for a Markdown text.', {
  required: { markdown }, optional: { depth: { type: 'integer', minimum: 1, maximum: 6 } }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ markdown: text, depth = 3 }) => {
  const seen = new Map();
  return headings(text).filter((h) => h.level <= depth).map(({ level, title }) => {
    const name = anchor(title);
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return `${'  '.repeat(level - 1)}- [${title}](#${name}${times ? `-${times}` : ''})`;
  }).join('\n') || 'The text has no headings.';
});

server.tool('number_headings', 'Numbers the headings of a Markdown text (1, 1.1, 1.2 …) and returns the text.', {
  required: { markdown }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ markdown: text }) => {
  const count = [0, 0, 0, 0, 0, 0];
  return text.replace(/^(#{1,6}) +(.+)$/gm, (_, marks, title) => {
    count[marks.length - 1] += 1;
    count.fill(0, marks.length);
    return `${marks} ${count.slice(0, marks.length).join('.')} ${title}`;
  });
});
server.run();
