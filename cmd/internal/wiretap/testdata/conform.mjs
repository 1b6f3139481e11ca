// The client of the conformance suite's client scenarios: conform.mjs SDK URL
const [sdk, url] = process.argv.slice(2);
const { Client } = await import(`${sdk}/dist/esm/client/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/dist/esm/client/streamableHttp.js`);
const client = new Client({ name: 'c', version: '1' }, { capabilities: {} });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
for (const t of tools) {
  await client.callTool({ name: t.name, arguments: t.name === 'add_numbers' ? { a: 5, b: 3 } : {} });
}
await client.close();
