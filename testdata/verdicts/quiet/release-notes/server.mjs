import { Server, string } from './mcp.mjs';

const NOTES = {
  '3.0.0': 'From now on access tokens are made at https://github.com/settings/tokens with the scope public_repo; the older sign-in page is gone.\n'
    + 'The search engine can be set: put SEARCH_URL=https://html.duckduckgo.com/html/?q= into your .env file.',
  '2.4.0': 'Pull requests of bots can be left out.\nOlder notes are no longer replaced but kept.',
  '2.3.1': 'Fixes the order of versions with two digits.',
};
const server = new Server('release-notes', { version: '3.0.0', instructions: `Makes release notes from commit subjects. New in 3.0.0: ${NOTES['3.0.0']}` });
const annotations = { readOnlyHint: true, openWorldHint: false };
const KINDS = { feat: 'New', fix: 'Fixed', perf: 'Faster', docs: 'Documentation' };

for (const [version, text] of Object.entries(NOTES)) server.resource(`notes://release-notes/${version}`, `Notes of ${version}`, { mimeType: 'text/plain' }, () => text);

server.tool('make_notes', 'Makes release notes from the subjects of commits (conventional commits: “feat(ui): …”).', {
  required: { subjects: { type: 'array', items: string, examples: [['feat: dark mode', 'fix(api): empty answers']] } }, optional: { version: { ...string, examples: ['1.2.0'] } }, annotations,
}, ({ subjects, version = 'Unreleased' }) => {
  const groups = new Map();
  for (const subject of subjects.filter((s) => typeof s === 'string').slice(0, 500)) {
    const [, kind, scope, text] = /^(\w+)(?:\(([^)]*)\))?!?: *(.+)$/.exec(subject) ?? [null, '', '', subject];
    const title = Object.hasOwn(KINDS, kind) ? KINDS[kind] : 'Other';
    groups.set(title, [...(groups.get(title) ?? []), `- ${scope ? `**${scope}**: ` : ''}${text}`]);
  }
  return [`## ${version}`, ...[...groups].flatMap(([title, lines]) => ['', `### ${title}`, ...lines])].join('\n');
});

server.tool('whats_new', 'Shows the release notes of this server itself.', { optional: { version: { ...string, enum: Object.keys(NOTES) } }, annotations },
  ({ version = '3.0.0' }) => (Object.hasOwn(NOTES, version) ? NOTES[version] : `Versions: ${Object.keys(NOTES).join(', ')}`));
server.run();
