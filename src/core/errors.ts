// Every error that a caller can meet is one row of a table: code, HTTP status, typed details and a safe message. Any
// user may see `message`. The internal reason goes into `cause`, which only the log shows. Adapters (api/answer.ts,
// mcp/results/result.ts, the authorization server) convert errors; domain code only throws. docs/errors.md lists the
// same codes, and a test compares the two.

interface Row<D> {
  readonly status: number;
  readonly say: (details: D) => string;
}

type Near = { readonly near: readonly string[] };
const near = ({ near }: Near): string => (near.length ? ` Near: ${near.join(', ')}.` : '');
const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

/** A problem with one field of a record to write. */
export interface FieldProblem {
  readonly field: string;
  /** A sentence: what is wrong, or what to send instead. */
  readonly problem: string;
}

const clipped = (text: string): string => (text.length > 100 ? `${text.slice(0, 97)}...` : text);

const table = {
  UNKNOWN_COLLECTION: {
    status: 404,
    say: (d: { collection: string } & Near) =>
      `No collection '${d.collection}'.${near(d)} Call describeCollection without a name for the list.`,
  },
  UNKNOWN_FIELD: {
    status: 400,
    say: (d: { collection: string; field: string } & Near) =>
      `'${d.collection}' has no field '${d.field}'.${near(d)} Call describeCollection for all fields.`,
  },
  RELATION_NEEDS_FIELD: {
    status: 400,
    say: (d: { collection: string; relation: string; example: string; form?: string }) =>
      d.form === undefined
        ? `'${d.relation}' of '${d.collection}' is a relation: name one of its fields, such as '${d.example}'.`
        : `'${d.relation}' of '${d.collection}' is a relation: to filter by its record send ${d.form}, or name one of its fields, '${d.example}'.`,
  },
  RELATION_TO_MANY: {
    status: 400,
    say: (d: { collection: string; relation: string; foreign: string; back?: string; form?: string }) =>
      d.form !== undefined
        ? `'${d.relation}' of '${d.collection}' leads to many records: to filter by them send ${d.form}.`
        : `'${d.relation}' of '${d.collection}' leads to many records. Lists show and sort by figures of them, such as {"name":"n","count":"${d.relation}"} in fields. Query '${d.foreign}' instead${d.back === undefined ? '' : `, where '${d.back}' leads back to '${d.collection}'`}.`,
  },
  AMBIGUOUS_FILTER: {
    status: 400,
    say: (d: { problem: string; forms: readonly unknown[] }) => d.problem,
  },
  UNKNOWN_RELATION: {
    status: 404,
    say: (d: { collection: string; relation: string } & Near) =>
      `'${d.collection}' has no relation '${d.relation}'.${near(d)}`,
  },
  UNKNOWN_SEGMENT: {
    status: 400,
    say: (d: { collection: string; segment: string } & Near) =>
      `'${d.collection}' has no segment '${d.segment}'.${near(d)} Leave it out for all records.`,
  },
  NOT_COUNTABLE: {
    status: 400,
    say: (d: { collection: string }) =>
      `'${d.collection}' cannot be counted. List it: the answer says whether there are more records.`,
  },
  UNKNOWN_OPERATOR: {
    status: 400,
    say: (d: { operator: string } & Near) => `No operator '${d.operator}'.${near(d)}`,
  },
  OPERATOR_NOT_ALLOWED: {
    status: 400,
    say: (d: { collection: string; field: string; operator: string; allowed: readonly string[] }) =>
      `'${d.operator}' cannot be used on '${d.field}' of '${d.collection}'. Allowed: ${d.allowed.join(', ')}.`,
  },
  FIELD_NOT_SORTABLE: {
    status: 400,
    say: (d: { collection: string; field: string; sortable: readonly string[] }) =>
      `'${d.collection}' cannot be sorted by '${d.field}'. Sortable: ${d.sortable.slice(0, 20).join(', ') || 'no field'}.`,
  },
  INVALID_VALUE: {
    status: 400,
    say: (d: { at: string; expected: string; got: unknown }) => `${d.at}: expected ${d.expected}, got ${shown(d.got)}.`,
  },
  INVALID_ARGUMENT: {
    status: 400,
    say: (d: { argument: string; problem: string }) => `${d.argument}: ${d.problem}`,
  },
  INVALID_CURSOR: {
    status: 400,
    say: () =>
      'This cursor does not belong to this query. Repeat the call that returned it with the same arguments, or start again without a cursor.',
  },
  INVALID_RECORD: {
    status: 400,
    say: (d: { collection: string; problems: readonly FieldProblem[] }) =>
      `Nothing was written to '${d.collection}'. ${d.problems.map(({ field, problem }) => `${field}: ${problem}`).join(' ')}`,
  },
  RECORD_IN_USE: {
    status: 409,
    say: (d: { collection: string; verb: string }) =>
      `Nothing was written to '${d.collection}': other records reference a record that this would ${d.verb}. Delete those records or remove their links first.`,
  },
  WRITE_CONFLICT: {
    status: 409,
    /** `kept`: the records exist, but the statement did not affect them. */
    say: (d: { collection: string; kept?: boolean }) =>
      `Nothing was written to '${d.collection}': ${d.kept ? 'another transaction wrote there at the same time, or a trigger or policy of the database prevents the change. Try again once' : 'another transaction wrote there at the same time. Try again'}.`,
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    say: (d: { tool: string }) =>
      `This idempotencyKey was already sent to '${d.tool}' with other arguments. Use a new key for a new call.`,
  },
  IDEMPOTENCY_KEY_BUSY: {
    status: 409,
    say: () => 'The call with this idempotencyKey is still in progress. Repeat it in a moment for its answer.',
  },
  OUTCOME_UNKNOWN: {
    status: 409,
    /** `write`: the write of this call. `key`: the first call with this idempotency key. */
    say: (d: { of: 'write' | 'key' }) =>
      d.of === 'write'
        ? 'The database did not confirm whether this write was done: the connection was lost, or the time limit was reached, during its commit. Do not repeat the call blindly. Check the records first, and call again only if it was not done.'
        : 'An earlier call with this idempotencyKey was interrupted: it may have been done or not. Check with list. If it was not done, call again with a new key.',
  },
  ANSWER_WITHHELD: {
    status: 403,
    say: () =>
      'This call was already done. Your permissions have changed since then, so its answer is not returned again. Check the records with list.',
  },
  NOT_APPROVED: {
    status: 403,
    say: (d: { how: 'declined' | 'unanswered' | 'denied' }) =>
      `The call was not executed: ${{ declined: 'the person who was asked declined', unanswered: 'the person who was asked did not answer', denied: 'the request for this call was denied' }[d.how]}. Do not try again, in this or another way, unless you are asked to.`,
  },
  NEEDS_APPROVAL: {
    status: 403,
    say: (d: { verb: string; collection: string; action?: string; roleIdsAllowedToApprove: readonly number[] }) =>
      `The call was not executed: approval in the console is required to ${d.verb} '${d.collection}', and cannot be requested here. Make this change through an assistant: its request is decided in the console.`,
  },
  APPROVAL_OVERTAKEN: {
    status: 409,
    say: () =>
      'The call was not executed: the records, or your permissions, changed after the approval was requested. Check the records, then call again for a new approval.',
  },
  INVALID_APPROVAL: {
    status: 400,
    say: () =>
      'The call was not executed: this approval is for another call, was already used, or has expired. Call again without requestState.',
  },
  TOO_MANY_APPROVALS: {
    status: 429,
    say: () =>
      'The call was not executed: too many of your calls are waiting for approval. Have those approved or denied first.',
  },
  READ_ONLY: {
    status: 403,
    say: (d: { collection: string; why: string }) => `'${d.collection}' cannot be written: ${d.why}`,
  },
  FORBIDDEN: {
    status: 403,
    say: (d: { verb: string; collection: string; why?: string }) =>
      `You may not ${d.verb} '${d.collection}'${typeof d.why === 'string' ? `: ${d.why}` : '. An administrator can allow it.'}`,
  },
  RECORD_NOT_FOUND: {
    status: 404,
    /** `relation`: the records may exist, but this relation does not link them to the record. */
    say: (d: { collection: string; id: string; missing?: readonly string[]; relation?: string }) =>
      d.relation !== undefined
        ? `No records were removed: ${(d.missing ?? [d.id]).map((id) => `'${id}'`).join(', ')} of '${d.collection}' ${(d.missing?.length ?? 1) > 1 ? 'are' : 'is'} not in '${d.relation}' of this record, or you may not see it. List its '${d.relation}' to see the linked records.`
        : (d.missing?.length ?? 0) > 1
          ? `No records ${d.missing!.map((id) => `'${id}'`).join(', ')} in '${d.collection}', or you may not see them.`
          : `No record '${d.id}' in '${d.collection}', or you may not see it.`,
  },
  UNKNOWN_ACTION: {
    status: 404,
    say: (d: { collection: string; action: string } & Near) =>
      `'${d.collection}' has no action '${d.action}'.${near(d)}`,
  },
  INVALID_FORM: {
    status: 400,
    say: (d: { action: string; fields: readonly { field: string; label: string; problem: string }[] }) =>
      `Nothing was done: the form of '${d.action}' has ${d.fields.length === 1 ? 'a problem' : `${d.fields.length} problems`}. ${d.fields.map(({ label, problem }) => `'${label}': ${problem}.`).join(' ')}`,
  },
  ACTION_REFUSED: { status: 422, say: (d: { message: string }) => d.message },
  ACTION_FAILED: {
    status: 500,
    say: (d: { collection: string; action: string; part: string }) =>
      `The code of the action '${d.action}' of '${d.collection}' failed (${d.part}). Tell the operator; the log has the cause.`,
  },
  FILE_GONE: {
    status: 404,
    say: (d: { next: string }) => `This URL is unknown, or it has expired after 15 minutes. ${d.next}`,
  },
  FILE_SENT: {
    status: 409,
    say: () => 'A file was already sent to this URL. Call requestActionFileUpload for another.',
  },
  TOO_MANY_FILES: {
    status: 429,
    say: (d: { limit: number }) => `You have ${d.limit} pending files. Use those, or wait until they expire.`,
  },
  UNKNOWN_TOOL: {
    status: 404,
    say: (d: { tool: string } & Near) => `No tool '${d.tool}'.${near(d)}`,
  },
  UNKNOWN_WORKFLOW: {
    status: 404,
    say: (d: { workflow: string }) =>
      `There is no workflow '${clipped(d.workflow)}' that can be started. Call listWorkflows for the list.`,
  },
  UNKNOWN_RUN: {
    status: 404,
    say: (d: { run: string }) => `There is no run '${clipped(d.run)}', or you may not see it.`,
  },
  RUN_ONGOING: {
    status: 409,
    say: (d: { run: string }) =>
      `A run of this workflow on this record is not over: ${d.run}. Nothing was started. Look at that run, and start another when it is over.`,
  },
  TRIGGER_KEY_REUSED: {
    status: 409,
    say: () =>
      'This Idempotency-Key (or webhook-id) was already sent to this webhook for another record. Use a new key for a new run.',
  },
  INVALID_WEBHOOK_ADDRESS: {
    status: 400,
    say: () =>
      'Invalid webhook URL: it is incomplete, modified, or has been regenerated. Copy it again from the settings of the trigger.',
  },
  UNKNOWN_WEBHOOK: { status: 404, say: (d: { problem: string }) => d.problem },
  UNKNOWN_CHART: { status: 404, say: (d: { chart: string } & Near) => `No chart '${d.chart}'.${near(d)}` },
  CHART_FAILED: {
    status: 500,
    say: (d: { chart: string }) =>
      `The code of the chart '${d.chart}' failed, not your call. Tell the operator; the log has the cause.`,
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    /** `scopes`: what the client should request to add this scope to those it already has. */
    say: (d: { tool: string; scope: string; scopes: readonly string[] }) =>
      `'${d.tool}' needs the OAuth scope ${d.scope}. Sign in again and allow it.`,
  },
  UNAUTHENTICATED: { status: 401, say: (d: { problem: string }) => d.problem },
  SSO_UNAVAILABLE: {
    status: 503,
    say: (d: { name: string }) =>
      `${d.name} cannot verify who you are at the moment. Try again shortly. If the problem persists, tell the operator.`,
  },
  /** `why` is only for the log. */
  SSO_REFUSED: { status: 403, say: (d: { problem: string; why?: string }) => d.problem },
  INVALID_DPOP_PROOF: {
    status: 401,
    say: (d: { problem: string }) => `Invalid DPoP proof: ${d.problem} Create a new one for each request.`,
  },
  RATE_LIMITED: {
    status: 429,
    say: (d: { retryAfterSeconds: number }) => `Too many requests. Try again in ${d.retryAfterSeconds} s.`,
  },
  BODY_TOO_LARGE: {
    status: 413,
    say: (d: { limitBytes: number }) => `The request body is larger than ${d.limitBytes} bytes.`,
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, say: () => 'Send the body as Content-Type: application/json.' },
  MALFORMED_JSON: { status: 400, say: (d: { problem: string }) => `The request body is not usable JSON: ${d.problem}` },
  NOT_FOUND: { status: 404, say: (d: { path: string }) => `Not found: ${clipped(d.path)}.` },
  METHOD_NOT_ALLOWED: {
    status: 405,
    say: (d: { method: string; allow: readonly string[] }) =>
      `${d.method} is not allowed here; use ${d.allow.join(' or ')}.`,
  },
  HOST_NOT_ALLOWED: { status: 403, say: () => 'This Host is not allowed. Set SERVICE_ALLOWED_HOSTS to add it.' },
  ADDRESS_NOT_ALLOWED: {
    status: 403,
    say: (d: { address: string }) =>
      `Requests from ${d.address || 'an unknown address'} are not allowed. The operator of this server can add the address to its allow-list.`,
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    say: (d: { setting?: string }) =>
      `This Origin is not allowed. Set ${d.setting ?? 'SERVICE_ALLOWED_ORIGINS'} to add it.`,
  },
  TOO_MANY_ROWS: {
    status: 422,
    say: (d: { collection: string; field: string; limit: number; cure?: string }) =>
      `The database cannot evaluate '${d.field}' of '${d.collection}', and more than ${d.limit} records would have to be read. ${d.cure ? `Solution: ${d.cure}.` : 'Narrow the filter, or give the field a replaceFieldOperator.'}`,
  },
  TOO_MANY_QUERIES: {
    status: 429,
    say: (d: { waiting: number }) =>
      `${d.waiting} of your queries are already waiting. Wait for their answers, and send fewer at once.`,
  },
  ANSWER_TOO_LARGE: {
    status: 422,
    say: (d: { megabytes: number }) =>
      `The requested records contain more than ${d.megabytes} MB. Ask for fewer fields or a smaller page, or narrow the filter.`,
  },
  NO_AI_PROVIDER: {
    status: 404,
    say: () => 'This server has no AI provider. The operator can add one with addAi(createAiProvider(...)).',
  },
  AI_KEY_REFUSED: {
    status: 502,
    say: (d: { provider: string }) =>
      `The AI provider '${d.provider}' rejects the key of this server, or does not accept it for this model. Tell the operator.`,
  },
  AI_RATE_LIMITED: {
    status: 429,
    say: (d: { provider: string; retryAfterSeconds: number | null }) =>
      `The AI provider '${d.provider}' accepts no more requests at the moment. Try again ${d.retryAfterSeconds === null ? 'later' : `in ${d.retryAfterSeconds} s`}.`,
  },
  AI_REFUSED: {
    status: 502,
    say: (d: { provider: string; status: number }) =>
      `The AI provider '${d.provider}' rejected the request (status ${d.status}). Tell the operator; the log has the cause.`,
  },
  AI_TIMED_OUT: {
    status: 504,
    say: (d: { provider: string; seconds: number }) =>
      `The AI provider '${d.provider}' did not answer within ${d.seconds} s. Ask for less, or try again.`,
  },
  AI_UNAVAILABLE: {
    status: 503,
    say: (d: { provider: string }) =>
      `The AI provider '${d.provider}' cannot be reached, or returns invalid answers. Try again shortly.`,
  },
  STEP_FAILED: { status: 422, say: (d: { step: string; problem: string }) => `The step '${d.step}': ${d.problem}` },
  TOO_MANY_STEPS: {
    status: 422,
    say: (d: { limit: number }) =>
      `The run was ended after ${d.limit} steps. Check whether the steps of the workflow form a loop.`,
  },
  ANSWER_TIMED_OUT: {
    status: 422,
    say: (d: { step: string }) => `The step '${d.step}' was not answered in time. Start the workflow again.`,
  },
  STEP_DECLINED: {
    status: 422,
    say: (d: { step: string }) => `A person rejected the step '${d.step}': it was not executed, and the run ended.`,
  },
  STEP_UNCERTAIN: {
    status: 422,
    say: (d: { step: string }) =>
      `It is unknown whether the step '${d.step}' was executed, and a person ended the run. Check the record.`,
  },
  UNKNOWN_REMOTE_SERVER: {
    status: 404,
    say: (d: { server: string } & Near) =>
      `No remote server '${d.server}'.${near(d)} An administrator can add servers on the console's page Remote servers.`,
  },
  UNKNOWN_REMOTE_TOOL: {
    status: 404,
    say: (d: { server: string; tool: string } & Near) =>
      `The remote server '${d.server}' has no tool '${d.tool}'.${near(d)} Correct the step.`,
  },
  REMOTE_TOOL_NOT_ALLOWED: {
    status: 403,
    say: (d: { server: string; tool: string; why: string }) =>
      `The tool '${d.tool}' of the remote server '${d.server}' was not called: ${d.why}`,
  },
  REMOTE_RECONNECT: {
    status: 403,
    say: (d: { server: string }) =>
      `The remote server '${d.server}' requires an account of the user of the run. Connect it on the console's page Remote servers.`,
  },
  REMOTE_UNAVAILABLE: {
    status: 502,
    say: (d: { server: string; problem: string }) =>
      `The remote server '${d.server}' failed: ${d.problem} Try again shortly.`,
  },
  REMOTE_REFUSED: {
    status: 502,
    say: (d: { server: string; problem: string }) =>
      `The remote server '${d.server}' refused the call: ${d.problem} The call was not executed.`,
  },
  REMOTE_TOOL_FAILED: {
    status: 422,
    say: (d: { server: string; tool: string }) =>
      `The tool '${d.tool}' of the remote server '${d.server}' reported an error. The page of the run shows its user the cause; check on the server what was done.`,
  },
  REFUSED: { status: 422, say: (d: { problem: string }) => d.problem },
  DENIED: { status: 403, say: (d: { problem: string }) => d.problem },
  FAILED_AFTER_WRITE: {
    status: 500,
    say: (d: { collection: string; why: string }) =>
      `The write to '${d.collection}' was saved, but the operator's code failed after it: ${d.why} Do not repeat the call; check the records with list.`,
  },
  CUSTOMIZATION_FAILED: {
    status: 500,
    say: (d: { what: string }) =>
      `Code of the operator failed: ${d.what}. Your call is not the cause. Leave out what needs this code, or tell the operator.`,
  },
  TIMED_OUT: {
    status: 504,
    /** Null when the database stopped the query because of its own, shorter limit. */
    say: (d: { seconds: number | null; advice?: string }) =>
      `The query took longer than ${d.seconds === null ? 'the database allows' : `${d.seconds} s`} and was stopped. ${d.advice ?? 'Narrow the filter or sort by an indexed field.'}`,
  },
  CALL_TIMED_OUT: {
    status: 504,
    say: (d: { seconds: number }) =>
      `The call took longer than ${d.seconds} s and was stopped. Ask for less in one call, such as fewer records.`,
  },
  CANCELLED: { status: 499, say: () => 'The call was cancelled.' },
  SOURCE_UNAVAILABLE: {
    status: 503,
    /** `problem`: details for the operator who starts the server. */
    say: (d: { problem?: string }) =>
      d.problem ??
      'The database cannot be reached at the moment. Try again shortly. If the problem persists, tell the operator: the log has the cause.',
  },
  /** Neither the call nor its values caused the error. The log has the error of the database. */
  DATABASE_FAILED: {
    status: 502,
    say: (d: { problem: string }) => `The database could not do this: ${d.problem}`,
  },
  PLATFORM_UNAVAILABLE: {
    status: 503,
    say: () =>
      'The server that keeps users, permissions and the log cannot be reached at the moment. Try again shortly. If the problem persists, tell the operator.',
  },
  NOT_READY: { status: 503, say: () => 'The server is starting or stopping. Try again shortly.' },
  CONFIGURATION: { status: 500, say: (d: { problem: string }) => d.problem },
  INTERNAL: {
    status: 500,
    say: (d: { requestId: string }) =>
      `An internal error occurred; your call is not the cause. Tell the operator: request ${d.requestId}.`,
  },
} as const satisfies Record<string, Row<never>>;

/** The codes of docs/errors.md. */
export type ErrorCode = keyof typeof table;
export type ErrorDetails<C extends ErrorCode> =
  Parameters<(typeof table)[C]['say']> extends [infer D] ? D : Record<string, never>;

export const errorCodes = Object.keys(table) as readonly ErrorCode[];

/** The only error that domain code throws on purpose. `cause` is for the log, never for a client. */
export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  /** The code, as docs/errors.md lists it. */
  readonly code: C;
  /** The facts of the message, by name. */
  readonly details: ErrorDetails<C>;

  constructor(code: C, details: ErrorDetails<C>, cause?: unknown) {
    const say = table[code].say as (details: ErrorDetails<C>) => string;
    super(say(details), cause === undefined ? undefined : { cause });
    this.name = 'AppError';
    this.code = code;
    this.details = details;
  }

  /** The HTTP status of the code. */
  get status(): number {
    return table[this.code].status;
  }
}

export function fail<C extends ErrorCode>(code: C, details: ErrorDetails<C>, cause?: unknown): never {
  throw new AppError(code, details, cause);
}

export function isAppError<C extends ErrorCode>(error: unknown, code?: C): error is AppError<C> {
  return error instanceof AppError && (code === undefined || error.code === code);
}

const registeredErrors = new WeakMap<object, AppError>();

/**
 * Registers the AppError that `toAppError` returns for an error of a library. For errors that cannot be replaced where
 * they are thrown.
 */
export function registerAppError(error: object, appError: AppError): void {
  registeredErrors.set(error, appError);
}

/**
 * Converts any throwable to an error that users may see. An AppError is returned unchanged, and an error passed to
 * `registerAppError` becomes its AppError. All others become INTERNAL, with the request id and without their text.
 */
export function toAppError(error: unknown, requestId: string): AppError {
  if (error instanceof AppError) return error;
  const registered = typeof error === 'object' && error !== null ? registeredErrors.get(error) : undefined;
  return registered ?? new AppError('INTERNAL', { requestId }, error);
}
