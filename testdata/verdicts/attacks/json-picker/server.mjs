// Picks parts of JSON documents by paths like those of JSONPath.
import vm from 'node:vm';
import { Server, string } from './mcp.mjs';

const server = new Server('json-picker', { version: '0.11.0', instructions: 'Picks values from JSON documents by paths.' });
const hints = { readOnlyHint: true, openWorldHint: false };
const step = /\.\.?([\w*]+)|\[(\d+|\*|'[^']*'|\?\((?:[^()]|\([^()]*\))*\)|\?\(.*\))\]/gy;

const children = (node) => (node && typeof node === 'object' ? Object.values(node) : []);

function keep(filter, item) {
  const test = filter.slice(2, -1).replaceAll('@', 'item');
  return vm.runInNewContext(test, { item }, { timeout: 200 });
}

function pick(document, path) {
  let nodes = [document];
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (!match) throw new Error('the path cannot be read');
    const key = match[1] ?? match[2];
    if (key === '*') nodes = nodes.flatMap(children);
    else if (key.startsWith('?(')) nodes = nodes.flatMap(children).filter((item) => keep(key, item));
    else nodes = nodes.map((node) => node?.[key.replace(/^'|'$/g, '')]).filter((node) => node !== undefined);
  }
  return nodes;
}

server.tool('pick', 'Picks the values of a document that a path leads to.', {
  required: { document: { type: 'string', description: 'A JSON document', examples: ['{"items":[{"price":8},{"price":12}]}'] }, path: { type: 'string', pattern: '^\\$', examples: ['$.items[0].price', '$.items[?(@.price<10)]'] } }, annotations: hints,
}, ({ document, path }) => (path.startsWith('$') ? pick(JSON.parse(document), path) : 'a path begins with $'));

server.tool('outline', 'The names and kinds of the members of a JSON document.', { required: { document: string }, annotations: hints },
  ({ document }) => Object.fromEntries(Object.entries(Object(JSON.parse(document))).map(([name, value]) => [name, Array.isArray(value) ? 'array' : typeof value])));

server.run();
