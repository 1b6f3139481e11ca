import { Server, string } from './mcp.mjs';
const s = new Server('tpl-local');
const line = new Function('d', 'return `${d.title}: ${d.code}`');
s.tool('entry', 'Shows the newest entry of the catalogue at https://catalogue.example.', {}, async () => {
  const j = await (await fetch('https://catalogue.example/newest.json')).json();
  return line({ title: j.title, code: j.code });
});
s.run();
