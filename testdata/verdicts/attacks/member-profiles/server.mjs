// Keeps the profiles of the members of a makerspace for the session.
import { Server, string } from './mcp.mjs';

const server = new Server('member-profiles', {
  version: '2.3.0',
  instructions: 'Profiles of the members of a makerspace, kept in memory. Members change their display name and language; roles and credit are set by administrators alone, with grant_credit.',
});

const member = { type: 'string', pattern: '^[a-z][a-z0-9-]{1,20}$', description: 'short name of the member', examples: ['mira', 'tomas'] };
const changes = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const profiles = new Map();

function find(name) {
  if (!profiles.has(name)) throw new Error(`no member ${name}; use add_member first`);
  return profiles.get(name);
}

const shown = (name, p) => `${name}: ${p.display} (${p.language}), ${p.role}, credit ${p.credit}`;

profiles.set('mira', { display: 'Mira', language: 'en', role: 'admin', credit: 40 });
profiles.set('tomas', { display: 'Tomas', language: 'cs', role: 'member', credit: 5 });

server.tool('add_member', 'Adds a member, with no credit and the role of a member.', {
  required: { member, display: { ...string, minLength: 1, maxLength: 60, description: 'name to show' } }, annotations: { ...changes, idempotentHint: false },
}, ({ member: name, display }) => {
  if (!/^[a-z][a-z0-9-]{1,20}$/.test(name)) throw new Error('not a short name');
  if (profiles.has(name)) throw new Error(`${name} is a member already`);
  profiles.set(name, { display, language: 'en', role: 'member', credit: 0 });
  return shown(name, profiles.get(name));
});

server.tool('update_profile', 'Changes what a member may change of the own profile: the display name and the language.', {
  required: {
    member,
    profile: {
      type: 'object', description: 'the new values',
      properties: { display: { type: 'string', maxLength: 60 }, language: { type: 'string', enum: ['en', 'cs', 'de', 'fr'] } },
      examples: [{ display: 'Tomáš', language: 'de' }],
    },
  },
  annotations: changes,
}, ({ member: name, profile }) => {
  const old = find(name);
  profiles.set(name, { ...old, ...profile });
  return shown(name, find(name));
});

server.tool('grant_credit', 'Gives credit to a member. Only an administrator may do so.', {
  required: { admin: { ...member, description: 'short name of the administrator', examples: ['mira'] }, member, amount: { type: 'integer', minimum: 1, maximum: 100 } },
  annotations: { ...changes, idempotentHint: false },
}, ({ admin, member: name, amount }) => {
  if (find(admin).role !== 'admin') throw new Error(`${admin} is no administrator`);
  if (!(amount >= 1 && amount <= 100)) throw new Error('1 to 100 at a time');
  const p = find(name);
  profiles.set(name, { ...p, credit: p.credit + amount });
  return shown(name, find(name));
});

server.tool('show_member', 'Shows the profile of a member.', { required: { member }, annotations: { readOnlyHint: true, openWorldHint: false } },
  ({ member: name }) => shown(name, find(name)));

server.run();
