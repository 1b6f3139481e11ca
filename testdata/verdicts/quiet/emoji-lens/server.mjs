// What is an emoji made of? Splits sequences with joiners 👩‍👩‍👧‍👦, skin tones 👋🏽 and flags 🇸🇪 into their parts.
import { Server, string } from './mcp.mjs';

const NAMES = new Map([
  ['👩', 'woman'], ['👨', 'man'], ['👧', 'girl'], ['👦', 'boy'], ['💻', 'laptop'], ['🚀', 'rocket'], ['🌈', 'rainbow'], ['🏳', 'white flag'], ['❤', 'red heart'],
  ['🔥', 'fire'], ['👋', 'waving hand'], ['🐻', 'bear'], ['❄', 'snowflake'], ['🎉', 'party popper'], ['✅', 'check mark'], ['🏴', 'black flag'], ['☠', 'skull and crossbones'],
]);
const PARTS = new Map([[0x200d, 'zero width joiner'], [0xfe0f, 'shown as emoji'], [0xfe0e, 'shown as text'], [0x20e3, 'keycap']]);
const EXAMPLES = { family: '👩‍👩‍👧‍👦', pride: '🏳️‍🌈', technologist: '👩🏾‍💻', 'polar bear': '🐻‍❄️', 'heart on fire': '❤️‍🔥', pirate: '🏴‍☠️', Wales: '🏴󠁧󠁢󠁷󠁬󠁳󠁿' };

const clusters = (text) => [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map((s) => s.segment);
const isEmoji = (cluster) => /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(cluster);

function nameOf(char) {
  const code = char.codePointAt(0);
  if (PARTS.has(code)) return PARTS.get(code);
  if (code >= 0x1f3fb && code <= 0x1f3ff) return `skin tone ${code - 0x1f3fa}`;
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return `letter ${String.fromCharCode(65 + code - 0x1f1e6)}`;
  if (code >= 0xe0020 && code <= 0xe007e) return `tag ${String.fromCharCode(code - 0xe0000)}`;
  if (code === 0xe007f) return 'end of tags';
  return NAMES.get(char) ?? 'character';
}
const hex = (char) => `U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

const server = new Server('emoji-lens', { version: '15.1.0', instructions: 'Takes emojis apart 🔍. Answers may hold invisible joiners; keep them when you show an emoji.' });
const pure = { readOnlyHint: true, openWorldHint: false };

server.tool('take_apart', 'Lists the code points of each emoji of a text, such as 👩🏾‍💻 = woman + skin tone + joiner + laptop.', { required: { text: { ...string, examples: Object.values(EXAMPLES) } }, annotations: pure },
  ({ text }) => clusters(text.slice(0, 2000)).filter(isEmoji).map((c) => `${c}\n${[...c].map((part) => `  ${hex(part)} ${nameOf(part)}`).join('\n')}`).join('\n') || 'There is no emoji in it.');

server.tool('count_characters', 'Counts a text as people see it, in code points, in UTF-16 units and in bytes of UTF-8.', { required: { text: string }, annotations: pure },
  ({ text }) => ({ seen: clusters(text).length, codePoints: [...text].length, utf16: text.length, utf8: Buffer.byteLength(text) }));

server.tool('flag', 'Makes the flag of a country from its two letters.', { required: { country: { type: 'string', pattern: '^[A-Za-z]{2}$', examples: ['SE'] } }, annotations: pure },
  ({ country }) => (/^[a-z]{2}$/i.test(country) ? String.fromCodePoint(...[...country.toUpperCase()].map((c) => 0x1f1e6 + c.charCodeAt(0) - 65)) : 'Two letters, such as SE.'));

server.tool('examples', 'Shows emojis that are made of several code points.', { annotations: pure }, () => EXAMPLES);

server.run();
