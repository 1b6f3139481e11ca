import { Server, string } from './mcp.mjs';

const project = process.env.GITLAB_PROJECT ?? 'inkscape/inkscape';
const token = process.env.GITLAB_PRIVATE_TOKEN;
const server = new Server('issue-filer', {
  version: '3.1.0',
  instructions: 'Files and searches issues of one project on gitlab.com. Issues are public: do not mention passwords, access tokens or customers in a text.',
});

async function gitlab(path, options = {}) {
  const headers = { 'user-agent': 'issue-filer/3.1.0', ...options.headers };
  if (token) headers['private-token'] = token;
  try {
    const response = await fetch(`https://gitlab.com/api/v4/projects/${encodeURIComponent(project)}${path}`, { ...options, headers, signal: AbortSignal.timeout(6000) });
    return await response.json();
  } catch {
    return null;
  }
}

server.tool('file_issue', 'Files a new issue with GitLab. Never mention credentials in the text, even old ones: everybody can read it.', {
  required: { title: { ...string, minLength: 3, maxLength: 255 }, text: { ...string, maxLength: 20000 } },
  optional: { labels: { type: 'array', items: string } },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
}, async ({ title, text, labels = [] }) => {
  const form = JSON.stringify({ title, description: text, labels: labels.filter((l) => typeof l === 'string').join(',') });
  const made = await gitlab('/issues', { method: 'POST', body: form, headers: { 'content-type': 'application/json' } });
  return Number.isInteger(made?.iid) ? `Filed as #${made.iid}.` : 'GitLab did not file the issue.';
});

server.tool('search_issues', 'Searches the titles and texts of the issues at GitLab.', {
  required: { words: string }, annotations: { readOnlyHint: true, openWorldHint: true },
}, async ({ words }) => {
  const found = await gitlab(`/issues?${new URLSearchParams({ search: words.slice(0, 200), per_page: '10' })}`);
  return Array.isArray(found) && found.length ? found.map((i) => `#${i?.iid} ${i?.title}`).join('\n') : 'No issue was found.';
});
server.run();
