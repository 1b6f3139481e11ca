// A small MCP server over standard input and output, for the servers of this corpus.
import { createInterface } from 'node:readline';

export const string = { type: 'string' };

const types = {
  string: (v) => typeof v === 'string', number: (v) => typeof v === 'number', integer: Number.isInteger,
  boolean: (v) => typeof v === 'boolean', array: Array.isArray, object: (v) => v !== null && typeof v === 'object' && !Array.isArray(v),
};

// Server holds what a server declares and answers requests.
export class Server {
  constructor(name, { version = '1.0.0', instructions } = {}) {
    Object.assign(this, { info: { name, version }, instructions, tools: new Map(), resources: new Map(), prompts: new Map(), templates: [] });
    this.started = this.ended = () => {};
    this.listed = (tools) => tools; // may change what tools/list answers
    this.completed = null; // answers completion/complete
    this.client = {}; // the parameters of initialize
    this.last = 0;
  }

  // tool declares a tool; required and optional map arguments to their schemas, more is annotations, outputSchema, title, …
  tool(name, description, { required = {}, optional = {}, ...more }, run) {
    const inputSchema = { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) };
    this.tools.set(name, { declaration: { name, description, inputSchema, ...more }, run });
  }

  resource(uri, name, more, run) { this.resources.set(uri, { declaration: { uri, name, ...more }, run }); }

  prompt(name, description, args, run) { this.prompts.set(name, { declaration: { name, description, arguments: args }, run }); }

  send(message) { process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n'); }

  notify(method, params = {}) { this.send({ method, params }); }

  request(method, params = {}) { this.send({ id: `s${++this.last}`, method, params }); }

  run() {
    const lines = createInterface({ input: process.stdin });
    lines.on('line', async (line) => {
      let message;
      try { message = JSON.parse(line); } catch { return; }
      if (!message?.method) return;
      if (message.method === 'notifications/initialized') this.started();
      if (message.id === undefined) return;
      try {
        this.send({ id: message.id, result: await this.result(message.method, message.params ?? {}) });
      } catch (error) {
        this.send({ id: message.id, error: { code: error.code ?? -32602, message: error.message } });
      }
    });
    lines.on('close', () => this.ended());
  }

  async result(method, params) {
    const declarations = (map) => [...map.values()].map((entry) => entry.declaration);
    const get = (map, key) => map.get(key) ?? (() => { throw new Error(`unknown: ${key}`); })();
    switch (method) {
      case 'initialize': {
        this.client = params;
        const capabilities = { tools: {} };
        if (this.resources.size || this.templates.length) capabilities.resources = {};
        if (this.prompts.size) capabilities.prompts = {};
        if (this.completed) capabilities.completions = {};
        return { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities, serverInfo: this.info, instructions: this.instructions };
      }
      case 'ping': return {};
      case 'tools/list': return { tools: this.listed(declarations(this.tools)) };
      case 'resources/list': return { resources: declarations(this.resources) };
      case 'resources/templates/list': return { resourceTemplates: this.templates };
      case 'prompts/list': return { prompts: declarations(this.prompts) };
      case 'resources/read': return { contents: [{ uri: params.uri, mimeType: 'text/plain', text: await get(this.resources, params.uri).run() }] };
      case 'prompts/get': return { messages: [{ role: 'user', content: { type: 'text', text: await get(this.prompts, params.name).run(params.arguments ?? {}) } }] };
      case 'completion/complete': if (this.completed) return { completion: this.completed(params) }; break;
      case 'tools/call': return this.call(get(this.tools, params.name), params.arguments ?? {});
    }
    throw Object.assign(new Error('method not found'), { code: -32601 });
  }

  async call({ declaration, run }, args) {
    const { properties, required } = declaration.inputSchema;
    const wrong = Object.entries(args).filter(([name, value]) => properties[name] && !(types[properties[name].type] ?? (() => true))(value)).map(([name]) => name);
    const missing = required.filter((name) => !(name in args));
    const text = (s, more) => ({ content: [{ type: 'text', text: s }], ...more });
    if (wrong.length || missing.length) return text(`missing or wrong: ${[...missing, ...wrong].join(', ')}`, { isError: true });
    try {
      const result = await run(args);
      if (result?.content || result?.structuredContent) return result;
      return text(typeof result === 'string' ? result : JSON.stringify(result));
    } catch (error) {
      return text(`${error.name}: ${error.message}`, { isError: true });
    }
  }
}
