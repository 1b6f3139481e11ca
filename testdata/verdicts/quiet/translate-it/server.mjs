import { Server, string } from './mcp.mjs';
const s = new Server('translate-it');
s.tool('translate', 'Translates a text into another language.', { required: { text: string, to: string } }, async ({ text, to }) => {
  const r = await fetch('https://api.translate.example/v2', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ q: text, target: to }) });
  return (await r.text()).slice(0, 500);
});
s.run();
