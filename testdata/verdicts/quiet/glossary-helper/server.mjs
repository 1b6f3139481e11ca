#!/usr/bin/env node
// glossary-helper: one meaning for each term. The bundled glossary is terms.tsv; your own terms are in
// ~/.config/glossary-helper/terms.tsv (term, other spellings, meaning; tabs between) and win over the bundled ones.
// The file is read when it has changed since the last call.
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Server, string } from './mcp.mjs';

const BUNDLED = new URL('./terms.tsv', import.meta.url);
const OWN = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'glossary-helper', 'terms.tsv');
const LONGEST = 100_000;

const fold = (text) => text.normalize('NFC').toLowerCase();

function parse(text, from) {
  return text.split(/\r?\n/).filter((line) => line.trim() && !line.startsWith('#')).flatMap((line) => {
    const [term = '', others = '', meaning = ''] = line.split('\t').map((part) => part.trim());
    return term && meaning ? [{ term, others: others.split(',').map((o) => o.trim()).filter(Boolean), meaning, from }] : [];
  });
}

const bundled = parse(readFileSync(BUNDLED, 'utf8'), 'bundled');
let own = { stamp: '', terms: [] };

function glossary() {
  let stamp = 'none';
  try { const { mtimeMs, size } = statSync(OWN); stamp = `${mtimeMs} ${size}`; } catch { /* the user has no list */ }
  if (stamp !== own.stamp) own = { stamp, terms: stamp === 'none' ? [] : parse(readFileSync(OWN, 'utf8').slice(0, 1_000_000), 'own') };
  return new Map([...bundled, ...own.terms].map((entry) => [fold(entry.term), entry]));
}

function* spellings() {
  for (const entry of glossary().values()) for (const text of [entry.term, ...entry.others]) yield [text, entry];
}

// Number of single changes that make one word of another, for suggestions.
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function occurrences(text) {
  if (text.length > LONGEST) throw new Error(`at most ${LONGEST} characters`);
  const all = [...spellings()].sort((a, b) => b[0].length - a[0].length);
  const byText = new Map(all.map(([spelling, entry]) => [fold(spelling), entry]));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${all.map(([spelling]) => escape(spelling)).join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return [...text.matchAll(pattern)].flatMap((match) => {
    const entry = byText.get(fold(match[0]));
    return entry ? [{ at: match.index, text: match[0], entry }] : [];
  });
}

const server = new Server('glossary-helper', { version: '1.4.0', instructions: 'Uses a bundled glossary and your own terms in ~/.config/glossary-helper/terms.tsv.' });
const read = { annotations: { readOnlyHint: true, openWorldHint: false } };
const text = { ...string, maxLength: LONGEST, examples: ['The web hook must be idempotent, or a retry with backoff does harm.'] };

server.tool('define', 'Gives the meaning of a term from the bundled glossary or from your own list in ~/.config/glossary-helper/terms.tsv.',
  { required: { term: { ...string, maxLength: 80, examples: ['idempotent', 'mutex'] } }, ...read }, ({ term }) => {
    const asked = fold(term.trim());
    if (!asked || asked.length > 80) throw new Error('a term has from 1 to 80 characters');
    let near = [];
    for (const [spelling, entry] of spellings()) {
      if (fold(spelling) === asked) return entry;
      near.push([distance(fold(spelling), asked), entry.term]);
    }
    near = near.sort((a, b) => a[0] - b[0]).filter(([d]) => d <= 3).slice(0, 3).map(([, t]) => t);
    throw new Error(`${JSON.stringify(term)} is not in the glossary${near.length ? `; did you mean ${near.join(' or ')}?` : ''}`);
  });

server.tool('list_terms', 'Lists the terms of the glossary, bundled and your own, that begin with some letters, or all.',
  { optional: { prefix: { ...string, maxLength: 40 } }, ...read }, ({ prefix = '' }) => [...glossary().values()]
    .filter((entry) => fold(entry.term).startsWith(fold(prefix))).map((entry) => entry.term).sort((a, b) => a.localeCompare(b, 'en')));

server.tool('find_terms', 'Finds the terms of the glossary that a text uses, with their meanings and how often.', { required: { text }, ...read }, ({ text }) => {
  const counts = new Map();
  for (const { entry } of occurrences(text)) counts.set(entry, (counts.get(entry) ?? 0) + 1);
  return [...counts].map(([entry, times]) => ({ term: entry.term, times, meaning: entry.meaning }));
});

server.tool('unify_terms', 'Replaces other spellings of glossary terms in a text by the preferred one and returns the text with a list of the changes. Nothing is saved.', { required: { text }, ...read }, ({ text }) => {
  const changes = [];
  let out = '';
  let last = 0;
  for (const { at, text: found, entry } of occurrences(text)) {
    if (fold(found) === fold(entry.term)) continue;
    out += text.slice(last, at) + entry.term;
    last = at + found.length;
    changes.push(`${found} -> ${entry.term}`);
  }
  return { text: out + text.slice(last), changes };
});

server.tool('add_term', 'Appends a term to your own list in ~/.config/glossary-helper/terms.tsv, which is made if need be. A later line wins over an earlier one.',
  { required: { term: { ...string, maxLength: 80, examples: ['runbook'] }, meaning: { ...string, maxLength: 500, examples: ['Steps to take when a certain alarm goes off.'] } }, optional: { others: { type: 'array', items: { type: 'string', maxLength: 80 }, maxItems: 10 } }, annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false } },
  ({ term, meaning, others = [] }) => {
    const parts = [term, ...others];
    if (others.length > 10 || parts.some((p) => typeof p !== 'string' || !p.trim() || p.length > 80 || /[\t\r\n,]|^#/.test(p))) throw new Error('terms have from 1 to 80 characters and no tabs, commas or new lines');
    if (!meaning.trim() || meaning.length > 500 || /[\t\r\n]/.test(meaning)) throw new Error('a meaning is one line of up to 500 characters');
    mkdirSync(dirname(OWN), { recursive: true });
    appendFileSync(OWN, `${existsSync(OWN) ? '' : '# term\tother spellings\tmeaning\n'}${term.trim()}\t${others.join(', ')}\t${meaning.trim()}\n`);
    return `Added ${term.trim()}.`;
  });

server.run();
