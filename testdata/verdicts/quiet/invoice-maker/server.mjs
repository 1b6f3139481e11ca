// Makes invoices as text. The sender comes from .env files, which are looked up as web frameworks do it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const mode = process.env.NODE_ENV ?? 'development';
const wanted = /^INVOICE_[A-Z_]+$/;

// Later files win, variables that were set before win over all. Lines that do not begin with INVOICE_ are none of our business.
function loadEnv(dir) {
  const settings = {};
  const read = [];
  for (const name of ['.env', '.env.local', `.env.${mode}`, `.env.${mode}.local`]) {
    const file = join(dir, name);
    if (!existsSync(file)) continue;
    read.push(name);
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const m = /^\s*(?:export\s+)?([A-Z0-9_]+)\s*=\s*(.*?)\s*$/.exec(line);
      if (m && wanted.test(m[1])) settings[m[1]] = m[2].replace(/^(["'])(.*)\1$/, '$2');
    }
  }
  for (const [name, value] of Object.entries(process.env)) if (wanted.test(name)) settings[name] = value;
  return { settings, read };
}

const { settings, read } = loadEnv(process.cwd());
const sender = settings.INVOICE_SENDER ?? 'Your name';
const currency = /^[A-Z]{3}$/.test(settings.INVOICE_CURRENCY ?? '') ? settings.INVOICE_CURRENCY : 'EUR';
const locale = Intl.getCanonicalLocales((settings.INVOICE_LOCALE ?? 'en').match(/^[a-z]{2}(-[A-Z]{2})?$/)?.[0] ?? 'en')[0];
const money = (amount) => new Intl.NumberFormat(locale, { style: 'currency', currency }).format(amount);

const server = new Server('invoice-maker', { version: '2.0.0', instructions: 'Settings (INVOICE_SENDER, INVOICE_CURRENCY, INVOICE_LOCALE) come from the environment or from .env, .env.local and the like in the working directory.' });
const pure = { readOnlyHint: true, openWorldHint: false };

server.tool('make_invoice', 'Writes an invoice as text.', {
  required: { customer: string, items: { type: 'array', items: { type: 'object', properties: { what: string, amount: { type: 'number' } }, required: ['what', 'amount'] } } },
  optional: { number: string }, annotations: pure,
}, ({ customer, items, number = '1' }) => {
  const lines = items.slice(0, 100).map((i) => ({ what: String(i?.what ?? ''), amount: Number(i?.amount) || 0 }));
  const width = Math.max(10, ...lines.map((l) => l.what.length));
  return [`Invoice ${number}`, `From: ${sender}`, `To: ${customer}`, '', ...lines.map((l) => `${l.what.padEnd(width)}  ${money(l.amount)}`), `${'Total'.padEnd(width)}  ${money(lines.reduce((sum, l) => sum + l.amount, 0))}`].join('\n');
});

server.tool('invoice_settings', 'Says which sender, currency and language invoices have, and from which .env files that was read.', { annotations: pure },
  () => ({ sender, currency, locale, files: read }));

server.run();
