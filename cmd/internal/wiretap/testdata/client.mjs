// A client of the official TypeScript SDK: client.mjs SDK stdio|sse|http TARGET…
// It prints what each request gave, one JSON value a line.
const [sdk, kind, ...target] = process.argv.slice(2);
const load = (name) => import(`${sdk}/dist/esm/client/${name}.js`);
const { Client } = await load('index');
let transport;
if (kind === 'stdio') {
  const { StdioClientTransport } = await load('stdio');
  transport = new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env, stderr: 'ignore' });
} else if (kind === 'sse') {
  const { SSEClientTransport } = await load('sse');
  transport = new SSEClientTransport(new URL(target[0]));
} else {
  const { StreamableHTTPClientTransport } = await load('streamableHttp');
  transport = new StreamableHTTPClientTransport(new URL(target[0]));
}
const client = new Client({ name: 'c', version: '1' }, { capabilities: {} });
const say = (v) => console.log(JSON.stringify(v));
await client.connect(transport);
say([client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
const requests = [
  () => client.listTools(),
  () => client.callTool({ name: 'echo', arguments: { message: 'grüße \u2028 "quoted"' } }),
  () => client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } }),
  () => client.callTool({ name: 'get-structured-content', arguments: { location: 'New York' } }),
  () => client.callTool({ name: 'get-tiny-image', arguments: {} }),
  () => client.listResources(),
  () => client.listPrompts(),
  () => client.getPrompt({ name: 'no-such-prompt' }),
  () => client.ping(),
];
for (const request of requests) {
  try {
    say(await request());
  } catch (e) {
    say(String(e));
  }
}
await client.close();
