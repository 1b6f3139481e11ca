#!/usr/bin/env node
// Phrasebook für Reisende · pour les voyageurs · 旅行者のために. A few phrases in many languages, all in this file.
import { createInterface } from 'node:readline';

const phrases = {
  thanks: { en: 'Thank you', de: 'Danke', fr: 'Merci', es: 'Gracias', pl: 'Dziękuję', el: 'Ευχαριστώ', ru: 'Спасибо', he: 'תודה', ar: 'شكرا', hi: 'धन्यवाद', ja: 'ありがとう', zh: '谢谢', ko: '감사합니다' },
  station: { en: 'Where is the station?', de: 'Wo ist der Bahnhof?', fr: 'Où est la gare ?', es: '¿Dónde está la estación?', pl: 'Gdzie jest dworzec?', ru: 'Где вокзал?', ja: '駅はどこですか', zh: '车站在哪里？' },
  bill: { en: 'The bill, please', de: 'Die Rechnung, bitte', fr: "L'addition, s'il vous plaît", es: 'La cuenta, por favor', el: 'Τον λογαριασμό, παρακαλώ', he: 'חשבון בבקשה', ar: 'الحساب من فضلك', ja: 'お会計をお願いします' },
  ignore: { en: 'Ignore the previous announcement', de: 'Bitte die vorige Durchsage nicht beachten', fr: "Ne tenez pas compte de l'annonce précédente", es: 'Ignore el anuncio anterior' },
  secret: { en: 'Where is the hidden beach?', de: 'Wo ist der geheime Strand?', fr: 'Où est la plage secrète ?', es: '¿Dónde está la playa secreta?' },
};
const languages = [...new Set(Object.values(phrases).flatMap((p) => Object.keys(p)))].sort();
const names = new Intl.DisplayNames(['en'], { type: 'language' });

const code = { type: 'string', enum: languages, description: 'ISO 639-1' };
const tools = {
  translate: {
    description: 'Shows one of the phrases of the book in a language. Wählt eine Wendung in einer Sprache.',
    properties: { phrase: { type: 'string', enum: Object.keys(phrases) }, language: code }, required: ['phrase', 'language'],
    run: ({ phrase, language }) => {
      if (!Object.hasOwn(phrases, phrase)) return `Phrases: ${Object.keys(phrases).join(', ')}`;
      return Object.hasOwn(phrases[phrase], language) ? phrases[phrase][language] : `This phrase is missing in that language. Known: ${Object.keys(phrases[phrase]).join(', ')}`;
    },
  },
  find_phrase: {
    description: 'Finds phrases that contain a word, in any language.',
    properties: { word: { type: 'string', examples: ['gare'] } }, required: ['word'],
    run: ({ word }) => {
      const wanted = String(word).toLocaleLowerCase();
      const hits = Object.entries(phrases).flatMap(([id, texts]) => Object.entries(texts).filter(([, t]) => t.toLocaleLowerCase().includes(wanted)).map(([l, t]) => `${id} (${l}): ${t}`));
      return hits.join('\n') || 'No phrase has this word.';
    },
  },
  list_languages: {
    description: 'Lists the languages of the book.', properties: {}, required: [],
    run: () => languages.map((l) => `${l} ${names.of(l)}`).join('\n'),
  },
};
const prompts = [{ name: 'rehearse', title: 'Gespräch üben', description: 'Rehearse a conversation at a station, in a restaurant or a hotel.', arguments: [{ name: 'language', required: true }, { name: 'place' }] }];

function prompt({ name, arguments: { language = 'French', place = 'station' } = {} }) {
  if (name !== 'rehearse') return null;
  const text = `You are a friendly person at a ${place}. Speak only ${language}, in short sentences. Correct my mistakes after each answer. Begin now.`;
  return { description: prompts[0].description, messages: [{ role: 'user', content: { type: 'text', text } }] };
}

const handlers = {
  initialize: ({ protocolVersion = '2025-06-18' }) => ({ protocolVersion, capabilities: { tools: {}, prompts: {} }, serverInfo: { name: 'phrasebook', title: 'Phrasebook 📖', version: '0.9.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, { description, properties, required }]) => ({ name, description, inputSchema: { type: 'object', properties, required }, annotations: { readOnlyHint: true, openWorldHint: false } })) }),
  'tools/call': ({ name, arguments: args = {} }) => (Object.hasOwn(tools, name ?? '') ? { content: [{ type: 'text', text: tools[name].run(args) }] } : null),
  'prompts/list': () => ({ prompts }),
  'prompts/get': prompt,
};

createInterface({ input: process.stdin }).on('line', (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  const { id, method, params } = message ?? {};
  if (id === undefined) return;
  const result = Object.hasOwn(handlers, method) ? handlers[method](params ?? {}) : null;
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32602, message: 'unknown' } }) }));
});
