// Parses HTTP responses of actions into the kinds that the result builder creates (behaviour 2.3).
import { failureOf, type Reply } from './connection.ts';

/** The result of an action: one of the kinds that the result builder creates (behaviour 2.3). */
export type ActionOutcome = ActionAnswer & {
  /**
   * Headers of the HTTP response, including those set by the action. Not enumerable, so assertions compare only the
   * result.
   */
  readonly responseHeaders: Headers;
};

type ActionAnswer =
  | {
      readonly type: 'success';
      readonly message: string;
      readonly html?: string;
      /** Collections to reload. */
      readonly invalidated: readonly string[];
    }
  | { readonly type: 'error'; readonly message: string; readonly html?: string }
  | {
      readonly type: 'webhook';
      readonly url: string;
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: unknown;
    }
  | { readonly type: 'redirect'; readonly path: string }
  | { readonly type: 'file'; readonly filename: string; readonly mimeType: string; readonly content: Buffer };

interface Answered {
  readonly success?: string;
  readonly error?: string;
  readonly html?: string;
  readonly refresh?: { readonly relationships?: readonly string[] };
  readonly redirectTo?: string;
  readonly webhook?: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

/** Throws AgentHttpError, or a subclass, if the response is not an action result. */
export function readOutcome(what: string, reply: Reply): ActionOutcome {
  const answer = readAnswer(what, reply);
  return Object.defineProperty(answer, 'responseHeaders', { value: reply.headers }) as ActionOutcome;
}

function readAnswer(what: string, reply: Reply): ActionAnswer {
  const { status, headers, bytes } = reply;
  const disposition = headers.get('content-disposition');
  if (status === 200 && disposition !== null) {
    const mimeType = headers.get('content-type') ?? 'application/octet-stream';
    return { type: 'file', filename: filenameOf(disposition), mimeType, content: bytes };
  }
  const answer = read(bytes);
  const html = answer?.html == null ? {} : { html: answer.html };
  if (status === 200 && answer) {
    if (answer.webhook) {
      const { url, method, headers: webhookHeaders, body } = answer.webhook;
      return { type: 'webhook', url, method, headers: webhookHeaders, body };
    }
    if (answer.redirectTo !== undefined) return { type: 'redirect', path: answer.redirectTo };
    if (answer.success !== undefined)
      return { type: 'success', message: answer.success, ...html, invalidated: answer.refresh?.relationships ?? [] };
  }
  if (status === 400 && typeof answer?.error === 'string') return { type: 'error', message: answer.error, ...html };
  throw failureOf(what, reply);
}

function read(bytes: Buffer): Answered | undefined {
  try {
    const answer: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof answer === 'object' && answer !== null ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** `filename*` takes precedence over `filename` (RFC 6266 section 4.3). */
function filenameOf(disposition: string): string {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) return decodeURIComponent(extended);
  const [, quoted, plain] = /filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? plain ?? 'file';
}
