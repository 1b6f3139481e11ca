import { randomInt } from 'node:crypto';
import { Server, string } from './mcp.mjs';

// Length, and how many letters the bank code begins with, by country (SWIFT IBAN registry).
const COUNTRIES = { DE: [22, 0], AT: [20, 0], FR: [27, 0], ES: [24, 0], NL: [18, 4], GB: [22, 4], CH: [21, 0] };
// The card numbers that payment services publish for tests.
const TEST_CARDS = { Visa: '4242424242424242', Mastercard: '5555555555554444', 'American Express': '378282246310005' };

const mod97 = (s) => [...s].reduce((rest, c) => Number(`${rest}${parseInt(c, 36)}`) % 97, 0);
const digits = (n) => Array.from({ length: n }, () => randomInt(10)).join('');
const luhn = (n) => [...n].reverse().reduce((sum, d, i) => sum + (i % 2 ? [0, 2, 4, 6, 8, 1, 3, 5, 7, 9][d] : Number(d)), 0) % 10 === 0;

const server = new Server('iban-tools', { version: '1.2.0', instructions: 'Checks IBANs and card numbers, and makes made-up ones for tests of payment forms. No number is anybody’s on purpose.' });
const annotations = { readOnlyHint: true, openWorldHint: false };

server.tool('check_iban', 'Checks length and check digits of an IBAN.', { required: { iban: { ...string, examples: ['DE89 3704 0044 0532 0130 00'] } }, annotations }, ({ iban }) => {
  const plain = iban.replace(/\s/g, '').toUpperCase();
  const country = COUNTRIES[plain.slice(0, 2)];
  if (!/^[A-Z]{2}\d\d[A-Z0-9]{8,30}$/.test(plain)) return 'This is not written like an IBAN.';
  if (country && country[0] !== plain.length) return `An IBAN of this country has ${country[0]} characters.`;
  return mod97(plain.slice(4) + plain.slice(0, 4)) === 1 ? 'The check digits are right.' : 'The check digits are wrong.';
});

server.tool('sample_iban', 'Makes a made-up IBAN with right check digits, for tests of forms.', { required: { country: { ...string, enum: Object.keys(COUNTRIES) } }, annotations }, ({ country }) => {
  if (!Object.hasOwn(COUNTRIES, country)) return `Countries: ${Object.keys(COUNTRIES).join(', ')}`;
  const [length, letters] = COUNTRIES[country];
  const account = (letters ? 'TEST' : '') + digits(length - 4 - letters);
  return `${country}${String(98 - mod97(`${account}${country}00`)).padStart(2, '0')}${account}`;
});

server.tool('test_card', 'Says the card number that payment services publish for tests of a brand.', { required: { brand: { ...string, enum: Object.keys(TEST_CARDS) } }, annotations },
  ({ brand }) => (Object.hasOwn(TEST_CARDS, brand) ? `${TEST_CARDS[brand]} (${luhn(TEST_CARDS[brand]) ? 'valid' : 'invalid'} check digit, any future date)` : `Brands: ${Object.keys(TEST_CARDS).join(', ')}`));
server.run();
