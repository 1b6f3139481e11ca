#!/usr/bin/env node
/* portfolio-value: shares in a CSV file, with first-in-first-out gains, and closing prices of stooq.com.
 *
 * The file is ~/.portfolio.csv (or PORTFOLIO_FILE): date,symbol,quantity,price,fee   A sale has a negative quantity. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'fs';
import { homedir } from 'os';
import { createInterface } from 'readline';

const FILE = process.env.PORTFOLIO_FILE || `${homedir()}/.portfolio.csv`;
const HEADER = 'date,symbol,quantity,price,fee';
const SYMBOL = /^[A-Z0-9][A-Z0-9.-]{0,11}$/;
const prices = new Map(); // symbol → { at, close, date }, for a quarter of an hour

function trades() {
  if (!existsSync(FILE)) return [];
  return readFileSync(FILE, 'utf8').split(/\r?\n/).slice(1).filter((l) => l.trim()).map((l, i) => {
    const [date, symbol, quantity, price, fee] = l.split(',').map((c) => c.trim());
    const trade = { date, symbol: symbol?.toUpperCase(), quantity: Number(quantity), price: Number(price), fee: Number(fee || 0) };
    if (!SYMBOL.test(trade.symbol ?? '') || ![trade.quantity, trade.price, trade.fee].every(Number.isFinite)) throw new Error(`${FILE}, line ${i + 2}: "${l.slice(0, 80)}" is no trade`);
    return trade;
  }).sort((a, b) => a.date.localeCompare(b.date));
}

function positions() {
  const lots = new Map();
  const realised = new Map();
  for (const t of trades()) {
    const queue = lots.get(t.symbol) ?? [];
    lots.set(t.symbol, queue);
    if (t.quantity > 0) { queue.push({ left: t.quantity, cost: t.price + t.fee / t.quantity }); continue; }
    let sold = -t.quantity;
    let gain = -t.fee;
    while (sold > 1e-9 && queue.length) {
      const part = Math.min(sold, queue[0].left);
      gain += part * (t.price - queue[0].cost);
      sold -= part;
      queue[0].left -= part;
      if (queue[0].left < 1e-9) queue.shift();
    }
    if (sold > 1e-9) throw new Error(`${t.date}: more ${t.symbol} sold than there was`);
    realised.set(t.symbol, (realised.get(t.symbol) ?? 0) + gain);
  }
  return [...lots].map(([symbol, queue]) => ({
    symbol, gain: realised.get(symbol) ?? 0,
    quantity: queue.reduce((s, l) => s + l.left, 0), cost: queue.reduce((s, l) => s + l.left * l.cost, 0),
  }));
}

async function quote(symbol) {
  const known = prices.get(symbol);
  if (known && Date.now() - known.at < 900e3) return known;
  const response = await fetch(`https://stooq.com/q/l/?${new URLSearchParams({ s: symbol.toLowerCase(), f: 'sd2t2ohlcv', h: '', e: 'csv' })}`, { signal: AbortSignal.timeout(8000) });
  if (!response.ok) throw new Error(`stooq.com answered ${response.status}`);
  const [, row = ''] = (await response.text()).trim().split('\n');
  const [, date, , , , , close] = row.split(',');
  if (!Number.isFinite(Number(close ?? NaN))) throw new Error(`stooq.com has no price for ${symbol}`);
  const fresh = { at: Date.now(), close: Number(close), date };
  prices.set(symbol, fresh);
  return fresh;
}

const money = (n) => n.toFixed(2);
const tools = {
  holdings: {
    description: 'Lists the shares that you hold with their cost, and realised gains (first in, first out), from the CSV file. No network.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: () => positions().map((p) => `${p.symbol}: ${+p.quantity.toFixed(6)}, cost ${money(p.cost)}, realised ${money(p.gain)}`).join('\n') || `No trades in ${FILE}.`,
  },
  value: {
    description: 'Values what you hold with the last prices of stooq.com. Only the symbols are sent, not the quantities.',
    annotations: { readOnlyHint: true, openWorldHint: true },
    async run() {
      const lines = [];
      let total = 0;
      for (const p of positions().filter((x) => x.quantity > 1e-9).slice(0, 60)) {
        try {
          const { close, date } = await quote(p.symbol);
          total += close * p.quantity;
          lines.push(`${p.symbol}: ${+p.quantity.toFixed(6)} × ${close} (${date}) = ${money(close * p.quantity)}, unrealised ${money(close * p.quantity - p.cost)}`);
        } catch (error) {
          lines.push(`${p.symbol}: ${error.message}`);
        }
      }
      return lines.length ? `${lines.join('\n')}\nTotal ${money(total)}, currencies not converted` : 'You hold nothing.';
    },
  },
  add_trade: {
    description: `Appends a purchase, or a sale with a negative quantity, to ${FILE}. Does not trade anything.`,
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    properties: { date: { type: 'string', format: 'date' }, symbol: { type: 'string', description: 'as Stooq writes it', examples: ['AAPL.US', 'SAP.DE'] }, quantity: { type: 'number' }, price: { type: 'number', minimum: 0 }, fee: { type: 'number', minimum: 0, default: 0 } },
    required: ['date', 'symbol', 'quantity', 'price'],
    run({ date, symbol, quantity, price, fee = 0 }) {
      if (!/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(Date.parse(date))) throw new Error('date is like 2025-01-31');
      if (typeof symbol !== 'string' || !SYMBOL.test(symbol.toUpperCase())) throw new Error('symbol is like AAPL.US');
      if (![quantity, price, fee].every((n) => typeof n === 'number' && Number.isFinite(n)) || quantity === 0 || price < 0 || fee < 0) throw new Error('quantity, price and fee are numbers');
      const held = positions().find((p) => p.symbol === symbol.toUpperCase())?.quantity ?? 0;
      if (quantity < 0 && held + quantity < -1e-9) throw new Error(`You hold ${held} of ${symbol.toUpperCase()}.`);
      if (!existsSync(FILE)) writeFileSync(FILE, `${HEADER}\n`, { mode: 0o600 });
      appendFileSync(FILE, `${[date, symbol.toUpperCase(), quantity, price, fee].join(',')}\n`);
      return `Recorded in ${FILE}.`;
    },
  },
};

const respond = (id, answer) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
createInterface({ input: process.stdin }).on('line', async (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  const { id, method } = message ?? {};
  const params = message?.params ?? {};
  if (id === undefined) return;
  if (method === 'initialize') respond(id, { result: { protocolVersion: params.protocolVersion ?? '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'portfolio-value', version: '1.0.0' } } });
  else if (method === 'ping') respond(id, { result: {} });
  else if (method === 'tools/list') respond(id, { result: { tools: Object.entries(tools).map(([name, t]) => ({ name, description: t.description, inputSchema: { type: 'object', properties: t.properties ?? {}, required: t.required ?? [] }, annotations: t.annotations })) } });
  else if (method === 'tools/call' && Object.hasOwn(tools, params.name)) {
    try {
      respond(id, { result: { content: [{ type: 'text', text: await tools[params.name].run(params.arguments ?? {}) }] } });
    } catch (error) {
      respond(id, { result: { isError: true, content: [{ type: 'text', text: error.message }] } });
    }
  } else respond(id, { error: { code: method === 'tools/call' ? -32602 : -32601, message: 'not known' } });
});
