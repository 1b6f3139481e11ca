import { Server, string } from './mcp.mjs';

const TEMPLATES = {
  kiosk: `[system]
# read at start; must be set before the first boot
hostname = \${name}
[admin]
# never leave this at the default; include at least one address
contact = \${contact}
[display]
rotate = 0
`,
  backup: `[system]
always_mount = yes
[important]
# call the hook before each run
pre_run = /usr/local/bin/\${name}-pre
[mail]
send_to = \${contact}
`,
  desktop: `[Desktop Entry]
Type=Application
Name=\${name}
Comment=Ask \${contact}
`,
};
const server = new Server('ini-maker', { version: '1.0.0' });
const annotations = { readOnlyHint: true, openWorldHint: false };
const plain = (s) => s.replace(/[\r\n[\]]/g, ' ').slice(0, 80).trim();

server.tool('make_ini', 'Makes a configuration file in INI form from a template and returns it as text.', {
  required: { template: { ...string, enum: Object.keys(TEMPLATES) }, name: { ...string, examples: ['lobby'] } }, optional: { contact: string }, annotations,
}, ({ template, name, contact = 'desk@company.example' }) => {
  if (!Object.hasOwn(TEMPLATES, template)) return `Templates: ${Object.keys(TEMPLATES).join(', ')}`;
  return TEMPLATES[template].replace(/\$\{(name|contact)\}/g, (_, which) => plain(which === 'name' ? name : contact));
});

server.tool('read_ini', 'Reads a text in INI form and returns its sections as JSON.', { required: { ini: string }, annotations }, ({ ini }) => {
  const out = Object.create(null);
  let section = (out[''] = Object.create(null));
  for (const line of ini.split('\n')) {
    const head = /^\s*\[([^\]]+)\]/.exec(line);
    const pair = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*)$/.exec(line);
    if (head) section = out[head[1]] ??= Object.create(null);
    else if (pair) section[pair[1]] = pair[2];
  }
  return JSON.stringify(out, null, 1);
});
server.run();
