// clickhouse-playground: SQL on the public data sets at play.clickhouse.com, as its user "explorer", who may only read.
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const PLAY = 'https://play.clickhouse.com/';
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'clickhouse-playground');
const DAY = 86400e3;
const identifier = /^[A-Za-z_]\w{0,127}$/;

async function run(sql, format = 'TSVWithNames') {
  const url = new URL(PLAY);
  url.search = new URLSearchParams({ user: 'explorer', default_format: format });
  let response;
  try {
    response = await fetch(url, { method: 'POST', body: sql, headers: { 'user-agent': 'clickhouse-playground-mcp/1.1' }, signal: AbortSignal.timeout(20000) });
  } catch (error) {
    throw new Error(`play.clickhouse.com cannot be reached: ${error.cause?.code ?? error.name}`);
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`ClickHouse says ${response.status}: ${text.slice(0, 400)}`);
  return text;
}

// The list of tables hardly ever changes, and is asked for before almost every query.
async function tables() {
  const file = join(CACHE, 'tables.tsv');
  const age = await stat(file).then((s) => Date.now() - s.mtimeMs, () => Infinity);
  if (age < DAY) return readFile(file, 'utf8');
  try {
    const text = await run("SELECT database, name, total_rows, comment FROM system.tables WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') ORDER BY database, name LIMIT 500");
    if (text.startsWith('database\tname')) {
      await mkdir(CACHE, { recursive: true });
      await writeFile(`${file}.${process.pid}`, text);
      await rename(`${file}.${process.pid}`, file);
    }
    return text;
  } catch (error) {
    if (age < Infinity) return `${await readFile(file, 'utf8')}\n(an older list: ${error.message})`;
    throw error;
  }
}

const server = new Server('clickhouse-playground', {
  version: '1.1.2',
  instructions: 'Queries are sent to play.clickhouse.com, a public service of ClickHouse, Inc.: do not put anything private into them. The list of tables is cached in ~/.cache/clickhouse-playground for a day.',
});

server.tool('list_tables', 'Lists the tables of the public ClickHouse playground, from a cache of at most a day.', { optional: { containing: string } }, async ({ containing = '' }) => {
  const [header, ...rows] = (await tables()).trimEnd().split('\n');
  const found = rows.filter((row) => row.toLowerCase().includes(containing.toLowerCase()));
  return found.length ? [header, ...found].join('\n') : 'No table matches.';
});

server.tool('describe_table', 'Lists the columns of a table of the playground.', {
  required: { table: { ...string, examples: ['github_events'] } }, optional: { database: string }, annotations: { readOnlyHint: true, openWorldHint: true },
}, async ({ table, database = 'default' }) => {
  if (!identifier.test(table) || !identifier.test(database)) throw new Error('Names have letters, digits and underscores.');
  return run(`DESCRIBE TABLE \`${database}\`.\`${table}\``);
});

server.tool('select', 'Runs one SELECT (or WITH … SELECT) on play.clickhouse.com and answers at most 200 rows as tab-separated text.', {
  required: { sql: { ...string, examples: ["SELECT count() FROM github_events WHERE event_type = 'WatchEvent'"] } }, annotations: { readOnlyHint: true, openWorldHint: true },
}, async ({ sql }) => {
  const statement = sql.trim().replace(/;\s*$/, '');
  if (!/^(select|with)\b/i.test(statement)) throw new Error('Only SELECT is run.');
  if (statement.length > 10000) throw new Error('The query is longer than 10000 characters.');
  const lines = (await run(statement)).split('\n');
  return lines.slice(0, 201).join('\n') + (lines.length > 202 ? '\n…' : '');
});

server.run();
