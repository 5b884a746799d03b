// What the test clients throw. The text says what the agent answered, and to what, so that a test that fails needs no
// debugger; what was sent is left out, since it may be a secret.

/** What is wrong with a value of a form. */
export interface FormProblem {
  readonly field: string;
  readonly label: string;
  /** What to send. */
  readonly problem: string;
}

/** The agent answered something else than what was asked for. */
export class AgentHttpError extends Error {
  override readonly name: string = 'AgentHttpError';
  /** HTTP; 0 when there was no answer. */
  readonly status: number;
  /** Parsed, where it was JSON. */
  readonly body: unknown;
  readonly responseText: string;
  /** Of the first error of the answer, such as DENIED: docs/errors.md has them all. */
  readonly code: string | undefined;

  constructor(
    message: string,
    answer: Partial<Pick<AgentHttpError, 'status' | 'body' | 'responseText'>>,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = answer.status ?? 0;
    this.body = answer.body;
    this.responseText = answer.responseText ?? '';
    this.code = firstErrorOf(answer.body)?.code;
  }
}

/** The action was not executed: somebody has to approve it first. */
export class ActionRequiresApprovalError extends AgentHttpError {
  override readonly name = 'ActionRequiresApprovalError';
  /** Of the roles whose people may. */
  readonly roleIdsAllowedToApprove: readonly number[];

  constructor(message: string, answer: Pick<AgentHttpError, 'status' | 'body' | 'responseText'>) {
    super(message, answer);
    const roles = firstErrorOf(answer.body)?.data?.roleIdsAllowedToApprove;
    this.roleIdsAllowedToApprove = Array.isArray(roles) ? roles : [];
  }
}

/** The action was not executed: values of its form are missing or wrong. */
export class ActionFormValidationError extends AgentHttpError {
  override readonly name = 'ActionFormValidationError';
  readonly problems: readonly FormProblem[];

  constructor(message: string, answer: Pick<AgentHttpError, 'status' | 'body' | 'responseText'>) {
    super(message, answer);
    const given = firstErrorOf(answer.body)?.data?.fields;
    this.problems = Array.isArray(given) ? given : [];
  }
}

/** The form has no such field, with the values that it has now. */
export class UnknownActionFieldError extends Error {
  override readonly name = 'UnknownActionFieldError';
  readonly field: string;
  /** Those that there are. */
  readonly fields: readonly string[];

  constructor(message: string, field: string, fields: readonly string[]) {
    super(message);
    this.field = field;
    this.fields = fields;
  }
}

/** An error object of JSON:API, as the agent's HTTP API makes them. */
export interface ErrorObject {
  readonly name?: string;
  readonly detail?: string;
  readonly status?: number;
  readonly code?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export function firstErrorOf(body: unknown): ErrorObject | undefined {
  const { errors } = (body ?? {}) as { readonly errors?: unknown };
  return Array.isArray(errors) ? (errors[0] as ErrorObject | undefined) : undefined;
}
