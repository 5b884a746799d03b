// The server's end: another process of the installation, an agent with a `serverUrl`, asks for what the storage keeps. It
// shows that it has the secret of the environment (signature.ts), and is trusted then as much as a process that opens the
// storage itself, but for what administers the installation (calls.ts). The checks, in order: does the door know this path
// (404), the method (405), is the request signed with the secret (401), is it of now (401), was its number used before (409),
// is its body the one that was signed (401), are its arguments what the call takes (400). Who fails the signature learns
// nothing else; every answer after it is signed, so that nobody between the two can write one.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { AppError, fail, isAppError, toAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomId, sameText } from '../core/secret.ts';
import { announcesTooMuch, readBytes } from '../oauth/body.ts';
import { sendJsonText } from '../oauth/reply.ts';
import { calls, type Part, type Passed } from './calls.ts';
import { createNonces, windowMs } from './nonces.ts';
import type { DoorPaths } from './paths.ts';
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

export interface DoorParts {
  readonly store: OwnStore;
  readonly paths: DoorPaths;
  /** What requests and answers are signed with (`doorKeyOf`). */
  readonly key: string;
  /** Whether an environment is the one that is served; of a sandbox alone, where the key does not say it. */
  readonly admits?: (environment: string) => boolean;
  /** Further calls, by their path below the door such as `/v1/sandbox/rights`. */
  readonly more?: Readonly<Record<string, DoorCall>>;
  readonly readAddress: (req: IncomingMessage) => string;
  readonly version: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

export interface Door {
  /** Takes the request and answers true when its path is ours; otherwise does nothing and answers false. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

export interface DoorCall extends Passed {
  readonly run: (...args: readonly never[]) => unknown;
}

/** The largest are the schema of an agent and a batch of the log. */
const BODY_MOST_BYTES = 32 * 1024 * 1024;

/** Why a request is refused at the door; `detail` is told to who showed that he has the secret. */
interface Refusal {
  readonly status: number;
  readonly refused: string;
  readonly detail?: string;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

export function createDoor(parts: DoorParts): Door {
  const { store, paths, key, readAddress, clock, observe } = parts;
  const nonces = createNonces(store.windows);
  const all = new Map<string, DoorCall>([
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
    // What was sent is of no interest, and is not read.
    if (!req.readableEnded) res.setHeader('Connection', 'close');
    const open = 'The request is not signed with the secret of this environment.';
    send(res, { status, body: { refused, detail: nonce === undefined ? open : detail } }, nonce);
  };

  /** What is wrong with a request that is signed as it should be. */
  const findProblem = async (shown: Presented, call: DoorCall): Promise<Refusal | undefined> => {
    const late = clock.now() - shown.time;
    if (Math.abs(late) > windowMs) {
      const detail = `The clocks differ by ${Math.round(Math.abs(late) / 1000)} s: set that of the agent's machine or of the platform's.`;
      return { status: 401, refused: 'clock', detail };
    }
    // OWASP, replay: what was heard on the way opens nothing a second time.
    if (await nonces.take(shown.nonce, shown.time, call.effect)) return undefined;
    return { status: 409, refused: 'replayed', detail: 'This request has come before.' };
  };

  const serve = async (req: IncomingMessage, res: ServerResponse, path: string): Promise<void> => {
    const shown = readAuthorization(req.headers.authorization, path);
    // CWE-347: before anything is read or looked up, whoever asks has shown that he has the secret.
    const isOurs = shown !== undefined && isSignedBy(shown, key) && (parts.admits?.(shown.environment) ?? true);
    if (!isOurs) return refuse(req, res, { status: 401, refused: 'not-signed' });
    const { nonce } = shown;
    const call = all.get(path);
    if (!call) return refuse(req, res, { status: 404, refused: 'unknown', detail: `There is no call ${path}.` }, nonce);
    const problem = await findProblem(shown, call);
    if (problem) return refuse(req, res, problem, nonce);
    if (announcesTooMuch(req, BODY_MOST_BYTES)) fail('BODY_TOO_LARGE', { limitBytes: BODY_MOST_BYTES });
    const body = await readText(req);
    if (!sameText(hashOf(body), shown.body)) {
      return refuse(
        req,
        res,
        { status: 401, refused: 'forged', detail: 'The body is not the one that was signed.' },
        nonce,
      );
    }
    send(res, await answer(call, body, path), nonce);
  };

  const answer = async (call: DoorCall, body: string, path: string): Promise<Reply> => {
    try {
      const value = await call.run(...(readArguments(body, call, path) as never[]));
      return { status: 200, body: { value } };
    } catch (thrown) {
      const error = toAppError(thrown, randomId());
      if (isAppError(error, 'INTERNAL')) {
        const { requestId } = error.details;
        observe({ type: 'failure', where: `platform ${path}`, requestId, cause: thrown });
      }
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
        const error = toAppError(thrown, randomId());
        if (error.code === 'INTERNAL')
          observe({ type: 'failure', where: 'platform door', requestId: randomId(), cause: thrown });
        if (res.headersSent) return void res.destroy();
        res.setHeader('Connection', 'close');
        send(res, { status: error.status, body: { refused: error.code.toLowerCase() } });
      });
      return true;
    },
  };
}

/** By path: every method that the table passes, and those with a form of their own. */
function listCalls(store: OwnStore, greeting: Greeting): Record<string, DoorCall> {
  const listed: Record<string, DoorCall> = {
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
  // A body parser of the host application may have been here before us.
  const parsed = (req as { readonly body?: unknown }).body;
  if (parsed !== undefined && req.readableEnded) return JSON.stringify(parsed);
  return (await readBytes(req, BODY_MOST_BYTES)).toString('utf8');
}

/** By position, so that one that is left out is not null. INVALID_ARGUMENT when they are not what the call takes. */
function readArguments(body: string, { takes }: Passed, path: string): readonly unknown[] {
  const problem = (what: string) => fail('INVALID_ARGUMENT', { argument: path, problem: what });
  let given: Readonly<Record<string, unknown>>;
  try {
    given = JSON.parse(body) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new AppError('MALFORMED_JSON', { problem: 'it does not parse.' }, cause);
  }
  if (typeof given !== 'object' || given === null) return problem('expected an object of arguments.');
  const args = takes.map((_, at) => given[at]);
  const wrong = takes.findIndex((check, at) => !check(args[at]));
  return wrong < 0 ? args : problem(`argument ${wrong} is not what this call takes.`);
}
