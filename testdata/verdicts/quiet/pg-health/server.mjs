// pg-health: the questions that one asks first when PostgreSQL is slow. The queries are fixed, and
// run by psql in a read-only session.
import { execFile } from 'node:child_process';
import { Server } from './mcp.mjs';

const where = () => `${process.env.PGDATABASE || process.env.PGUSER || 'the default database'} at ${process.env.PGHOST || 'the local socket'}`;

const queries = {
  sizes: `SELECT schemaname || '.' || relname AS table, pg_size_pretty(pg_total_relation_size(relid)) AS total, pg_size_pretty(pg_indexes_size(relid)) AS indexes, n_live_tup AS rows
    FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC LIMIT :count`,
  slow: `SELECT pid, usename, state, round(extract(epoch FROM now() - query_start)) AS seconds, left(regexp_replace(query, '\\s+', ' ', 'g'), 160) AS query
    FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid() AND now() - query_start > make_interval(secs => :seconds) ORDER BY query_start LIMIT 30`,
  locks: `SELECT waiting.pid AS waiting, blocking.pid AS blocking, waiting.wait_event_type AS event, left(waiting.query, 100) AS query, left(blocking.query, 100) AS blocked_by
    FROM pg_stat_activity waiting JOIN pg_stat_activity blocking ON blocking.pid = ANY (pg_blocking_pids(waiting.pid)) LIMIT 30`,
  unused: `SELECT schemaname || '.' || relname AS table, indexrelname AS index, pg_size_pretty(pg_relation_size(i.indexrelid)) AS size
    FROM pg_stat_user_indexes s JOIN pg_index i USING (indexrelid) WHERE idx_scan = 0 AND NOT indisunique ORDER BY pg_relation_size(i.indexrelid) DESC LIMIT :count`,
  vacuum: `SELECT schemaname || '.' || relname AS table, n_dead_tup AS dead, n_live_tup AS live, coalesce(greatest(last_vacuum, last_autovacuum)::text, 'never') AS vacuumed
    FROM pg_stat_user_tables WHERE n_dead_tup > 1000 ORDER BY n_dead_tup DESC LIMIT :count`,
};

const environment = {
  ...process.env,
  PGCONNECT_TIMEOUT: process.env.PGCONNECT_TIMEOUT || '4',
  PGAPPNAME: 'pg-health',
  PGOPTIONS: '-c default_transaction_read_only=on -c statement_timeout=8000',
};

// psql puts :name in from -v, and only integers are ever given.
function psql(query, numbers = {}) {
  const variables = Object.entries(numbers).flatMap(([name, n]) => ['-v', `${name}=${Math.trunc(n)}`]);
  const args = ['--no-psqlrc', '--no-password', '--csv', '--quiet', '-v', 'ON_ERROR_STOP=1', ...variables, '--file=-'];
  return new Promise((resolve, reject) => {
    const child = execFile('psql', args, { env: environment, timeout: 15000, maxBuffer: 1 << 20 }, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') reject(new Error('psql is not installed; it comes with the postgresql-client package.'));
      else if (error) reject(new Error(`psql could not ask ${where()}: ${stderr.trim().split('\n')[0] || error.message}`));
      else resolve(stdout.trimEnd());
    });
    child.stdin.on('error', () => {}); // psql may be gone already
    child.stdin.end(`${query};\n`);
  });
}

const server = new Server('pg-health', {
  version: '1.3.0',
  instructions: `Asks PostgreSQL (${where()}) through psql, which connects as it always does: by the PG… variables, ~/.pg_service.conf and ~/.pgpass. Sessions are read-only.`,
});
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: true };
const between = (n, low, high) => Math.min(high, Math.max(low, n));
const count = { type: 'integer', minimum: 1, maximum: 100, description: 'rows, 20 unless given' };

server.tool('table_sizes', 'Lists the largest tables of the PostgreSQL database with their indexes and estimated rows.', { optional: { count }, annotations },
  async (args) => await psql(queries.sizes, { count: between(args.count ?? 20, 1, 100) }));

server.tool('long_queries', 'Lists the queries that have been running for longer than some seconds, with the start of their text.', { optional: { seconds: { type: 'integer', minimum: 0, maximum: 86400 } }, annotations },
  async ({ seconds = 5 }) => await psql(queries.slow, { seconds: between(seconds, 0, 86400) }));

server.tool('blocked_sessions', 'Shows which sessions wait for a lock and who holds it.', { annotations }, async () => {
  const found = await psql(queries.locks);
  return found.includes('\n') ? found : 'No session waits for another.';
});

server.tool('maintenance_hints', 'Lists indexes that were never used and tables with many dead rows.', { optional: { count }, annotations }, async (args) => {
  const n = { count: between(args.count ?? 20, 1, 100) };
  const [unused, vacuum] = await Promise.all([psql(queries.unused, n), psql(queries.vacuum, n)]);
  return `Indexes without a scan:\n${unused}\n\nTables with dead rows:\n${vacuum}`;
});

server.tool('explain_setup', 'Says which server and database would be asked, without connecting.', { annotations: { readOnlyHint: true, openWorldHint: false } },
  () => `psql would ask ${where()}, port ${process.env.PGPORT || 5432}, as ${process.env.PGUSER || 'the user of this session'}.`);

server.run();
