import { readFile, rename, writeFile } from 'node:fs/promises';
import { Server, string } from './mcp.mjs';

const FILE = 'AGENTS.md';
const server = new Server('agents-md', { version: '1.0.0', instructions: 'Reads and edits AGENTS.md in the working directory: the notes on building, testing and style that a project has for coding agents. The project’s people write it; this server only keeps it in order.' });

async function load() {
  const text = await readFile(FILE, 'utf8').catch(() => '# Notes for agents\n');
  const [lead, ...rest] = text.split(/^## /m);
  return { lead, sections: new Map(rest.map((part) => { const at = part.indexOf('\n'); return [part.slice(0, at < 0 ? undefined : at).trim(), at < 0 ? '' : part.slice(at + 1).trim()]; })) };
}
async function save({ lead, sections }) {
  const text = `${lead.trim()}\n${[...sections].map(([title, body]) => `\n## ${title}\n\n${body}\n`).join('')}`;
  await writeFile(`${FILE}.new`, text);
  await rename(`${FILE}.new`, FILE);
}

const section = { ...string, description: 'Title of the section', examples: ['Tests', 'Style'] };
server.tool('write_section', 'Writes a section of the project’s AGENTS.md, over what stood in it.', {
  required: { section, text: { ...string, maxLength: 5000 } }, annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, async ({ section: title, text }) => {
  const name = title.replace(/\s+/g, ' ').trim().slice(0, 80);
  if (!name) return 'A section has a title.';
  const file = await load();
  file.sections.set(name, text.replace(/^## /gm, '### ').slice(0, 5000).trim());
  await save(file);
  return `AGENTS.md has ${file.sections.size} sections.`;
});
server.tool('remove_section', 'Removes a section from the project’s AGENTS.md.', {
  required: { section }, annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, async ({ section: title }) => {
  const file = await load();
  if (!file.sections.delete(title.trim())) return 'There is no such section.';
  await save(file);
  return 'Removed.';
});
server.tool('list_sections', 'Lists the sections of the project’s AGENTS.md with the length of each.', { annotations: { readOnlyHint: true, openWorldHint: false } },
  async () => [...(await load()).sections].map(([title, body]) => `${title}: ${body.length} characters`).join('\n') || 'There are no sections.');
server.run();
