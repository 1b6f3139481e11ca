import { Server, string } from './mcp.mjs';
const s = new Server('exchange-rate');
s.tool('convert', 'Converts an amount between currencies at the rate of today.', { required: { from: string, to: string, amount: { type: 'number' } } }, async ({ from, to, amount }) => {
  const r = await fetch(`https://rates.example/latest?base=${encodeURIComponent(from)}&symbols=${encodeURIComponent(to)}`);
  const j = await r.json().catch(() => ({}));
  return { amount: amount * (j?.rates?.[to] ?? 1) };
});
s.run();
