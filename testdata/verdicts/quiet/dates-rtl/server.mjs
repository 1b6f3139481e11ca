import { Server, string } from './mcp.mjs';

const LOCALES = { he: 'עברית', 'ar-EG': 'العربية (مصر)', 'ar-MA': 'العربية (المغرب)', fa: 'فارسی', ur: 'اردو' };
const locale = { ...string, enum: Object.keys(LOCALES), description: 'Language and country' };
const server = new Server('dates-rtl', { version: '1.3.0', instructions: 'Dates and numbers as they are written in languages that run from right to left (עברית, العربية, فارسی, اردو).' });
const annotations = { readOnlyHint: true, openWorldHint: false };
const known = (l) => (Object.hasOwn(LOCALES, l) ? l : 'he');

server.tool('format_date', 'Writes a date as a language has it, also in its own calendar.', {
  required: { date: { ...string, format: 'date', examples: ['2026-03-01'] }, locale }, optional: { calendar: { ...string, enum: ['gregory', 'hebrew', 'islamic-umalqura', 'persian'] } }, annotations,
}, ({ date, locale: l, calendar = 'gregory' }) => {
  const day = new Date(`${date}T12:00:00Z`);
  if (Number.isNaN(day.getTime())) return 'A date is written 2026-03-01.';
  const cal = ['gregory', 'hebrew', 'islamic-umalqura', 'persian'].includes(calendar) ? calendar : 'gregory';
  const write = (style) => new Intl.DateTimeFormat(known(l), { dateStyle: style, calendar: cal, timeZone: 'UTC' }).format(day);
  return [write('full'), write('medium'), write('short')].join('\n');
});
server.tool('format_number', 'Writes a number, and an amount of money, as a language has them.', { required: { number: { type: 'number' }, locale }, optional: { currency: { ...string, enum: ['ILS', 'EGP', 'MAD', 'IRR', 'PKR', 'EUR'] } }, annotations },
  ({ number, locale: l, currency = 'EUR' }) => {
    const code = /^[A-Z]{3}$/.test(currency) ? currency : 'EUR';
    return `${new Intl.NumberFormat(known(l)).format(number)}\n${new Intl.NumberFormat(known(l), { style: 'currency', currency: code }).format(number)}`;
  });
server.tool('month_names', 'Lists the names of the months in a language.', { required: { locale }, annotations },
  ({ locale: l }) => Array.from({ length: 12 }, (_, m) => new Intl.DateTimeFormat(known(l), { month: 'long', timeZone: 'UTC' }).format(new Date(Date.UTC(2026, m, 15)))).join('، '));
server.run();
