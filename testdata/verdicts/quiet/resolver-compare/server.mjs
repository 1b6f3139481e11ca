import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Server, string } from './mcp.mjs';

const server = new Server('resolver-compare', { version: '1.4.0' });
const name = { ...string, description: 'A domain name, like debian.org', default: 'debian.org' };
const type = { ...string, enum: ['A', 'AAAA', 'MX', 'NS', 'TXT', 'CAA'] };
const annotations = { readOnlyHint: true, openWorldHint: true };

async function ask(resolver, domain, kind) {
  if (!isIP(resolver)) return 'a resolver is written as its IP address';
  const dns = new Resolver({ timeout: 1500, tries: 1 });
  dns.setServers([resolver]);
  try {
    const found = await dns.resolve(domain.slice(0, 253), kind);
    return found.map((r) => (typeof r === 'string' ? r : JSON.stringify(r))).sort().join(' | ') || 'nothing';
  } catch (error) {
    return `no answer (${error.code})`;
  }
}

server.tool('look_up', 'Asks one DNS resolver for the records of a domain.', {
  required: { name }, optional: { type, resolver: { ...string, description: 'IP address of the name server to ask', default: '9.9.9.9' } }, annotations,
}, ({ name: domain, type: kind = 'A', resolver = '9.9.9.9' }) => ask(resolver, domain, kind));

server.tool('compare', 'Asks three public DNS resolvers (Cloudflare, Google, Quad9) for the same records and says where they differ.', {
  required: { name }, optional: { type }, annotations,
}, async ({ name: domain, type: kind = 'A' }) => {
  const resolvers = { Cloudflare: '1.1.1.1', Google: '8.8.8.8', Quad9: '9.9.9.9' };
  const answers = await Promise.all(Object.values(resolvers).map((r) => ask(r, domain, kind)));
  const same = new Set(answers).size === 1 ? 'All agree.' : 'They differ.';
  return `${same}\n${Object.keys(resolvers).map((n, i) => `${n}: ${answers[i]}`).join('\n')}`;
});
server.run();
