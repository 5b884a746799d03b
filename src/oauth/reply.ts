// How every door of ours writes an answer that is no page.
import type { ServerResponse } from 'node:http';

export function sendJson(res: ServerResponse, status: number, body: object): void {
  sendJsonText(res, status, JSON.stringify(body));
}

export function sendJsonText(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  res.end(text);
}

/**
 * The value of Content-Disposition for a file (RFC 6266 section 4.3 and RFC 8187): the name for all, and in UTF-8. Nothing of it
 * can end the header or the quotes.
 */
export function attachmentNamed(name: string): string {
  const plain = name.replace(/[^\w.() -]/g, '_');
  const encoded = encodeURIComponent(name.replace(/\p{Cs}/gu, '_')).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
