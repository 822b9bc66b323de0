// A server for the tests and for trying the playground: `node tests/serve.js [port]`.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/** Serves the files below `root`; resolves to the address. */
export function serve(root, port = 0) {
  const server = createServer(async (request, response) => {
    try {
      let path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
      if (path.endsWith("/")) path += "index.html";
      const body = await readFile(join(root, path));
      response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream", "cache-control": "no-store" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => {
    server.listen(port, "127.0.0.1", () => resolve({ server, address: `http://127.0.0.1:${server.address().port}` }));
  });
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { address } = await serve(new URL("..", import.meta.url).pathname, Number(process.argv[2] ?? 8080));
  console.log(`${address}/playground/`);
}
