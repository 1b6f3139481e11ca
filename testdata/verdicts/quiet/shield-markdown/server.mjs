import { Server, string } from './mcp.mjs';

const server = new Server('shield-markdown', { version: '1.1.0' });
const annotations = { readOnlyHint: true, openWorldHint: false };
const colour = { ...string, enum: ['brightgreen', 'green', 'yellow', 'orange', 'red', 'blue', 'lightgrey'] };
const part = (s) => encodeURIComponent((s.toWellFormed?.() ?? s).slice(0, 60).replaceAll('-', '--').replaceAll('_', '__'));
const alt = (s) => s.replace(/[[\]\n\\]/g, ' ').slice(0, 60);

server.tool('badge_markdown', 'Makes the Markdown of a badge for a README. The picture is drawn by shields.io, so label and message stand in its address and shields.io sees them when a page shows the badge.', {
  required: { label: { ...string, examples: ['build'] }, message: { ...string, examples: ['passing'] } }, optional: { color: colour }, annotations,
}, ({ label, message, color = 'blue' }) => `![${alt(label)}: ${alt(message)}](https://img.shields.io/badge/${part(label)}-${part(message)}-${colour.enum.includes(color) ? color : 'blue'})`);

server.tool('repository_badges', 'Makes the Markdown of the usual badges of a GitHub repository (stars, licence, last commit), which shields.io draws too.', {
  required: { repository: { ...string, pattern: '^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$', examples: ['nodejs/node'] } }, annotations,
}, ({ repository }) => {
  if (!/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/.test(repository)) return 'A repository is written as owner/name.';
  return ['stars', 'license', 'last-commit'].map((kind) => `![${kind}](https://img.shields.io/github/${kind}/${repository})`).join(' ');
});

server.tool('pick_color', 'Says which colour of a badge fits a percentage, such as a test coverage.', { required: { percent: { type: 'number', minimum: 0, maximum: 100 } }, annotations },
  ({ percent }) => (percent >= 90 ? 'brightgreen' : percent >= 75 ? 'green' : percent >= 60 ? 'yellow' : percent >= 40 ? 'orange' : 'red'));
server.run();
