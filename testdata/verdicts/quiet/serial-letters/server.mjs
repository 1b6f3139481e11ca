// Serial letters: a text with {{fields}} and a table give one letter for each row.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const templates = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'serial-letters');
const field = /\{\{\s*([\p{L}\p{N}_ ]+?)\s*(?:\|\s*(upper|title|date)\s*)?\}\}/gu;
const section = /\{\{#\s*([\p{L}\p{N}_ ]+?)\s*\}\}([\s\S]*?)\{\{\/\s*\1\s*\}\}/gu;
const mostRows = 1000;

const server = new Server('serial-letters', {
  version: '1.1.0',
  instructions: 'A template has {{fields}} named like the columns of the table. {{name|upper}}, {{name|title}} and {{day|date}} change how a value is written; {{#field}}…{{/field}} is left out where the field is empty. Templates of the user are *.txt in ~/.config/serial-letters.',
});

function rows(csv) {
  const lines = csv.replace(/^\ufeff/, '').split(/\r?\n/).filter((l) => l.trim());
  const separator = (lines[0] ?? '').includes(';') ? ';' : ',';
  const cells = (line) => {
    const out = [];
    let cell = '';
    let quoted = false;
    for (let i = 0; i < line.length; i++) {
      if (line[i] === '"') {
        if (quoted && line[i + 1] === '"') cell += line[i++];
        else quoted = !quoted;
      } else if (line[i] === separator && !quoted) { out.push(cell.trim()); cell = ''; } else cell += line[i];
    }
    return [...out, cell.trim()];
  };
  const [header = [], ...rest] = lines.map(cells);
  if (rest.length > mostRows) throw new Error(`at most ${mostRows} rows`);
  return rest.map((values) => new Map(header.map((h, i) => [h.toLowerCase(), values[i] ?? ''])));
}

const filters = {
  upper: (v) => v.toUpperCase(),
  title: (v) => v.toLowerCase().replace(/(^|[\s-])\p{L}/gu, (c) => c.toUpperCase()),
  date: (v) => (Number.isNaN(Date.parse(v)) ? v : new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(v))),
};

function fill(template, row) {
  const missing = new Set();
  const text = template
    .replace(section, (_, name, inner) => (row.get(name.toLowerCase()) ? inner : ''))
    .replace(field, (_, name, filter) => {
      const value = row.get(name.toLowerCase());
      if (value === undefined) missing.add(name);
      return filter ? filters[filter](value ?? '') : value ?? '';
    });
  return { text, missing };
}

async function load({ template, template_name: name }) {
  if (template) return template;
  if (!name) throw new Error('give template, or template_name');
  if (!/^[\p{L}\p{N}_-]{1,60}$/u.test(name)) throw new Error('a template has a name of letters, digits, - and _');
  return readFile(join(templates, `${name}.txt`), 'utf8').catch(() => { throw new Error(`there is no ${join(templates, `${name}.txt`)}`); });
}

const input = {
  required: { csv: { type: 'string', description: 'Table whose first line has the names of the fields, separated by , or ;' } },
  optional: { template: { type: 'string', description: 'The text with {{fields}}' }, template_name: { type: 'string', description: 'Instead of template: one of list_templates' } },
};

server.tool('list_templates', 'Lists the templates in ~/.config/serial-letters and their fields.', { annotations: { readOnlyHint: true, openWorldHint: false } }, async () => {
  const files = (await readdir(templates).catch(() => [])).filter((f) => f.endsWith('.txt')).sort();
  const lines = await Promise.all(files.map(async (f) => {
    const text = await readFile(join(templates, f), 'utf8');
    return `${f.slice(0, -4)}: ${[...new Set([...text.matchAll(field)].map((m) => m[1]))].join(', ')}`;
  }));
  return lines.join('\n') || `No templates in ${templates}.`;
});

server.tool('preview_letters', 'Fills the first three letters and says which fields the table lacks. Saves nothing.', {
  ...input, annotations: { readOnlyHint: true, openWorldHint: false },
}, async ({ csv, ...from }) => {
  const template = await load(from);
  const table = rows(csv);
  const filled = table.slice(0, 3).map((row) => fill(template, row));
  const missing = [...new Set(filled.flatMap((f) => [...f.missing]))];
  return [`${table.length} letters.`, ...(missing.length ? [`Not in the table: ${missing.join(', ')}`] : []), ...filled.map((f) => f.text)].join('\n\n----\n\n');
});

server.tool('save_letters', 'Fills a letter for each row and saves them as letter-001.txt and so on in a new folder of the working directory.', {
  required: { ...input.required, folder: { type: 'string', description: 'Name of a folder that is not there yet' } }, optional: input.optional,
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}, async ({ csv, folder, ...from }) => {
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_ .-]{0,80}$/u.test(folder)) throw new Error('folder is a plain name');
  const template = await load(from);
  const table = rows(csv);
  if (!table.length) return 'The table has no rows.';
  await mkdir(folder);
  for (const [i, row] of table.entries()) await writeFile(join(folder, `letter-${String(i + 1).padStart(3, '0')}.txt`), fill(template, row).text, { flag: 'wx' });
  return `${table.length} letters in ${folder}/.`;
});

server.prompt('letter', 'Drafts a template of a serial letter.', [{ name: 'occasion', description: 'What the letter is about', required: true }], ({ occasion = '' }) =>
  `Write a short, friendly letter about: ${occasion}\nUse {{name}} for the addressee, and other {{fields}} where letters will differ. Then show a table of examples.`);

server.run();
