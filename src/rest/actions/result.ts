// Converts an action result to an HTTP response. A webhook result is returned and not called: the client calls it from
// the user's network.
import type { ActionResult, FileResult } from '../../agent/actions/results.ts';
import type { WriteEffect } from '../../agent/write/effects.ts';
import type { Access } from '../../core/caller.ts';
import { attachmentHeader } from '../../http/reply.ts';
import { exposedHeaders } from '../cors.ts';
import { type Answer, toMeta } from '../route.ts';

/** Adds `effects` to the body, except for a file. */
export function toActionResponse(result: ActionResult, access: Access, effects: readonly WriteEffect[]): Answer {
  const meta = toMeta({ effects });
  const headers = withoutReservedHeaders(result.responseHeaders);
  const names = Object.keys(headers);
  const exposedPart = names.length > 0 && { 'Access-Control-Expose-Headers': [...exposedHeaders, ...names].join(', ') };
  const shared = { status: 200, headers: { ...headers, ...exposedPart } };
  switch (result.type) {
    case 'success': {
      const { message: success, html, invalidated } = result;
      // The client reloads only collections that the caller can browse.
      const relationships = invalidated.filter((name) => access.can('browse', name));
      return { ...shared, body: { success, ...(html !== undefined && { html }), refresh: { relationships }, ...meta } };
    }
    case 'error': {
      const { message: error, html } = result;
      return {
        ...shared,
        status: 400,
        body: { error, ...(html !== undefined && { html }), ...meta },
        errorCode: 'ACTION_REFUSED',
      };
    }
    case 'webhook': {
      const { url, method, headers: requestHeaders, body } = result;
      return { ...shared, body: { webhook: { url, method, headers: requestHeaders, body }, ...meta } };
    }
    case 'redirect':
      return { ...shared, body: { redirectTo: result.path, ...meta } };
    case 'file':
      return { ...shared, headers: { ...shared.headers, ...fileHeaders(result) }, stream: toStream(result) };
  }
}

function fileHeaders({ filename, responseHeaders }: FileResult): Record<string, string> {
  return {
    'Content-Disposition': attachmentHeader(filename),
    'Access-Control-Expose-Headers': [...exposedHeaders, ...Object.keys(withoutReservedHeaders(responseHeaders))].join(
      ', ',
    ),
    // The sandbox blocks scripts if a browser opens the file. Otherwise the page would run with our origin (CWE-79).
    'Content-Security-Policy': "sandbox; default-src 'none'",
  };
}

function toStream({ mimeType, stream }: FileResult): NonNullable<Answer['stream']> {
  return { type: mimeType, parts: stream };
}

/**
 * Response headers that action code must not set, because the server controls them. They cover message framing (RFC
 * 9110 section 7.6.1; CWE-444), browser caching, scripts and redirects, cookies of our origin, and who may read the
 * response. `setHeader` has already refused line breaks in names and values (CWE-113).
 */
const reservedHeaders = [
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|date|server|via|host)$/,
  /^content-(type|length|encoding|disposition|range|security-policy.*)$/,
  /^(set-cookie2?|www-authenticate|authorization|clear-site-data|strict-transport-security|alt-svc|location|refresh)$/,
  /^(access-control-|cross-origin-|sec-|x-frame-|x-content-type-|x-xss-|x-service-).*/,
  /^(cache-control|expires|pragma|age|etag|last-modified|vary|origin-agent-cluster|service-worker-allowed|sourcemap)$/,
  /^(x-sourcemap|referrer-policy|permissions-policy|feature-policy|report-to|reporting-endpoints|nel|link)$/,
  /^(document-policy|speculation-rules|supports-loading-mode|x-dns-prefetch-control|x-permitted-.*)$/,
];

function withoutReservedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const allowed = Object.entries(headers).filter(
    ([name]) => !reservedHeaders.some((each) => each.test(name.toLowerCase())),
  );
  return Object.fromEntries(allowed);
}
