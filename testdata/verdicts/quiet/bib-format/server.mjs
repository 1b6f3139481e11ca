#!/usr/bin/env node
// BibTeX: parse, check, sort and print as references. A DOI is looked up at Crossref.
import readline from 'node:readline';

const REQUIRED = {
  article: ['author', 'title', 'journal', 'year'], book: ['title', 'publisher', 'year'], inproceedings: ['author', 'title', 'booktitle', 'year'],
  phdthesis: ['author', 'title', 'school', 'year'], techreport: ['author', 'title', 'institution', 'year'], misc: ['title'],
};
const ACCENTS = { '"a': 'ä', '"o': 'ö', '"u': 'ü', '"A': 'Ä', '"O': 'Ö', '"U': 'Ü', "'e": 'é', "'a": 'á', "'o": 'ó', '`e': 'è', '`a': 'à', '^e': 'ê', '~n': 'ñ', 'c c': 'ç', ss: 'ß' };

function parse(text) {
  const entries = [];
  const head = /@(\w+)\s*\{\s*([^,\s{}]+)\s*,/g;
  for (let m; (m = head.exec(text));) {
    const entry = { type: m[1].toLowerCase(), key: m[2], fields: new Map() };
    let i = head.lastIndex;
    while (i < text.length) {
      const name = /^[\s,]*([a-zA-Z][\w-]*)\s*=\s*/.exec(text.slice(i, i + 300));
      if (!name) break;
      i += name[0].length;
      const from = i;
      if (text[i] === '{') {
        let depth = 0;
        do { depth += text[i] === '{' ? 1 : text[i] === '}' ? -1 : 0; i++; } while (depth && i < text.length);
        entry.fields.set(name[1].toLowerCase(), text.slice(from + 1, i - 1));
      } else if (text[i] === '"') {
        i = text.indexOf('"', i + 1) + 1 || text.length;
        entry.fields.set(name[1].toLowerCase(), text.slice(from + 1, i - 1));
      } else {
        while (i < text.length && !/[,}\s]/.test(text[i])) i++;
        entry.fields.set(name[1].toLowerCase(), text.slice(from, i));
      }
    }
    head.lastIndex = i;
    if (!['comment', 'string', 'preamble'].includes(entry.type)) entries.push(entry);
  }
  if (!entries.length) throw new Error('no BibTeX entries found');
  return entries;
}

const clean = (v = '') => v.replace(/\{?\\(["'`^~])\{?(\w)\}?\}?/g, (all, a, c) => ACCENTS[a + c] ?? c).replace(/\{?\\ss\}?/g, 'ß').replace(/\\&/g, '&').replace(/--/g, '–').replace(/[{}]/g, '').replace(/\s+/g, ' ').trim();
const print = ({ type, key, fields }) => `@${type}{${key},\n${[...fields].map(([k, v]) => `  ${k.padEnd(12)} = {${v.replace(/\s+/g, ' ')}}`).join(',\n')}\n}`;

function authors(value) {
  const list = clean(value).split(/\s+and\s+/).filter(Boolean).map((a) => {
    const [last, first = ''] = a.includes(',') ? a.split(/,\s*/) : [a.split(' ').at(-1), a.split(' ').slice(0, -1).join(' ')];
    return first ? `${last}, ${first.split(/[\s.-]+/).filter(Boolean).map((n) => `${n[0]}.`).join(' ')}` : last;
  });
  return list.length > 1 ? `${list.slice(0, -1).join(', ')} & ${list.at(-1)}` : list[0] ?? '';
}

function reference({ fields }) {
  const f = (k) => clean(fields.get(k));
  const where = f('journal') ? `*${f('journal')}*${f('volume') && `, ${f('volume')}`}${f('number') && `(${f('number')})`}${f('pages') && `, ${f('pages')}`}` : f('booktitle') ? `In *${f('booktitle')}*${f('pages') && ` (pp. ${f('pages')})`}` : f('publisher') || f('school') || f('institution');
  return [`${authors(fields.get('author') ?? fields.get('editor') ?? '')} (${f('year') || 'n.d.'}).`.trim(), `${f('title')}.`, where && `${where}.`, f('doi') ? `https://doi.org/${f('doi')}` : f('url')].filter(Boolean).join(' ');
}

const found = new Map(); // entries of this session, so that a DOI is asked for once
async function lookup({ doi }) {
  const id = doi.trim().replace(/^(https?:\/\/(dx\.)?doi\.org\/|doi:\s*)/i, '');
  if (!/^10\.\d{4,9}\/\S{1,200}$/.test(id)) throw new Error(`${doi} is no DOI`);
  if (!found.has(id)) {
    const response = await fetch(`https://api.crossref.org/works/${encodeURIComponent(id)}/transform/application/x-bibtex`, { headers: { 'User-Agent': 'bib-format/1.3 (MCP server)' }, signal: AbortSignal.timeout(20000) })
      .catch((e) => { throw new Error(`api.crossref.org cannot be reached: ${e.cause?.code ?? e.message}`); });
    if (response.status === 404) throw new Error(`Crossref does not know ${id}`);
    if (!response.ok) throw new Error(`Crossref answered ${response.status}`);
    found.set(id, print(parse((await response.text()).slice(0, 50000))[0]));
  }
  return found.get(id);
}

const bibtex = { type: 'string', description: 'BibTeX entries' };
const tools = {
  format_references: ['Prints BibTeX entries as a list of references in the style of APA, in Markdown.', { bibtex }, ({ bibtex: b }) => parse(b).map(reference).sort((x, y) => x.localeCompare(y)).join('\n\n'), false],
  tidy_bibtex: ['Sorts BibTeX entries by key, aligns their fields and drops entries that are there twice.', { bibtex }, ({ bibtex: b }) => [...new Map(parse(b).map((e) => [e.key.toLowerCase(), e])).values()].sort((x, y) => x.key.localeCompare(y.key)).map(print).join('\n\n'), false],
  check_bibtex: ['Finds missing fields, odd years, keys that are used twice and DOIs that are written as addresses.', { bibtex }, ({ bibtex: b }) => {
    const keys = new Set();
    return parse(b).flatMap((e) => {
      const out = (REQUIRED[e.type] ?? []).filter((f) => !e.fields.get(f)?.trim()).map((f) => `${e.key}: ${f} is missing`);
      if (keys.has(e.key)) out.push(`${e.key}: used twice`);
      keys.add(e.key);
      if (e.fields.has('year') && !/^\d{4}$/.test(clean(e.fields.get('year')))) out.push(`${e.key}: year is ${clean(e.fields.get('year'))}`);
      if (/^https?:/.test(e.fields.get('doi') ?? '')) out.push(`${e.key}: doi should start with 10.`);
      return out;
    }).join('\n') || 'Nothing is missing.';
  }, false],
  lookup_doi: ['Fetches the BibTeX entry of a DOI from Crossref (api.crossref.org).', { doi: { type: 'string', examples: ['10.1038/171737a0'] } }, lookup, true],
};

function declared() {
  return Object.entries(tools).map(([name, [description, properties, , open]]) => ({ name, description, inputSchema: { type: 'object', properties, required: Object.keys(properties) }, annotations: { readOnlyHint: true, openWorldHint: open } }));
}

async function result({ method, params }) {
  if (method === 'initialize') return { protocolVersion: params?.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'bib-format', version: '1.3.0' } };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: declared() };
  if (method !== 'tools/call' || !Object.hasOwn(tools, params?.name)) throw new Error(`unknown: ${method === 'tools/call' ? params?.name : method}`);
  const [, properties, run] = tools[params.name];
  const wrong = Object.keys(properties).filter((k) => typeof params.arguments?.[k] !== 'string');
  if (wrong.length) return { isError: true, content: [{ type: 'text', text: `${wrong[0]} has to be a text` }] };
  try {
    return { content: [{ type: 'text', text: await run(params.arguments) }] };
  } catch (e) {
    return { isError: true, content: [{ type: 'text', text: e.message }] };
  }
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message?.id === undefined) return;
  const outcome = await result(message).then((r) => ({ result: r }), (e) => ({ error: { code: -32601, message: e.message } }));
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome })}\n`);
});
