// md-preview: Markdown files of the working folder as a page that reloads when a file is saved.
// The page is at http://127.0.0.1:PORT, from the first call of start_preview until stop_preview.
import { randomBytes } from 'node:crypto';
import { realpathSync, unwatchFile, watchFile } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, relative, resolve, sep } from 'node:path';
import { Server, string } from './mcp.mjs';

const root = realpathSync(process.cwd());
let shown = null; // { file, listener, pages }

async function inside(path) {
  const file = await realpath(resolve(root, path)).catch(() => { throw new Error(`${path} is not in ${root}`); });
  if (!file.startsWith(root + sep) || !['.md', '.markdown'].includes(extname(file).toLowerCase())) throw new Error('Only .md and .markdown files of the working folder are shown.');
  if ((await stat(file)).size > 2 << 20) throw new Error('The file is larger than 2 MiB.');
  return file;
}

const escape = (s) => s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const inline = (s) => escape(s)
  .replace(/`([^`]+)`/g, '<code>$1</code>')
  .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
  .replace(/\*([^*\s][^*]*)\*/g, '<em>$1</em>')
  .replace(/\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/g, '<a rel="noreferrer" href="$2">$1</a>');

function render(markdown) {
  const out = [];
  let list = false;
  const close = () => { if (list) out.push('</ul>'); list = false; };
  const parts = markdown.split(/^```.*$/m);
  parts.forEach((part, i) => {
    if (i % 2) { close(); out.push(`<pre>${escape(part.replace(/^\n/, ''))}</pre>`); return; }
    for (const block of part.split(/\n\s*\n|\n(?=#{1,6} |[-*] )/)) {
      const text = block.trim();
      const heading = /^(#{1,6}) (.*)$/s.exec(text);
      if (/^[-*] /.test(text)) { if (!list) out.push('<ul>'); list = true; out.push(`<li>${inline(text.slice(2))}</li>`); continue; }
      close();
      if (heading) out.push(`<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`);
      else if (text) out.push(`<p>${inline(text)}</p>`);
    }
  });
  close();
  return out.join('\n');
}

async function serve(request, response) {
  const { port } = shown.listener.address();
  // A page elsewhere must not read the preview through a name that it points at this machine.
  if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(request.headers.host)) return response.writeHead(403).end();
  if (request.url === '/changes') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).write(': open\n\n');
    shown.pages.add(response);
    return response.on('close', () => shown?.pages.delete(response));
  }
  if (request.url !== '/') return response.writeHead(404).end();
  const nonce = randomBytes(12).toString('base64');
  const body = render(await readFile(await inside(shown.file), 'utf8'));
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'; connect-src 'self'` });
  return response.end(`<!doctype html><title>${escape(relative(root, shown.file))}</title><style>body{max-width:44em;margin:2em auto;font-family:sans-serif;line-height:1.5}pre{background:#eee;padding:1em}</style>
${body}<script nonce="${nonce}">new EventSource('/changes').addEventListener('saved', () => location.reload());</script>`);
}

function stop() {
  if (!shown) return false;
  unwatchFile(shown.file);
  shown.listener.close();
  shown.listener.closeAllConnections();
  shown = null;
  return true;
}

const server = new Server('md-preview', { version: '0.5.3', instructions: 'Shows Markdown of the working folder in a browser. While a preview is on, a web server listens on 127.0.0.1 only (a free port, or MD_PREVIEW_PORT).' });
const path = { ...string, description: 'of a Markdown file, relative to the working folder', examples: ['README.md'] };

server.tool('start_preview', 'Opens a web server on 127.0.0.1 with a page of a Markdown file, which reloads when the file is saved, and answers its address. A preview that is on is replaced.', { required: { path }, annotations: { readOnlyHint: false, destructiveHint: false } }, async (args) => {
  const file = await inside(args.path);
  stop();
  const listener = createServer((request, response) => serve(request, response).catch((error) => response.writeHead(500).end(error.code ?? 'error')));
  await new Promise((done, failed) => listener.once('error', failed).listen(Number(process.env.MD_PREVIEW_PORT) || 0, '127.0.0.1', done));
  shown = { file, listener, pages: new Set() };
  watchFile(file, { interval: 700 }, () => shown?.pages.forEach((page) => page.write('event: saved\ndata: 1\n\n')));
  return `http://127.0.0.1:${listener.address().port}/ shows ${relative(root, file)}`;
});

server.tool('stop_preview', 'Stops the preview and closes its port.', { annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true } }, () => (stop() ? 'Stopped.' : 'No preview was on.'));

server.tool('render_html', 'Answers a Markdown file of the working folder as HTML, without opening a port.', { required: { path }, annotations: { readOnlyHint: true, openWorldHint: false } }, async (args) => render(await readFile(await inside(args.path), 'utf8')));

server.ended = () => { stop(); process.exit(0); };
server.run();
