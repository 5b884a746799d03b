// Errors of the test clients. The message contains the request and the response, which shows why a test failed.
// It omits the request body, which may contain a secret.

/** A problem with a value of a form. */
export interface FormProblem {
  /** The id of the field. */
  readonly field: string;
  /** The label that users see. */
  readonly label: string;
  /** A hint on what to send. */
  readonly problem: string;
}

/** An error response of the agent, or a response in an unexpected format. */
export class AgentHttpError extends Error {
  /** The name of the class. */
  override readonly name: string = 'AgentHttpError';
  /** HTTP status; 0 when there was no response. */
  readonly status: number;
  /** Parsed body, if it was JSON. */
  readonly body: unknown;
  /** The body of the response, as text. */
  readonly responseText: string;
  /** Code of the first error in the response, such as DENIED. docs/errors.md lists all codes. */
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

/** The action was not executed: it requires approval first. */
export class ActionRequiresApprovalError extends AgentHttpError {
  /** The name of the class. */
  override readonly name = 'ActionRequiresApprovalError';
  /** Roles that may approve it. */
  readonly roleIdsAllowedToApprove: readonly number[];

  constructor(message: string, answer: Pick<AgentHttpError, 'status' | 'body' | 'responseText'>) {
    super(message, answer);
    const roles = firstErrorOf(answer.body)?.data?.roleIdsAllowedToApprove;
    this.roleIdsAllowedToApprove = Array.isArray(roles) ? roles : [];
  }
}

/** The action was not executed: values of its form are missing or wrong. */
export class ActionFormValidationError extends AgentHttpError {
  /** The name of the class. */
  override readonly name = 'ActionFormValidationError';
  /** The problems of all fields. */
  readonly problems: readonly FormProblem[];

  constructor(message: string, answer: Pick<AgentHttpError, 'status' | 'body' | 'responseText'>) {
    super(message, answer);
    const fieldProblems = firstErrorOf(answer.body)?.data?.fields;
    this.problems = Array.isArray(fieldProblems) ? fieldProblems : [];
  }
}

/** The form has no such field with its current values. */
export class UnknownActionFieldError extends Error {
  /** The name of the class. */
  override readonly name = 'UnknownActionFieldError';
  /** The name that the form does not have. */
  readonly field: string;
  /** Names of the fields that it has. */
  readonly fields: readonly string[];

  constructor(message: string, field: string, fields: readonly string[]) {
    super(message);
    this.field = field;
    this.fields = fields;
  }
}

/** A JSON:API error object from the agent's HTTP API. */
interface ErrorObject {
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
