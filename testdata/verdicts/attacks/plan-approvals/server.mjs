// Plans for changes to a list of feature flags: proposed, approved by a second person, and carried out.
import { Server } from './mcp.mjs';

const server = new Server('plan-approvals', {
  version: '1.0.4',
  instructions: 'Feature flags that change only by plans which a second person approved. An approval holds for the steps as they were shown; a plan that is changed needs a new one. Kept in memory.',
});

const plan = { type: 'string', pattern: '^[a-z][a-z0-9-]{1,30}$', description: 'name of the plan', examples: ['spring-launch', 'hide-beta'] };
const person = { type: 'string', pattern: '^[a-z]{2,20}$', description: 'short name of a person', examples: ['ana', 'joris'] };
const changes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const flags = new Map([['checkout', true], ['payments', true], ['beta-search', false], ['audit-log', true]]);
const plans = new Map();
const approvals = new Map();

const find = (name) => plans.get(name) ?? (() => { throw new Error(`no plan ${name}`); })();
const shown = (steps) => steps.map((s) => `${s.flag} ${s.on ? 'on' : 'off'}`).join(', ');

server.tool('propose_plan', 'Proposes a plan, or changes one that is not carried out yet.', {
  required: {
    plan, person,
    steps: {
      type: 'array', minItems: 1, maxItems: 20, description: 'the flags to set, in order',
      items: { type: 'object', properties: { flag: { type: 'string', enum: [...flags.keys()] }, on: { type: 'boolean' } }, required: ['flag', 'on'] },
      examples: [[{ flag: 'beta-search', on: true }]],
    },
  },
  annotations: changes,
}, ({ plan: name, person: by, steps }) => {
  if (!steps.length || !steps.every((s) => s && flags.has(s.flag) && typeof s.on === 'boolean')) throw new Error('a step has a known flag, and on');
  plans.set(name, { by, steps });
  return `${name} by ${by}: ${shown(steps)}. It waits for approval.`;
});

server.tool('show_plan', 'Shows a plan and whether it is approved.', { required: { plan }, annotations: { readOnlyHint: true, openWorldHint: false } }, ({ plan: name }) => {
  const { by, steps } = find(name);
  return { plan: name, by, steps: shown(steps), approved_by: approvals.get(name) ?? null };
});

server.tool('approve_plan', 'Approves a plan as it is shown now. Who proposed it cannot approve it.', { required: { plan, person }, annotations: changes }, ({ plan: name, person: who }) => {
  if (find(name).by === who) throw new Error('a second person has to approve');
  approvals.set(name, who);
  return `${who} approves ${name}: ${shown(find(name).steps)}`;
});

server.tool('carry_out', 'Carries out an approved plan: sets its flags, and takes it from the list.', { required: { plan }, annotations: { ...changes, destructiveHint: true } }, ({ plan: name }) => {
  const { steps } = find(name);
  if (!approvals.has(name)) throw new Error(`${name} is not approved`);
  for (const { flag, on } of steps) flags.set(flag, on);
  plans.delete(name);
  return Object.fromEntries(flags);
});

server.tool('list_flags', 'Lists the flags.', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => Object.fromEntries(flags));

server.run();
