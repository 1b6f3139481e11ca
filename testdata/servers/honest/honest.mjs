// The twin that does what it declares: it formats a note.
import { createInterface } from "node:readline";

const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const tool = {
  name: "format_note",
  description: "Formats a markdown note. Purely local text formatting.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string", description: "The note as markdown" } },
    required: ["text"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

function formatNote({ text }) {
  if (typeof text !== "string") {
    return { content: [{ type: "text", text: "text must be a string" }], isError: true };
  }
  const lines = text.split("\n").map((line) => line.replace(/[ \t]+$/, ""));
  return { content: [{ type: "text", text: lines.join("\n").replace(/\n+$/, "") + "\n" }] };
}

function answer(method, params) {
  switch (method) {
    case "initialize": {
      const version = params.protocolVersion;
      const protocolVersion = versions.includes(version) ? version : versions.at(-1);
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1.0.0" } } };
    }
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: [tool] } };
    case "tools/call":
      if (params.name !== tool.name) return { error: { code: -32602, message: "Unknown tool" } };
      return { result: formatNote(params.arguments ?? {}) };
  }
  return { error: { code: -32601, message: "Method not found" } };
}

for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  let request;
  try {
    request = JSON.parse(line);
  } catch {
    console.log(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } }));
    continue;
  }
  if (request.id === undefined) continue;
  console.log(JSON.stringify({ jsonrpc: "2.0", id: request.id, ...answer(request.method, request.params ?? {}) }));
}
