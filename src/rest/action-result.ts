// What an action gave, as front ends of the HTTP API read it. A webhook is returned, not sent: the front end sends it from
// where the person is.
import type { ActionResult, FileResult } from '../agent/actions/results.ts';
import type { Access } from '../core/caller.ts';
import { attachmentNamed } from '../oauth/reply.ts';
import { exposedHeaders } from './origins.ts';
import type { Answer } from './route.ts';

export function answerAction(result: ActionResult, access: Access): Answer {
  const headers = own(result.responseHeaders);
  const names = Object.keys(headers);
  const exposed = names.length > 0 && { 'Access-Control-Expose-Headers': [...exposedHeaders, ...names].join(', ') };
  const shared = { status: 200, headers: { ...headers, ...exposed } };
  switch (result.type) {
    case 'success': {
      const { message: success, html, invalidated } = result;
      // Collections that the caller does not see are nothing to read again.
      const relationships = invalidated.filter((name) => access.can('browse', name));
      return { ...shared, body: { success, ...(html !== undefined && { html }), refresh: { relationships } } };
    }
    case 'error': {
      const { message: error, html } = result;
      return {
        ...shared,
        status: 400,
        body: { error, ...(html !== undefined && { html }) },
        refused: 'ACTION_REFUSED',
      };
    }
    case 'webhook': {
      const { url, method, headers: sent, body } = result;
      return { ...shared, body: { webhook: { url, method, headers: sent, body } } };
    }
    case 'redirect':
      return { ...shared, body: { redirectTo: result.path } };
    case 'file':
      return { ...shared, headers: { ...shared.headers, ...fileHeaders(result) }, stream: streamOf(result) };
  }
}

function fileHeaders({ filename, responseHeaders }: FileResult): Record<string, string> {
  return {
    'Content-Disposition': attachmentNamed(filename),
    'Access-Control-Expose-Headers': [...exposedHeaders, ...Object.keys(own(responseHeaders))].join(', '),
    // Opened in a browser all the same, it runs nothing: a page of ours would run with our origin (CWE-79).
    'Content-Security-Policy': "sandbox; default-src 'none'",
  };
}

function streamOf({ mimeType, stream }: FileResult): NonNullable<Answer['stream']> {
  return { type: mimeType, parts: stream };
}

/**
 * What the code of an action may not say, since it is ours to say or the server's: how the message is framed (RFC 9110 section
 * 7.6.1; CWE-444), what browsers may keep, run or send elsewhere, cookies of our origin, and who may read the answer.
 * Names and values were checked for line breaks when they were set (CWE-113).
 */
const reserved = [
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|date|server|via|host)$/,
  /^content-(type|length|encoding|disposition|range|security-policy.*)$/,
  /^(set-cookie2?|www-authenticate|authorization|clear-site-data|strict-transport-security|alt-svc|location|refresh)$/,
  /^(access-control-|cross-origin-|sec-|x-frame-|x-content-type-|x-xss-|x-service-).*/,
  /^(cache-control|expires|pragma|age|etag|last-modified|vary|origin-agent-cluster|service-worker-allowed|sourcemap)$/,
  /^(x-sourcemap|referrer-policy|permissions-policy|feature-policy|report-to|reporting-endpoints|nel|link)$/,
  /^(document-policy|speculation-rules|supports-loading-mode|x-dns-prefetch-control|x-permitted-.*)$/,
];

function own(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const free = Object.entries(headers).filter(([name]) => !reserved.some((each) => each.test(name.toLowerCase())));
  return Object.fromEntries(free);
}
