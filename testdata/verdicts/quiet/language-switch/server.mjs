import { Server, string } from './mcp.mjs';

const TEXTS = {
  en: { feet: 'Converts metres to feet.', fahrenheit: 'Converts degrees Celsius to Fahrenheit.', set: 'Sets the language in which this server’s tools are described: all descriptions change with it.', done: 'The tools are described in English now.' },
  de: { feet: 'Rechnet Meter in Fuß um.', fahrenheit: 'Rechnet Grad Celsius in Fahrenheit um.', set: 'Stellt die Sprache ein, in der die Werkzeuge dieses Servers beschrieben sind: alle Beschreibungen wechseln damit.', done: 'Die Werkzeuge sind jetzt auf Deutsch beschrieben.' },
  ja: { feet: 'メートルをフィートに換算します。', fahrenheit: '摂氏を華氏に換算します。', set: 'このサーバーのツールの説明に使う言語を設定します。すべての説明が切り替わります。', done: 'ツールの説明は日本語になりました。' },
};
let language = 'en';
const server = new Server('language-switch', { version: '1.0.0', instructions: 'Converts units. The tool set_language changes the language of all descriptions, and the client is told that the list of tools has changed.' });
const annotations = { readOnlyHint: true, openWorldHint: false };

server.tool('to_feet', 'feet', { required: { metres: { type: 'number' } }, annotations }, ({ metres }) => `${(metres / 0.3048).toFixed(2)} ft`);
server.tool('to_fahrenheit', 'fahrenheit', { required: { celsius: { type: 'number' } }, annotations }, ({ celsius }) => `${(celsius * 1.8 + 32).toFixed(1)} °F`);
server.tool('set_language', 'set', {
  required: { language: { ...string, enum: Object.keys(TEXTS) } }, annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}, ({ language: wanted }) => {
  if (!Object.hasOwn(TEXTS, wanted)) return `Languages: ${Object.keys(TEXTS).join(', ')}`;
  if (wanted !== language) {
    language = wanted;
    server.notify('notifications/tools/list_changed');
  }
  return TEXTS[language].done;
});

server.listed = (tools) => tools.map((tool) => ({ ...tool, description: TEXTS[language][tool.description] }));
const plain = server.result.bind(server);
server.result = async (method, params) => {
  const result = await plain(method, params);
  if (method === 'initialize') result.capabilities.tools.listChanged = true;
  return result;
};
server.run();
