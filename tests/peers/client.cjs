// A client on one of the TypeScript SDKs: `node client.cjs PACKAGES SDK SERVER STEPS`.
//
// PACKAGES is the folder that holds node_modules, SDK is "sdk" (1.x) or "client" (2.x), SERVER is a JSON list (a
// command) or a JSON object {"url", "token"}, and STEPS is a JSON list of "list" (ask for the tools) or
// [tool, arguments].  Prints one JSON list: for each step {"result": ...}, or {"error": ...} where the SDK threw.
"use strict";
const { createRequire } = require("node:module");

const [packages, sdk, server, steps] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const scope = "@modelcontextprotocol";
const { Client, StdioClientTransport, StreamableHTTPClientTransport } = Object.assign(
  {},
  ...(sdk === "sdk"
    ? ["sdk/client/index.js", "sdk/client/stdio.js", "sdk/client/streamableHttp.js"]
    : ["client", "client/stdio"]
  ).map((part) => load(`${scope}/${part}`)),
);

function transport() {
  const where = JSON.parse(server);
  if (Array.isArray(where)) {
    const [command, ...args] = where;
    return new StdioClientTransport({ command, args, stderr: "inherit" });
  }
  const requestInit = { headers: { Authorization: `Bearer ${where.token}` } };
  return new StreamableHTTPClientTransport(new URL(where.url), { requestInit });
}

async function main() {
  const client = new Client({ name: "strict", version: "1" }, { capabilities: {} });
  await client.connect(transport());
  const outcomes = [];
  for (const step of JSON.parse(steps)) {
    try {
      const asked = step === "list" ? client.listTools() : client.callTool({ name: step[0], arguments: step[1] });
      outcomes.push({ result: await asked });
    } catch (error) {
      outcomes.push({ error: String(error) });
    }
  }
  await client.close();
  console.log(JSON.stringify(outcomes));
}

main();
