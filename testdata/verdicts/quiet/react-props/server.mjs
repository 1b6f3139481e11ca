#!/usr/bin/env node
// react-props: which components are there, and what do they take? Reads .jsx and .tsx sources as text; runs none of them.
// Usage: server.mjs [FOLDER]. Without FOLDER the two components in the folder sample are shown.
import { readFileSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Server } from './mcp.mjs';

const root = realpathSync(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), 'sample'));
const SKIP = new Set(['node_modules', 'dist', 'build', 'coverage']);
const MOST_FILES = 3000;
const MOST_CHARACTERS = 300_000;

function* sources(folder = root, depth = 0) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIP.has(entry.name) && !entry.name.startsWith('.') && depth < 20) yield* sources(path, depth + 1);
    else if (entry.isFile() && ['.jsx', '.tsx'].includes(extname(entry.name))) yield path;
  }
}

// The text from an opening bracket to the one that closes it, brackets left out.
function inside(whole, at) {
  const text = whole.slice(0, at + 20_000);
  let depth = 0;
  let quote = '';
  for (let i = at; i < text.length; i++) {
    const c = text[i];
    if (quote) {
      if (c === '\\') i++;
      else if (c === quote) quote = '';
    } else if (c === '"' || c === "'" || c === '`') quote = c;
    else if (text.startsWith('/*', i)) i = Math.max(i, text.indexOf('*/', i) + 1);
    else if (text.startsWith('//', i)) i = text.indexOf('\n', i) < 0 ? text.length : text.indexOf('\n', i);
    else if ('{(['.includes(c)) depth++;
    else if ('})]'.includes(c)) {
      depth--;
      if (depth === 0) return text.slice(at + 1, i);
    }
  }
  return '';
}

// Splits the inside of brackets at separators that are in no inner bracket, quote or comment.
function split(text, separators) {
  const parts = [];
  let depth = 0;
  let begun = 0;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quote) {
      if (c === '\\') i++;
      else if (c === quote) quote = '';
    } else if (c === '"' || c === "'" || c === '`') quote = c;
    else if (text.startsWith('/*', i)) i = Math.max(i, text.indexOf('*/', i) + 1);
    else if (text.startsWith('//', i)) i = text.indexOf('\n', i) < 0 ? text.length : text.indexOf('\n', i) - 1;
    else if ('{(['.includes(c)) depth++;
    else if ('})]'.includes(c)) depth--;
    else if (depth === 0 && separators.includes(c)) {
      parts.push(text.slice(begun, i));
      begun = i + 1;
    }
  }
  return [...parts, text.slice(begun)].map((part) => part.trim()).filter(Boolean);
}

function typed(text, name) {
  const declared = new RegExp(`(?:interface\\s+${name}\\b[^{]{0,200}|type\\s+${name}\\s*=\\s*)\\{`).exec(text);
  if (!declared) return [];
  let about = '';
  return split(inside(text, declared.index + declared[0].length - 1), ';\n').flatMap((member) => {
    about = /\/\*\*?([\s\S]*?)\*\//.exec(member)?.[1].replace(/\s*\*\s*/g, ' ').trim() ?? about;
    const found = /^(?:readonly\s+)?([\w$]+)(\?)?\s*:\s*([\s\S]+)$/.exec(member.replace(/\/\*[\s\S]*?\*\//g, '').trim());
    if (!found) return []; // a comment belongs to the next member
    const prop = { name: found[1], type: found[3].replace(/\s+/g, ' '), required: !found[2], about };
    about = '';
    return [prop];
  });
}

// The literals in Component.defaultProps = { name: value }.
function defaultProps(text, component) {
  const at = new RegExp(`\\b${component}\\.defaultProps\\s*=\\s*\\{`).exec(text);
  const members = at ? split(inside(text, at.index + at[0].length - 1), ',') : [];
  return members.map((m) => /^([\w$]+)\s*:\s*([\s\S]+)$/.exec(m)).filter(Boolean).map((m) => [m[1], m[2]]);
}

function propTypes(text, component) {
  const at = new RegExp(`\\b${component}\\.propTypes\\s*=\\s*\\{`).exec(text);
  if (!at) return [];
  return split(inside(text, at.index + at[0].length - 1), ',').flatMap((member) => {
    const found = /^([\w$]+)\s*:\s*([\s\S]+)$/.exec(member);
    return found ? [{ name: found[1], type: found[2].replace(/\s+/g, ' ').replace(/^PropTypes\./, '').replace(/\.isRequired$/, ''), required: found[2].endsWith('.isRequired'), about: '' }] : [];
  });
}

function* components(text) {
  const seen = new Set();
  for (const match of text.matchAll(/(?:function\s+([A-Z]\w{0,80})\s*|const\s+([A-Z]\w{0,80})\s*(?::[^=\n]{1,120})?=\s*(?:async\s+)?)\(/g)) {
    const name = match[1] ?? match[2];
    if (seen.has(name)) continue;
    if (seen.size >= 300) return;
    seen.add(name);
    const given = inside(text, match.index + match[0].length - 1);
    const type = /:\s*([A-Z]\w*)\s*$/.exec(given)?.[1];
    const written = given.startsWith('{') ? split(inside(given, 0), ',') : [];
    const defaults = new Map([...defaultProps(text, name), ...written.map((p) => /^([\w$]+)\s*=\s*([\s\S]+)$/.exec(p)).filter(Boolean).map((m) => [m[1], m[2]])]);
    let props = [...(type ? typed(text, type) : []), ...propTypes(text, name)];
    if (!props.length) props = written.map((p) => ({ name: /^(\.{3})?[\w$]+/.exec(p)?.[0] ?? p, type: '?', required: !p.includes('='), about: '' }));
    yield { component: name, line: text.slice(0, match.index).split('\n').length, props: props.map((p) => (defaults.has(p.name) ? { ...p, default: defaults.get(p.name) } : p)) };
  }
}

function project() {
  const found = [];
  let count = 0;
  for (const path of sources()) {
    if (++count > MOST_FILES) break;
    if (statSync(path).size > MOST_CHARACTERS) continue;
    const text = readFileSync(path, 'utf8');
    for (const each of components(text)) found.push({ file: relative(root, path).split(sep).join('/'), ...each });
  }
  return found;
}

const one = (name) => project().find((c) => c.component === name) ?? (() => { throw new Error(`there is no component ${JSON.stringify(name)}`); })();
const server = new Server('react-props', { version: '0.5.0', instructions: 'Reads the .jsx and .tsx files below the folder that the server was started with, or its sample.' });
const read = { annotations: { readOnlyHint: true, openWorldHint: false } };
const component = { type: 'string', maxLength: 80, examples: ['Button', 'Price'] };

server.tool('list_components', 'Lists the components in the .jsx and .tsx files of the project with file, line and number of props. The files are read, not run.', read, () => project().map(({ props, ...c }) => ({ ...c, props: props.length })));

server.tool('component_props', 'Lists the props of one component: type, whether it is required, default and comment. The files are read, not run.', { required: { component }, ...read }, ({ component }) => one(component));

server.tool('props_table', 'Writes the props of one component as a Markdown table. Nothing is saved.', { required: { component }, ...read }, ({ component }) => {
  const cell = (text) => String(text ?? '').replace(/\|/g, '\\|').replace(/\n/g, ' ');
  return ['| prop | type | required | default | about |', '|---|---|---|---|---|', ...one(component).props.map((p) => `| ${[p.name, p.type, p.required ? 'yes' : 'no', p.default, p.about].map(cell).join(' | ')} |`)].join('\n');
});

server.tool('find_uses', 'Finds where a component is used in the project: file, line and the props that are passed.', { required: { component }, ...read }, ({ component }) => {
  if (!/^[A-Z]\w{0,79}$/.test(component)) throw new Error('a component is named with a capital letter');
  const uses = [];
  for (const path of sources()) {
    if (statSync(path).size > MOST_CHARACTERS) continue;
    for (const [i, line] of readFileSync(path, 'utf8').split('\n').entries()) {
      const at = line.search(new RegExp(`<${component}(?![\\w.])`));
      if (at >= 0) uses.push({ file: relative(root, path), line: i + 1, props: [...line.slice(at).matchAll(/\s([\w-]{1,60})=/g)].map((m) => m[1]) });
    }
  }
  return uses.length ? uses : `${component} is not used.`;
});

server.tool('props_of_source', 'Lists the components and props in a piece of JSX or TSX source that you pass. It is parsed as text, never run.',
  { required: { source: { type: 'string', maxLength: MOST_CHARACTERS, examples: ['export const Tag = ({ text, colour = "red" }) => <b>{text}</b>;'] } }, ...read }, ({ source }) => {
    if (source.length > MOST_CHARACTERS) throw new Error(`at most ${MOST_CHARACTERS} characters`);
    return [...components(source)];
  });

server.run();
