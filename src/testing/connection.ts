// Requests to the agent's HTTP API as one user, over the network.
import { type Clock, systemClock } from '../core/clock.ts';
import { ActionFormValidationError, ActionRequiresApprovalError, AgentHttpError, firstErrorOf } from './failures.ts';

interface ConnectionOptions {
  /** URL of the HTTP API, without a trailing slash. */
  readonly address: string;
  /** Token of the user. */
  readonly token: () => Promise<string>;
  readonly timeoutSeconds: number;
  readonly clock?: Pick<Clock, 'after'>;
}

interface RequestOptions {
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

export interface Connection {
  /** Returns a response of any status. Throws AgentHttpError with status 0 when there is no response. */
  send(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** Returns the parsed JSON body; undefined for an empty one. Throws AgentHttpError for any status but 2xx. */
  request<Answer>(method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { address, token, timeoutSeconds, clock = systemClock } = options;
  const send: Connection['send'] = async (method, path, { query, headers, body } = {}) => {
    const search = query && query.size > 0 ? `?${query}` : '';
    const controller = new AbortController();
    const disarm = clock.after(timeoutSeconds * 1000, () => controller.abort());
    try {
      const response = await fetch(`${address}${path}${search}`, {
        method,
        headers: {
          authorization: `Bearer ${await token()}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'manual',
        signal: controller.signal,
      });
      return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
    } catch (cause) {
      const problem = controller.signal.aborted
        ? `has not answered within ${timeoutSeconds} seconds`
        : 'cannot be reached: has the agent been started, and does it listen at agentUrl?';
      throw new AgentHttpError(`${method} ${path}: ${address} ${problem}`, {}, cause);
    } finally {
      disarm();
    }
  };
  return {
    send,
    async request<Answer>(method: string, path: string, requestOptions?: RequestOptions) {
      const reply = await send(method, path, requestOptions);
      if (reply.status < 200 || reply.status > 299) throw failureOf(`${method} ${path}`, reply);
      return (reply.bytes.length === 0 ? undefined : jsonOf(reply, `${method} ${path}`)) as Answer;
    },
  };
}

/** Converts an error response to an error. `what` is the request, for the message. */
export function failureOf(what: string, { status, bytes }: Reply): AgentHttpError {
  const responseText = bytes.toString('utf8');
  const body = parsed(responseText);
  const { name, code, detail } = firstErrorOf(body) ?? {};
  const message = `${what}: ${status} ${detail ?? (responseText.slice(0, 200) || 'without a message')}${hintOf(status)}`;
  const answer = { status, body, responseText };
  if (name === 'CustomActionRequiresApprovalError') return new ActionRequiresApprovalError(message, answer);
  if (code === 'INVALID_FORM') return new ActionFormValidationError(message, answer);
  return new AgentHttpError(message, answer);
}

/** The most frequent cause of the status. */
function hintOf(status: number): string {
  if (status !== 401) return '';
  return " (The test client's agentServiceAuthSecret must be the agent's authSecret, agentUrl its public address, and the agent's serverUrl a running sandbox.)";
}

function jsonOf(reply: Reply, what: string): unknown {
  const text = reply.bytes.toString('utf8');
  const body = parsed(text);
  if (body !== undefined) return body;
  const { status } = reply;
  const message = `${what}: ${status}, but the answer is not JSON. Is agentUrl the address of the agent's HTTP API?`;
  throw new AgentHttpError(message, { status, responseText: text });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
