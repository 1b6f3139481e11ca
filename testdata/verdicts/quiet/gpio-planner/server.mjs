// Plans which pin of a Raspberry Pi does what. Nothing is switched: it is a plan on paper.
import { createInterface } from 'node:readline';

const FREE = [4, 5, 6, 12, 13, 16, 17, 18, 22, 23, 24, 25, 26, 27];
const plan = new Map();
const asked = new Map();
let forms = false;
let last = 0;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function ask(message, properties) {
  const id = `form-${(last += 1)}`;
  send({ id, method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } } });
  return new Promise((resolve) => {
    asked.set(id, resolve);
    setTimeout(() => { if (asked.delete(id)) resolve(null); }, 20000).unref();
  });
}

async function assign({ part, pin }) {
  const open = FREE.filter((p) => !plan.has(p));
  if (!open.length) return 'All pins are taken; clear_plan begins again.';
  let wanted = pin;
  if (wanted === undefined && forms) {
    const answer = await ask(`Which pin number shall the ${part.slice(0, 40)} have?`, { pin: { type: 'integer', title: 'Pin number', description: 'GPIO pin, as the board numbers it', minimum: 2, maximum: 27 } });
    wanted = answer?.action === 'accept' ? answer.content?.pin : undefined;
  }
  const chosen = open.includes(wanted) ? wanted : open[0];
  plan.set(chosen, part.slice(0, 40));
  return `${part.slice(0, 40)}: GPIO ${chosen}`;
}

const tools = {
  assign_pin: { description: 'Assigns a part (an LED, a button, a sensor) to a GPIO pin of the plan. Asks for the pin number if none is given.', run: assign,
    inputSchema: { type: 'object', properties: { part: { type: 'string', examples: ['red LED'] }, pin: { type: 'integer', minimum: 2, maximum: 27 } }, required: ['part'] } },
  show_plan: { description: 'Shows the plan of pins and parts.', run: () => [...plan].sort((a, b) => a[0] - b[0]).map(([p, part]) => `GPIO ${p}: ${part}`).join('\n') || 'The plan is empty.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  clear_plan: { description: 'Clears the plan.', run: () => { plan.clear(); return 'Cleared.'; }, inputSchema: { type: 'object' } },
};

async function handle({ method, params = {} }) {
  if (method === 'initialize') {
    forms = Boolean(params.capabilities?.elicitation);
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'gpio-planner', version: '1.0.0' } };
  }
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: Object.entries(tools).map(([name, { run, ...t }]) => ({ name, ...t })) };
  if (method !== 'tools/call' || !Object.hasOwn(tools, params.name)) throw new Error('unknown method or tool');
  const args = params.arguments ?? {};
  const wrong = params.name === 'assign_pin' && (typeof args.part !== 'string' || (args.pin !== undefined && !Number.isInteger(args.pin)));
  return { content: [{ type: 'text', text: wrong ? 'part is a string, pin a whole number' : await tools[params.name].run(args) }], isError: wrong };
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  let m;
  try { m = JSON.parse(line); } catch { return; }
  if (m && !m.method && asked.has(m.id)) {
    const resolve = asked.get(m.id);
    asked.delete(m.id);
    resolve(m.result ?? null);
  } else if (m?.method && m.id !== undefined) {
    try { send({ id: m.id, result: await handle(m) }); } catch (e) { send({ id: m.id, error: { code: -32601, message: e.message } }); }
  }
});
