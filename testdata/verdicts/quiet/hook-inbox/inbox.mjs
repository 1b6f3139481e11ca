// An HTTP listener on 127.0.0.1 that keeps the last requests.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

export const HOST = '127.0.0.1';
const MOST_BYTES = 256 * 1024;
const KEEP = 100;
const PRIVATE = /^(authorization|proxy-authorization|cookie|x-api-key|.*(token|secret|signature).*)$/;

export const sign = (secret, body) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

function signature(secret, request, body) {
  const given = request.headers['x-hub-signature-256'];
  if (!secret) return 'not checked';
  if (!given) return 'missing';
  const wanted = Buffer.from(sign(secret, body));
  const got = Buffer.from(given);
  return got.length === wanted.length && timingSafeEqual(got, wanted) ? 'valid' : 'wrong';
}

export class Inbox {
  hooks = [];

  #last = 0;

  #server = null;

  constructor(secret) { this.secret = secret; }

  get port() { return this.#server?.address()?.port ?? null; }

  open(port) {
    if (this.#server) return Promise.reject(new Error(`the inbox is open on port ${this.port}`));
    const server = createServer((request, response) => this.#receive(request, response));
    Object.assign(server, { requestTimeout: 10_000, headersTimeout: 5000, maxConnections: 20 });
    return new Promise((resolve, reject) => {
      server.once('error', (error) => reject(error.code === 'EADDRINUSE' ? new Error(`port ${port} is in use`) : error));
      server.listen(port, HOST, () => {
        this.#server = server;
        server.on('error', () => {});
        resolve(this.port);
      });
    });
  }

  #receive(request, response) {
    const finish = (status, text) => response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' }).end(`${text}\n`);
    // a web page that has its own name resolve to 127.0.0.1 is turned away
    if (![`${HOST}:${this.port}`, `localhost:${this.port}`].includes(request.headers.host)) return finish(403, 'only for 127.0.0.1');
    if (request.method !== 'POST') return finish(405, 'send webhooks with POST');
    const parts = [];
    let size = 0;
    request.on('data', (part) => {
      size += part.length;
      if (size <= MOST_BYTES) parts.push(part);
    });
    request.on('error', () => {});
    request.on('end', () => {
      if (size > MOST_BYTES) return finish(413, 'too large');
      const body = Buffer.concat(parts);
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, PRIVATE.test(name) ? '(hidden)' : value]));
      this.hooks.push({ id: ++this.#last, time: new Date().toISOString(), path: request.url.slice(0, 300), headers, signature: signature(this.secret, request, body), body: body.toString('utf8') });
      if (this.hooks.length > KEEP) this.hooks.shift();
      return finish(202, 'received');
    });
    return undefined;
  }

  close() {
    const server = this.#server;
    this.#server = null;
    if (!server) return Promise.resolve(false);
    server.closeAllConnections();
    return new Promise((resolve) => { server.close(() => resolve(true)); });
  }
}
