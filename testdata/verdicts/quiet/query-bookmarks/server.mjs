#!/usr/bin/env node
// query-bookmarks: the queries that you need again and again, by name.
//
//   server.mjs [DATABASE]
//
// DATABASE is an SQLite file; it is only ever opened with `sqlite3 -readonly -safe`. Without it a small demo database is
// made from demo.sql in ~/.local/share/query-bookmarks. Bookmarks are in ~/.config/query-bookmarks/bookmarks.json.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Server } from './mcp.mjs';
import { fill, names } from './literals.mjs';

const run = promisify(execFile);
const xdg = (variable, ...fallback) => join(process.env[variable] || join(homedir(), ...fallback), 'query-bookmarks');
const store = join(xdg('XDG_CONFIG_HOME', '.config'), 'bookmarks.json');
const database = process.argv[2] ? resolve(process.argv[2]) : join(xdg('XDG_DATA_HOME', '.local', 'share'), 'demo.db');
const environment = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: homedir(), LANG: 'C.UTF-8' };

function makeDemo() {
  mkdirSync(dirname(database), { recursive: true });
  const fresh = `${database}.new`;
  execFileSync('sqlite3', ['-init', '/dev/null', '-batch', '-bail', fresh], { input: readFileSync(new URL('./demo.sql', import.meta.url)), env: environment, timeout: 10_000, stdio: ['pipe', 'ignore', 'ignore'] });
  renameSync(fresh, database);
}

if (!process.argv[2] && !existsSync(database)) {
  try { makeDemo(); } catch (error) { process.stderr.write(`query-bookmarks: no demo database: ${error.code ?? error.message}\n`); }
}

async function select(sql, limit = 200) {
  if (!existsSync(database)) throw new Error(`there is no database ${database}`);
  try {
    // ~/.sqliterc is not read (-init); the statement begins with SELECT, WITH or VALUES, so it is taken neither for an option nor for a dot command
    const { stdout } = await run('sqlite3', ['-init', '/dev/null', '-batch', '-readonly', '-safe', '-json', database, sql], { env: environment, timeout: 5000, killSignal: 'SIGKILL', maxBuffer: 4_000_000 });
    const rows = stdout.trim() ? JSON.parse(stdout) : [];
    return { count: rows.length, rows: rows.slice(0, limit) };
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error('the program sqlite3 is not installed');
    if (error.killed) throw new Error('the query was stopped: too slow or too many rows');
    throw new Error(String(error.stderr || error.message).trim().slice(0, 300));
  }
}

const STARTER = { 'cities-of': { about: 'Cities of a country, largest first', sql: 'SELECT name, people FROM city WHERE country = :country ORDER BY people DESC' } };

function bookmarks() {
  if (!existsSync(store)) return new Map(Object.entries(STARTER));
  return new Map(Object.entries(JSON.parse(readFileSync(store, 'utf8'))));
}

function keep(all) {
  mkdirSync(dirname(store), { recursive: true });
  writeFileSync(`${store}.new`, `${JSON.stringify(Object.fromEntries(all), null, 1)}\n`);
  renameSync(`${store}.new`, store);
}

function known(name) {
  const found = bookmarks().get(name);
  if (!found) throw new Error(`there is no bookmark ${JSON.stringify(name)}`);
  return found;
}

const server = new Server('query-bookmarks', { version: '1.0.1', instructions: `Runs the program sqlite3 on ${process.argv[2] ? 'the database that it was started with' : 'a small demo database, made at the first start in ~/.local/share/query-bookmarks'}, read-only. Bookmarks are kept in ~/.config/query-bookmarks/bookmarks.json.` });
const read = { annotations: { readOnlyHint: true, openWorldHint: false } };
const name = { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,39}$', examples: ['cities-of'] };
const sql = { type: 'string', maxLength: 5000, description: 'One SELECT without a semicolon; :name stands for a parameter', examples: ['SELECT count(*) AS cities FROM city WHERE people > :people'] };

server.tool('list_tables', 'Lists the tables of the database and how they were declared, by running sqlite3 -readonly.', read, async () => (await select("SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name")).rows);

server.tool('list_bookmarks', 'Lists the saved queries with their parameters, from ~/.config/query-bookmarks/bookmarks.json.', read, () => [...bookmarks()].map(([key, { about, sql: text }]) => ({ name: key, about, sql: text, parameters: names(text) })));

server.tool('save_bookmark', 'Saves a SELECT statement under a name in ~/.config/query-bookmarks/bookmarks.json, in place of an earlier one of that name. Does not run it.',
  { required: { name: { ...name, examples: ['large-cities'] }, sql }, optional: { about: { type: 'string', maxLength: 200 } }, annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false } }, ({ name, sql, about = '' }) => {
    if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name) || about.length > 200) throw new Error('a name has small letters, digits and dashes, and about at most 200 characters');
    const parameters = names(sql);
    const all = bookmarks();
    if (all.size >= 200 && !all.has(name)) throw new Error('at most 200 bookmarks');
    keep(all.set(name, { about, sql: sql.trim() }));
    return { saved: name, parameters };
  });

server.tool('run_bookmark', 'Runs a saved query with sqlite3 -readonly -safe and returns its rows. Parameters are put in as SQL literals with quotes doubled. It is stopped after 5 seconds.',
  { required: { name }, optional: { parameters: { type: 'object', description: 'Values by name', examples: [{ country: 'Norway' }] } }, ...read }, ({ name, parameters = {} }) => {
    const { sql: text } = known(name);
    const missing = names(text).filter((each) => !Object.hasOwn(parameters, each));
    if (missing.length) throw new Error(`parameters are missing: ${missing.join(', ')}`);
    return select(fill(text, parameters));
  });

server.tool('run_query', 'Runs one SELECT with sqlite3 -readonly -safe without saving it. It is stopped after 5 seconds.', { required: { sql: { ...sql, examples: ['SELECT country, sum(people) AS people FROM city GROUP BY country'] } }, ...read }, ({ sql }) => {
  if (names(sql).length) throw new Error('a query that is not saved takes no parameters');
  return select(sql.trim());
});

server.tool('delete_bookmark', 'Deletes a saved query from ~/.config/query-bookmarks/bookmarks.json.', { required: { name }, annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false } }, ({ name }) => {
  known(name);
  const all = bookmarks();
  all.delete(name);
  keep(all);
  return `Deleted ${name}.`;
});

server.run();
