// The platform endpoint: an agent with a `serverUrl` uses the storage of this process. The agent proves that it has the
// secret of the environment (signature.ts). It is then trusted like a process that opens the storage itself, except for
// administration of the installation (methods.ts).
// The method must be POST (405). Then, in order: is the request signed with the secret (401), does the call exist
// (404), is the time current (401), is the nonce new (409), is the body the signed one (401), are the arguments valid
// (400). A client without a valid signature learns no more than that. Every later response is signed, so no
// intermediary can forge one.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { AppError, fail } from '../core/errors.ts';
import { reportFailure } from '../core/observe/failures.ts';
import type { Observe } from '../core/observe.ts';
import { timingSafeEqualText } from '../core/secret.ts';
import { exceedsLimit, readBytes } from '../http/body.ts';
import { sendJsonText } from '../http/reply.ts';
import { calls, type Part, type RemoteCall } from './methods.ts';
import { createNonces, windowMs } from './nonces.ts';
import type { RpcPaths } from './paths.ts';
import { type Greeting, type OwnStore, relayedCalls } from './relayed.ts';
import {
  answerHeader,
  hashOf,
  isSignedBy,
  type Presented,
  readAuthorization,
  scheme,
  signAnswer,
} from './signature.ts';

export interface RpcServerParts {
  readonly store: OwnStore;
  readonly paths: RpcPaths;
  /** Signs requests and responses (`rpcKeyOf`). */
  readonly key: string;
  /**
   * Whether the environment is the served one. Only for a sandbox, because its key does not identify the environment.
   */
  readonly admits?: (environment: string) => boolean;
  /** Additional calls by their path below the endpoint, such as `/v1/sandbox/rights`. */
  readonly more?: Readonly<Record<string, RpcCall>>;
  readonly readAddress: (req: IncomingMessage) => string;
  readonly version: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

export interface RpcServer {
  /** Handles the request and returns true if its path belongs to the endpoint; otherwise returns false. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

export interface RpcCall extends RemoteCall {
  readonly run: (...args: readonly never[]) => unknown;
}

/** The largest bodies are the schema of an agent and a batch of the log. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Why a request is refused. Only clients that proved they have the secret get `detail`. */
interface Refusal {
  readonly status: number;
  readonly refused: string;
  readonly detail?: string;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

export function createRpcServer(parts: RpcServerParts): RpcServer {
  const { store, paths, key, readAddress, clock, observe } = parts;
  const nonces = createNonces(store.windows);
  const all = new Map<string, RpcCall>([
    ...Object.entries(listCalls(store, { protocol: 1, version: parts.version })),
    ...Object.entries(parts.more ?? {}),
  ]);

  const send = (res: ServerResponse, { status, body }: Reply, nonce?: string): void => {
    const text = JSON.stringify(body);
    if (nonce !== undefined) res.setHeader(answerHeader, signAnswer(nonce, status, text, key));
    sendJsonText(res, status, text);
  };

  const refuse = (req: IncomingMessage, res: ServerResponse, refusal: Refusal, nonce?: string): void => {
    const { status, refused, detail } = refusal;
    observe({ type: 'security', event: `platform.${refused}`, address: readAddress(req), ...(detail && { detail }) });
    // RFC 9110 section 15.5.2.
    if (status === 401) res.setHeader('WWW-Authenticate', scheme);
    // The body is not read.
    if (!req.readableEnded) res.setHeader('Connection', 'close');
    const message = 'The request is not signed with the secret of this environment.';
    send(res, { status, body: { refused, detail: nonce === undefined ? message : detail } }, nonce);
  };

  /** Checks time and nonce of a correctly signed request. */
  const findProblem = async (presented: Presented, call: RpcCall): Promise<Refusal | undefined> => {
    const late = clock.now() - presented.time;
    if (Math.abs(late) > windowMs) {
      const detail = `The clocks differ by ${Math.round(Math.abs(late) / 1000)} s: correct the clock of the agent's or the platform's machine.`;
      return { status: 401, refused: 'clock', detail };
    }
    // OWASP, replay: an intercepted request must not work a second time.
    if (await nonces.take(presented.nonce, presented.time, call.effect)) return undefined;
    return { status: 409, refused: 'replayed', detail: 'This request was already sent.' };
  };

  const serve = async (req: IncomingMessage, res: ServerResponse, path: string): Promise<void> => {
    const presented = readAuthorization(req.headers.authorization, path);
    // CWE-347: the client must prove that it has the secret before anything is read or looked up.
    const isOurs =
      presented !== undefined && isSignedBy(presented, key) && (parts.admits?.(presented.environment) ?? true);
    if (!isOurs) return refuse(req, res, { status: 401, refused: 'not-signed' });
    const { nonce } = presented;
    const call = all.get(path);
    if (!call) return refuse(req, res, { status: 404, refused: 'unknown', detail: `There is no call ${path}.` }, nonce);
    const problem = await findProblem(presented, call);
    if (problem) return refuse(req, res, problem, nonce);
    if (exceedsLimit(req, MAX_BODY_BYTES)) fail('BODY_TOO_LARGE', { limitBytes: MAX_BODY_BYTES });
    const body = await readText(req);
    if (!timingSafeEqualText(hashOf(body), presented.body)) {
      return refuse(
        req,
        res,
        { status: 401, refused: 'forged', detail: 'The body does not match the signature.' },
        nonce,
      );
    }
    send(res, await answer(call, body, path), nonce);
  };

  const answer = async (call: RpcCall, body: string, path: string): Promise<Reply> => {
    try {
      const value = await call.run(...(readArguments(body, call, path) as never[]));
      return { status: 200, body: { value } };
    } catch (thrown) {
      const error = reportFailure(observe, `platform ${path}`, thrown);
      return { status: error.status, body: { error: { code: error.code, details: error.details } } };
    }
  };

  return {
    handle(req, res) {
      const path = paths.locate((req.url ?? '/').split('?', 1)[0]!);
      if (path === undefined) return false;
      if (req.method !== 'POST') {
        res.setHeader('Allow', 'POST');
        send(res, { status: 405, body: { refused: 'method' } });
        return true;
      }
      serve(req, res, path).catch((thrown: unknown) => {
        const error = reportFailure(observe, 'platform endpoint', thrown);
        if (res.headersSent) return void res.destroy();
        res.setHeader('Connection', 'close');
        send(res, { status: error.status, body: { refused: error.code.toLowerCase() } });
      });
      return true;
    },
  };
}

/** By path: every method that the table passes on, and those with another wire format. */
function listCalls(store: OwnStore, greeting: Greeting): Record<string, RpcCall> {
  const listed: Record<string, RpcCall> = {
    '/v1/hello': { effect: 'again', takes: [], run: () => greeting },
  };
  for (const [name, { run, ...row }] of Object.entries(relayedCalls)) {
    const relay = run as unknown as (store: OwnStore, ...args: readonly unknown[]) => unknown;
    listed[`/v1/${name}`] = { ...row, run: (...args) => relay(store, ...args) };
  }
  for (const [part, rows] of Object.entries(calls)) {
    for (const [method, row] of Object.entries(rows)) {
      if (typeof row === 'string') continue;
      const owner = store[part as Part] as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
      listed[`/v1/${part}/${method}`] = { ...row, run: (...args) => owner[method]!(...args) };
    }
  }
  return listed;
}

async function readText(req: IncomingMessage): Promise<string> {
  // A body parser of the host application may have run already.
  const parsed = (req as { readonly body?: unknown }).body;
  if (parsed !== undefined && req.readableEnded) return JSON.stringify(parsed);
  return (await readBytes(req, MAX_BODY_BYTES)).toString('utf8');
}

/**
 * By position, to distinguish an omitted argument from null. Throws INVALID_ARGUMENT when the arguments do not match
 * the call.
 */
function readArguments(body: string, { takes }: RemoteCall, path: string): readonly unknown[] {
  const problem = (what: string) => fail('INVALID_ARGUMENT', { argument: path, problem: what });
  let parsed: Readonly<Record<string, unknown>>;
  try {
    parsed = JSON.parse(body) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new AppError('MALFORMED_JSON', { problem: 'it is not valid JSON.' }, cause);
  }
  if (typeof parsed !== 'object' || parsed === null) return problem('expected an object of arguments.');
  const args = takes.map((_, at) => parsed[at]);
  const wrong = takes.findIndex((check, at) => !check(args[at]));
  return wrong < 0 ? args : problem(`argument ${wrong} is not valid for this call.`);
}
