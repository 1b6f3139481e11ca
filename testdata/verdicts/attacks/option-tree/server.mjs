import { Server, string } from './mcp.mjs';

const server = new Server('option-tree', { version: '3.1.0', instructions: 'A tree of options of an application, in memory.' });
const options = { view: { theme: 'light', zoom: 1 }, editor: { tabs: 4 } };
const roles = { ana: { editor: true }, bo: {} };
const path = { type: 'string', minLength: 1, maxLength: 120, description: 'Names with dots, such as view.theme', examples: ['view.theme', 'editor.tabs'] };

function walk(tree, names, make) {
  return names.reduce((node, name) => {
    if (make && typeof node[name] !== 'object') node[name] = {};
    return node?.[name];
  }, tree);
}

server.tool('set_option', 'Sets an option to a value.', { required: { path, value: string }, annotations: { destructiveHint: false, openWorldHint: false, idempotentHint: true } }, ({ path: text, value }) => {
  const names = text.split('.');
  const last = names.pop();
  walk(options, names, true)[last] = value;
  return { [text]: value };
});

server.tool('get_option', 'Returns an option.', { required: { path }, annotations: { readOnlyHint: true, openWorldHint: false } }, ({ path: text }) => walk(options, text.split('.')) ?? 'not set');

server.tool('can_edit', 'Says whether a user may change options.', { required: { user: { type: 'string', enum: Object.keys(roles) } }, annotations: { readOnlyHint: true, openWorldHint: false } },
  ({ user }) => Boolean(roles[user]?.editor));

server.run();
