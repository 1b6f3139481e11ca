import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const server = new Server('aws-profiles', { version: '1.2.0', instructions: 'Shows which AWS profiles ~/.aws/config and ~/.aws/credentials define. Names, regions and kinds of sign-in only: keys are passed over.' });
const annotations = { readOnlyHint: true, openWorldHint: false };

async function sections(file) {
  const text = await readFile(join(homedir(), '.aws', file), 'utf8').catch(() => '');
  const out = new Map();
  let current;
  for (const line of text.split('\n')) {
    const head = /^\[(?:profile )?([^\]]+)\]/.exec(line.trim());
    const pair = /^([a-z_]+)\s*=\s*(.*)$/.exec(line.trim());
    if (head) { current = {}; out.set(head[1], current); } else if (pair && current) current[pair[1]] = ['region', 'output', 'sso_start_url', 'role_arn', 'source_profile'].includes(pair[1]) ? pair[2] : true;
  }
  return out;
}

async function profiles() {
  const [config, credentials] = [await sections('config'), await sections('credentials')];
  return [...new Set([...config.keys(), ...credentials.keys()])].sort().map((name) => {
    const c = config.get(name) ?? {};
    const how = c.sso_start_url ? 'single sign-on' : c.role_arn ? `role by ${c.source_profile ?? '?'}` : credentials.has(name) ? 'stored key' : 'no sign-in';
    return { name, region: c.region ?? '-', how };
  });
}

server.tool('list_profiles', 'Lists the AWS profiles with their region and how they sign in. No key is shown.', { annotations },
  async () => (await profiles()).map((p) => `${p.name}  ${p.region}  ${p.how}`).join('\n') || 'There are no AWS profiles.');

server.tool('select_profile', 'Says how to select an AWS profile in a shell: the line to type.', { required: { profile: { ...string, default: 'default' } }, annotations }, async ({ profile }) => {
  const known = (await profiles()).find((p) => p.name === profile);
  return known ? `export AWS_PROFILE='${known.name.replaceAll("'", "'\\''")}'` : 'There is no AWS profile of this name.';
});
server.run();
