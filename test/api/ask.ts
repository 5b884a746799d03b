// Sends a request with its path and headers unchanged. `fetch` would normalize them.
import { request } from 'node:http';
import type { Answered } from './document.ts';

export function ask(
  address: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string | Buffer,
): Promise<Answered> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const length = body === undefined ? {} : { 'Content-Length': `${Buffer.byteLength(body)}` };
    const req = request({ hostname, port, method, path, headers: { ...headers, ...length } }, (res) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const all = Object.entries(res.headers).map(([name, value]): [string, string] => [name, `${value}`]);
        resolve({ status: res.statusCode!, headers: new Headers(all), text: Buffer.concat(chunks).toString() });
      });
    });
    // A server that rejects the request may close the connection before it has read the body.
    req.on('error', (error) => isAnswered || reject(error));
    req.end(body);
  });
}
