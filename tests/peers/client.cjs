// A client on one of the TypeScript SDKs: `node client.cjs PACKAGES SDK COMMAND STEPS`.
//
// PACKAGES is the folder that holds node_modules, SDK is "sdk" (1.x) or "client" (2.x), COMMAND is a JSON list, and
// STEPS is a JSON list of "list" (ask for the tools) or [tool, arguments].  Prints one JSON list: for each step
// {"result": ...}, or {"error": ...} where the SDK threw.
"use strict";
const { createRequire } = require("node:module");

const [packages, sdk, command, steps] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const scope = "@modelcontextprotocol";
const [{ Client }, { StdioClientTransport }] =
  sdk === "sdk"
    ? [load(`${scope}/sdk/client/index.js`), load(`${scope}/sdk/client/stdio.js`)]
    : [load(`${scope}/client`), load(`${scope}/client/stdio`)];

async function main() {
  const [program, ...args] = JSON.parse(command);
  const client = new Client({ name: "strict", version: "1" }, { capabilities: {} });
  await client.connect(new StdioClientTransport({ command: program, args, stderr: "inherit" }));
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
