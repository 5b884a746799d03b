// Results of actions, as plain data. Each caller (MCP, HTTP, a workflow) converts them for its client. HTML is not
// changed: the code that displays it must sanitize it.
import { Readable } from 'node:stream';
import type { StopSignal } from '../../core/clock/stop.ts';
import { fail } from '../../core/errors.ts';

/** Headers for the response of the HTTP API. */
interface WithHeaders {
  /** Headers for the response of the HTTP API, from `setHeader`. */
  readonly responseHeaders: Readonly<Record<string, string>>;
}

export interface SuccessResult extends WithHeaders {
  /** Made by `success`. */
  readonly type: 'success';
  readonly message: string;
  readonly html?: string;
  /** Collections whose records should be read again. */
  readonly invalidated: readonly string[];
}

interface ErrorResult extends WithHeaders {
  /** Made by `error`. */
  readonly type: 'error';
  readonly message: string;
  readonly html?: string;
}

interface WebhookResult extends WithHeaders {
  /** Made by `webhook`. */
  readonly type: 'webhook';
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/**
 * Sends the webhook from the server, for clients without a browser. Returns the status of the response, or undefined if
 * there was no response; the reason is then in the log. Never throws.
 */
export type SendWebhook = (webhook: WebhookResult, signal: StopSignal) => Promise<number | undefined>;

export interface FileResult extends WithHeaders {
  /** Made by `file`. */
  readonly type: 'file';
  readonly stream: Readable;
  readonly filename: string;
  readonly mimeType: string;
}

interface RedirectResult extends WithHeaders {
  /** Made by `redirectTo`. */
  readonly type: 'redirect';
  readonly path: string;
}

/** The result of an action, from the result builder. */
export type ActionResult = SuccessResult | ErrorResult | WebhookResult | FileResult | RedirectResult;

/** Behaviour 2.3. Invalid arguments throw INVALID_ARGUMENT. */
export interface ResultBuilder {
  /**
   * The action is done. Defaults: `Success`, no HTML, no collection to read again.
   *
   * @example
   * orders.addAction('Send', {
   *   scope: 'Single',
   *   execute: (context, resultBuilder) =>
   *     resultBuilder.success('Sent', { html: '<b>Sent</b>', invalidated: ['orders'] }),
   * });
   */
  success(
    message?: string,
    options?: { readonly html?: string; readonly invalidated?: readonly string[] },
  ): SuccessResult;
  /**
   * The action refuses, with a message for the user. Defaults: `Error`, no HTML.
   *
   * @example
   * orders.addAction('Send', {
   *   scope: 'Single',
   *   execute: (context, resultBuilder) =>
   *     resultBuilder.error('The order has no address'),
   * });
   */
  error(message?: string, options?: { readonly html?: string }): ErrorResult;
  /**
   * A request that the client, or the server for clients without a browser, sends to the URL. Defaults: POST, no
   * headers, an empty object.
   *
   * @example
   * orders.addAction('Send', {
   *   scope: 'Single',
   *   execute: (context, resultBuilder) =>
   *     resultBuilder.webhook('https://mail.example.com', 'POST', { 'X-Key': '1' }, { to: 'Ada' }),
   * });
   */
  webhook(url: string, method?: string, headers?: Readonly<Record<string, string>>, body?: unknown): WebhookResult;
  /**
   * A file to download. Defaults: `file`, `application/octet-stream`.
   *
   * @example
   * orders.addAction('Send', {
   *   scope: 'Single',
   *   generateFile: true,
   *   execute: (context, resultBuilder) =>
   *     resultBuilder.file('id;total', 'orders.csv', 'text/csv'),
   * });
   */
  file(stream: Readable | Buffer | string, filename?: string, mimeType?: string): FileResult;
  /**
   * A path of the application, or an http(s) URL.
   *
   * @example
   * orders.addAction('Send', {
   *   scope: 'Single',
   *   execute: (context, resultBuilder) =>
   *     resultBuilder.redirectTo('/orders'),
   * });
   */
  redirectTo(path: string): RedirectResult;
  /**
   * Adds a header to the results built after it.
   *
   * @example
   * orders.addAction('Send', {
   *   scope: 'Single',
   *   execute: (context, resultBuilder) =>
   *     resultBuilder.setHeader('X-Queue', 'mail').success('Sent'),
   * });
   */
  setHeader(name: string, value: string): ResultBuilder;
}

const builtResults = new WeakSet<object>();

export function isActionResult(value: unknown): value is ActionResult {
  return typeof value === 'object' && value !== null && builtResults.has(value);
}

export function createResultBuilder(): ResultBuilder {
  const headers: Record<string, string> = {};
  const make = <Result extends object>(result: Result): Result & WithHeaders => {
    const whole = Object.freeze({ ...result, responseHeaders: Object.freeze({ ...headers }) });
    builtResults.add(whole);
    return whole;
  };
  const builder: ResultBuilder = {
    success: (message = 'Success', options = {}) =>
      make({
        type: 'success',
        message,
        ...(options.html !== undefined && { html: options.html }),
        invalidated: Object.freeze([...new Set(options.invalidated ?? [])]),
      }),
    error: (message = 'Error', options = {}) =>
      make({ type: 'error', message, ...(options.html !== undefined && { html: options.html }) }),
    webhook: (url, method = 'POST', sent = {}, body = {}) =>
      make({
        type: 'webhook',
        url: checkAddress(url),
        method: checkMethod(method),
        headers: Object.freeze(Object.fromEntries(Object.entries(sent).map(([name, value]) => header(name, value)))),
        body,
      }),
    file: (stream, filename = 'file', mimeType = 'application/octet-stream') =>
      make({
        type: 'file',
        stream: stream instanceof Readable ? stream : Readable.from([stream], { objectMode: false }),
        filename: plainName(filename),
        mimeType: checkMimeType(mimeType),
      }),
    redirectTo: (path) => make({ type: 'redirect', path: checkPath(path) }),
    setHeader(name, value) {
      const [known, text] = header(name, value);
      headers[known] = text;
      return builder;
    },
  };
  return Object.freeze(builder);
}

/**
 * The name of a header is a token. Its value has no control characters except tab, because a line break in it could
 * add further headers (RFC 9110, 5.1 and 5.5).
 */
function header(name: string, value: string): readonly [name: string, value: string] {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) refuse('header name', 'expected a token such as X-Total.');
  const text = String(value);
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) refuse(`header ${name}`, 'expected a string without line breaks.');
  return [name, text];
}

function checkAddress(url: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:')
    return refuse('webhook url', 'expected a URL that starts with https:// or http://.');
  return address.href;
}

function checkMethod(method: string): string {
  const known = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
  const upper = String(method).toUpperCase();
  return known.includes(upper) ? upper : refuse('webhook method', `expected one of ${known.join(', ')}.`);
}

/** Only http(s) URLs: a `javascript:` URL would run in the browser of the user. */
function checkPath(path: string): string {
  if (/^\/(?![/\\])/.test(path)) return path;
  const address = URL.canParse(path) ? new URL(path) : undefined;
  if (address?.protocol === 'https:' || address?.protocol === 'http:') return address.href;
  return refuse('redirectTo path', "expected a path that starts with '/', or a URL that starts with https://.");
}

/** The name without folders and control characters, because clients save the file under it. */
function plainName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const plain = (String(name).split(/[\\/]/).at(-1) ?? '').replace(/[\x00-\x1f\x7f]/g, '').trim();
  return plain === '' || plain === '.' || plain === '..' ? 'file' : plain;
}

function checkMimeType(mimeType: string): string {
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\r\n]*"))*$/.test(mimeType)
    ? mimeType
    : refuse('file mimeType', 'expected a media type such as text/csv.');
}

function refuse(argument: string, problem: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem });
}
