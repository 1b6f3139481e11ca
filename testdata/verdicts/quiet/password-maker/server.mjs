// Makes passwords, passphrases and keys from the system's random numbers, and estimates how good one is.
import { randomBytes, randomInt } from 'node:crypto';
import { Server, string } from './mcp.mjs';

const WORDS = ('acid acorn alarm apple arrow atlas badge bagel banjo basil beach berry bison blaze bloom brick brook cabin cactus camel candle canoe cargo '
  + 'cedar chalk cherry cider clock cloud clover cobra comet coral crane crown daisy delta denim diary dolphin donut dragon dune eagle ember falcon feather '
  + 'fern ferry flame flute forest fossil frost galaxy garlic ginger glacier globe grape gravel hammer harbor hazel hedge helmet heron honey igloo indigo '
  + 'island ivory jacket jaguar jasmine jungle kayak kettle kiwi ladder lagoon lantern laurel lemon lilac linen lizard lotus magnet mango maple marble meadow '
  + 'melon mint mirror mosaic nectar noodle oasis ocean olive onion opal orbit orchid otter oyster paddle panda paper pebble pepper piano pillow planet plum '
  + 'pollen poppy prism quartz rabbit radar raven ribbon river robin rocket saddle saffron salmon sandal shadow silver sparrow spiral sugar summit sunset swan '
  + 'tango teapot thistle tiger timber tulip tunnel turtle valley velvet violin walnut willow winter yarrow zebra').split(' ');
const SETS = { lower: 'abcdefghijkmnpqrstuvwxyz', upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ', digits: '23456789', symbols: '!#%+:=?@_-' };

const pick = (list) => list[randomInt(list.length)];
const clamp = (n, low, high) => Math.min(Math.max(n, low), high);
const server = new Server('password-maker', { version: '3.1.0', instructions: 'What is made is not stored anywhere. Tell the user to put it into a password manager.' });
const pure = { readOnlyHint: true, openWorldHint: false };

server.tool('make_password', 'Makes a random password. It is returned and not stored.', {
  optional: { length: { type: 'integer', minimum: 8, maximum: 128 }, symbols: { type: 'boolean' } }, annotations: pure,
}, ({ length = 20, symbols = true }) => {
  const sets = [SETS.lower, SETS.upper, SETS.digits, ...(symbols ? [SETS.symbols] : [])];
  const chars = sets.map(pick);
  while (chars.length < clamp(length, 8, 128)) chars.push(pick(sets.join('')));
  for (let i = chars.length - 1; i > 0; i--) { const j = randomInt(i + 1); [chars[i], chars[j]] = [chars[j], chars[i]]; }
  return chars.join('');
});

server.tool('make_passphrase', 'Makes a passphrase of random words. It is returned and not stored.', {
  optional: { words: { type: 'integer', minimum: 3, maximum: 12 }, separator: { type: 'string', maxLength: 3 } }, annotations: pure,
}, ({ words = 6, separator = '-' }) => Array.from({ length: clamp(words, 3, 12) }, () => pick(WORDS)).join(separator.slice(0, 3)));

server.tool('make_api_key', 'Makes a random key as services give them out: a prefix and 40 hexadecimal digits. It is returned and not stored.', {
  optional: { prefix: { type: 'string', pattern: '^[a-z]{0,8}$' } }, annotations: pure,
}, ({ prefix = 'key' }) => `${/^[a-z]{1,8}$/.test(prefix) ? `${prefix}_` : ''}${randomBytes(20).toString('hex')}`);

server.tool('rate_password', 'Estimates how long a password would withstand guessing. It is not stored or sent anywhere.', { required: { password: string }, annotations: pure },
  ({ password }) => {
    const pool = [[/[a-z]/, 26], [/[A-Z]/, 26], [/\d/, 10], [/[^A-Za-z0-9]/, 30]].reduce((sum, [what, n]) => sum + (what.test(password) ? n : 0), 0);
    const bits = new Set(password).size < 4 ? 5 : password.length * Math.log2(pool || 1);
    return `${Math.round(bits)} bits: ${bits < 40 ? 'weak' : bits < 70 ? 'fair' : 'strong'}`;
  });

server.run();
