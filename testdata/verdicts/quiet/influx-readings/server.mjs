#!/usr/bin/env node
// influx-readings: sensor readings in an InfluxDB 2 bucket.
// INFLUX_URL, INFLUX_ORG, INFLUX_BUCKET and INFLUX_TOKEN say where. Readings are collected and written every five seconds.
import { createInterface } from 'node:readline';

const { INFLUX_URL = 'http://127.0.0.1:8086', INFLUX_ORG = '', INFLUX_BUCKET = 'sensors', INFLUX_TOKEN = '' } = process.env;
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const RANGE = /^[1-9]\d{0,3}[mhdw]$/;
const FLUSH_MS = 5000;
const MOST = 5000;
let waiting = [];
let lastError = '';

async function influx(path, body, type) {
  const url = new URL(path, INFLUX_URL);
  url.searchParams.set('org', INFLUX_ORG);
  const response = await fetch(url, {
    method: 'POST', body, redirect: 'error', signal: AbortSignal.timeout(8000),
    headers: { Authorization: `Token ${INFLUX_TOKEN}`, 'Content-Type': type, Accept: 'application/csv' },
  }).catch((error) => { throw new Error(`${url.host} is not reachable: ${error.cause?.code ?? error.message}`); });
  const text = await response.text();
  if (!response.ok) throw Object.assign(new Error(`InfluxDB answered ${response.status}: ${text.slice(0, 200)}`), { status: response.status });
  return text;
}

async function flush() {
  if (!waiting.length) return 0;
  const batch = waiting;
  waiting = [];
  try {
    await influx(`/api/v2/write?bucket=${encodeURIComponent(INFLUX_BUCKET)}&precision=ms`, batch.join('\n'), 'text/plain; charset=utf-8');
    lastError = '';
    return batch.length;
  } catch (error) {
    lastError = error.message;
    if (!(error.status >= 400 && error.status < 500)) waiting = [...batch, ...waiting].slice(-MOST); // another try with the next batch
    throw error;
  }
}

const named = (value, what) => { if (typeof value !== 'string' || !NAME.test(value)) throw new Error(`${what} is a letter and up to 63 letters, digits, _, . or -`); return value; };

const tools = {
  record: {
    description: `Records a reading of a sensor. Readings are written to the InfluxDB bucket ${INFLUX_BUCKET} at ${INFLUX_URL} every five seconds, or at once with flush.`,
    inputSchema: {
      type: 'object', required: ['measurement', 'sensor', 'value'],
      properties: { measurement: { type: 'string', examples: ['temperature'] }, sensor: { type: 'string', examples: ['kitchen'] }, value: { type: 'number' } },
    },
    annotations: { readOnlyHint: false, destructiveHint: false },
    run({ measurement, sensor, value }) {
      if (typeof value !== 'number' || !Number.isFinite(value)) throw new Error('value is a number');
      if (waiting.length >= MOST) throw new Error(`${MOST} readings wait already: ${lastError}`);
      waiting.push(`${named(measurement, 'measurement')},sensor=${named(sensor, 'sensor')} value=${value} ${Date.now()}`);
      return `${waiting.length} waiting${lastError ? `; the last write failed: ${lastError}` : ''}`;
    },
  },
  flush: {
    description: 'Writes the readings that wait to InfluxDB now.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: false, destructiveHint: false },
    run: async () => `${await flush()} readings written.`,
  },
  history: {
    description: `Reads the means of a sensor's readings from the InfluxDB bucket ${INFLUX_BUCKET}, in windows over the last hours or days.`,
    inputSchema: {
      type: 'object', required: ['measurement', 'sensor'],
      properties: { measurement: { type: 'string' }, sensor: { type: 'string' }, last: { type: 'string', pattern: RANGE.source, default: '24h' }, window: { type: 'string', pattern: RANGE.source, default: '1h' } },
    },
    annotations: { readOnlyHint: true },
    async run({ measurement, sensor, last = '24h', window = '1h' }) {
      if (!RANGE.test(last) || !RANGE.test(window)) throw new Error('last and window are a number and m, h, d or w');
      const flux = `from(bucket: ${JSON.stringify(INFLUX_BUCKET)}) |> range(start: -${last}) |> filter(fn: (r) => r._measurement == "${named(measurement, 'measurement')}" and r.sensor == "${named(sensor, 'sensor')}" and r._field == "value") |> aggregateWindow(every: ${window}, fn: mean, createEmpty: false) |> keep(columns: ["_time", "_value"]) |> limit(n: 1000)`;
      const rows = (await influx('/api/v2/query', flux, 'application/vnd.flux')).split(/\r?\n/).map((l) => l.split(',')).filter((r) => r.length > 3);
      const head = rows[0] ?? [];
      const [time, value] = [head.indexOf('_time'), head.indexOf('_value')];
      if (time < 0 || value < 0) return 'No readings.';
      return rows.slice(1).map((r) => `${r[time]}  ${Number(r[value]).toFixed(2)}`).join('\n');
    },
  },
};

const timer = setInterval(() => { flush().catch(() => {}); }, FLUSH_MS);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function answer({ id, method, params = {} }) {
  if (method === 'initialize') return send({ id, result: { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'influx-readings', version: '0.9.1' } } });
  if (method === 'ping') return send({ id, result: {} });
  if (method === 'tools/list') return send({ id, result: { tools: Object.entries(tools).map(([name, { run, ...rest }]) => ({ name, ...rest })) } });
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: 'method not found' } });
  if (!Object.hasOwn(tools, params.name)) return send({ id, error: { code: -32602, message: 'there is no such tool' } });
  try {
    const text = await tools[params.name].run(params.arguments ?? {});
    return send({ id, result: { content: [{ type: 'text', text }] } });
  } catch (error) {
    return send({ id, result: { isError: true, content: [{ type: 'text', text: error.message }] } });
  }
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message?.id !== undefined && message.method) answer({ ...message, params: message.params ?? {} });
});
lines.on('close', async () => { clearInterval(timer); await flush().catch((error) => console.error(error.message)); });
