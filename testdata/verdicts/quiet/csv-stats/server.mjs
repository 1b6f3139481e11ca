// Reads CSV that is pasted: columns, sums, groups, conversion to JSON and Markdown.
import { Server, string } from './mcp.mjs';

function parse(text, separator) {
  const rows = [[]];
  let field = '';
  let quoted = false;
  const end = () => { rows.at(-1).push(field); field = ''; };
  for (let i = 0; i < Math.min(text.length, 2e6); i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') { field += '"'; i++; } else quoted = false;
    } else if (c === '"' && field === '') quoted = true;
    else if (c === separator) end();
    else if (c === '\n') { end(); rows.push([]); } else if (c !== '\r') field += c;
  }
  end();
  return rows.filter((row) => row.some((cell) => cell !== ''));
}

const guess = (text) => [',', ';', '\t', '|'].map((s) => [s, text.split('\n', 1)[0].split(s).length]).sort((a, b) => b[1] - a[1])[0][0];

function table(csv) {
  const [header = [], ...rows] = parse(csv, guess(csv));
  return { header: header.map((h) => h.trim()), rows };
}

const number = (cell) => { const n = Number(String(cell ?? '').trim().replace(/^[€$£]/, '').replace(/(\d),(\d{1,2})$/, '$1.$2')); return String(cell ?? '').trim() === '' || Number.isNaN(n) ? null : n; };
const pure = { readOnlyHint: true, openWorldHint: false };
const csv = { type: 'string', examples: ['city,people\nOslo,709000\nBergen,291000\n'] };
const server = new Server('csv-stats', { version: '1.3.3' });
const fewWords = 'The first line has to name the columns.';

server.tool('describe_columns', 'Describes each column of a CSV text: how many values, and smallest, largest and mean of numbers.', { required: { csv }, annotations: pure }, ({ csv: text }) => {
  const { header, rows } = table(text);
  return header.map((name, i) => {
    const cells = rows.map((r) => r[i] ?? '').filter((c) => c !== '');
    const numbers = cells.map(number).filter((n) => n !== null);
    if (!numbers.length || numbers.length < cells.length) return `${name}: ${cells.length} values, ${new Set(cells).size} different`;
    const sorted = numbers.toSorted ? numbers.toSorted((a, b) => a - b) : [...numbers].sort((a, b) => a - b);
    return `${name}: ${numbers.length} numbers, ${sorted[0]} to ${sorted.at(-1)}, mean ${numbers.reduce((a, b) => a + b, 0) / numbers.length}`;
  }).join('\n') || fewWords;
});

server.tool('sum_by', 'Sums one column of a CSV text for each value of another.', { required: { csv, group: string, sum: string }, annotations: pure }, ({ csv: text, group, sum }) => {
  const { header, rows } = table(text);
  const [g, s] = [header.indexOf(group), header.indexOf(sum)];
  if (g < 0 || s < 0) return `Columns: ${header.join(', ') || 'none'}`;
  const totals = new Map();
  for (const row of rows) totals.set(row[g], (totals.get(row[g]) ?? 0) + (number(row[s]) ?? 0));
  return [...totals].map(([k, v]) => `${k}: ${v}`).join('\n') || 'No rows.';
});

server.tool('csv_to_json', 'Converts a CSV text to JSON.', { required: { csv }, annotations: pure }, ({ csv: text }) => {
  const { header, rows } = table(text);
  return JSON.stringify(rows.slice(0, 5000).map((row) => Object.fromEntries(header.map((name, i) => [name, number(row[i]) ?? row[i] ?? null]))), null, 1);
});

server.tool('csv_to_markdown', 'Converts a CSV text to a Markdown table.', { required: { csv }, annotations: pure }, ({ csv: text }) => {
  const { header, rows } = table(text);
  if (!header.length) return fewWords;
  const line = (cells) => `| ${header.map((_, i) => String(cells[i] ?? '').replace(/\|/g, '\\|').replace(/\n/g, ' ')).join(' | ')} |`;
  return [line(header), `|${' --- |'.repeat(header.length)}`, ...rows.slice(0, 1000).map(line)].join('\n');
});

server.run();
