// Texts of the OpenAPI document that are not part of a schema: groups, parameters, headers and statuses.

export const apiIntroduction = `HTTP API for the activity logs, admin logs, notes, workflows and tokens of one project.

**Authentication.** Every request needs \`Authorization: Bearer <token>\` with an application token. Create one in the console or with \`portico token create\`. A token belongs to one project, has scopes, can expire and can be revoked. Revoking it takes effect with the next call. Notes, logs and tokens of other users also require the Admin role, which is checked at each call.

**Limits.** Calls of a token are limited per minute, hour and day. Every response to a valid token has \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. A call over a limit returns 429 with \`Retry-After\`: wait that long before the next call.

**Lists.** \`hasMore\` shows whether there is another page. To get it, send the \`nextCursor\` of the response as \`cursor\`, with the same filters. Pages neither skip nor repeat entries, even entries with the same time.

**Errors.** Every error has \`error\` (the meaning of the status), \`message\` (what is wrong and what to send instead) and \`code\` (for programs). Parameters that are unknown, malformed or sent twice return 400 with their names. Names of projects and environments are case-sensitive. A method that a path does not support returns 405 with \`Allow\`. HEAD is answered like GET, without the body.`;

/** By path segment. The last segment in this table applies. */
export const tags: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  token: {
    name: 'Tokens',
    description: 'Application tokens: the token of the call, and for administrators all tokens',
  },
  tokens: {
    name: 'Tokens',
    description: 'Application tokens: the token of the call, and for administrators all tokens',
  },
  notes: { name: 'Notes', description: 'Notes that people and programs attach to records, with their threads' },
  'activity-logs': { name: 'Logs', description: 'Reads and writes of data, and changes to users, roles and teams' },
  'admin-logs': { name: 'Logs', description: 'Reads and writes of data, and changes to users, roles and teams' },
  workflows: { name: 'Workflows', description: 'Workflows and their runs' },
  'workflow-runs': { name: 'Workflows', description: 'Workflows and their runs' },
};

export const otherTag = { name: 'Other', description: 'Other operations' };

const parameters: Readonly<Record<string, string>> = {
  projectName: 'The name of the project of the token, case-sensitive',
  environmentName: 'The name of the environment of the server, case-sensitive',
  limit: 'Maximum number of entries',
  cursor: 'The `nextCursor` of the previous response, with the same filters',
  userEmail: "The person's e-mail address",
  userId: "The person's id",
  teamName: 'The name of the team, case-sensitive',
  collectionName: 'The name of the collection, as in the schema',
  signedId: 'The rest of the webhook URL: copy it completely',
  recordId: 'The id of the record; separate the parts of a composite key with `|`',
};

const comparisons: Readonly<Record<string, string>> = {
  eq: 'At this time',
  lt: 'Before this time',
  lte: 'At this time or earlier',
  gt: 'After this time',
  gte: 'At this time or later',
};

/** `expected`: the parameter's own description, as a fallback. */
export function describeParameter(name: string, expected: string): string {
  const [, field, comparison] = /^(\w+)\.(\w+)$/.exec(name) ?? [];
  if (field !== undefined) return `${comparisons[comparison!] ?? comparison}: \`${field}\``;
  const thing = /^(\w+)Id$/.exec(name)?.[1];
  const condition = parameters[name] ?? (thing === undefined ? undefined : `The id of the ${thing}`);
  return condition ?? `${expected.charAt(0).toUpperCase()}${expected.slice(1)}`;
}

interface Status {
  readonly name: string;
  readonly error: string;
  readonly description: string;
  readonly code: string;
  readonly message: string;
}

/** Each has an example body. For the codes see docs/errors.md. */
export const statuses: Readonly<Record<string, Status>> = {
  400: {
    name: 'BadRequest',
    error: 'Bad request',
    description:
      'A parameter or the body is unknown, malformed or sent twice. `INVALID_ARGUMENT` names it; `INVALID_CURSOR`: the cursor belongs to another query; `MALFORMED_JSON`: the body is not JSON',
    code: 'INVALID_ARGUMENT',
    message: 'limit: expected a whole number from 1 to 100.',
  },
  401: {
    name: 'Unauthorized',
    error: 'Unauthorized',
    description: 'The token is missing, unknown, revoked, expired or for another API: `UNAUTHENTICATED`',
    code: 'UNAUTHENTICATED',
    message: "The token has expired. Create a new one with 'portico token create'.",
  },
  403: {
    name: 'Forbidden',
    error: 'Forbidden',
    description:
      'The token lacks a scope, or its user lacks the Admin role or a permission: the message of `DENIED` names it. `HOST_NOT_ALLOWED`: the server does not accept this Host header',
    code: 'DENIED',
    message: 'The user of the token needs the Admin role on the project.',
  },
  404: {
    name: 'NotFound',
    error: 'Not found',
    description: 'The server does not serve this project or environment, or the resource does not exist: `NOT_FOUND`',
    code: 'NOT_FOUND',
    message: "Not found: project 'Another'.",
  },
  409: {
    name: 'Conflict',
    error: 'Refused',
    description: 'The request conflicts with the current state; the message says why',
    code: 'CONFLICT',
    message: 'The note changed in the meantime. Read it again.',
  },
  413: {
    name: 'TooLarge',
    error: 'Refused',
    description: 'The body is too large: `BODY_TOO_LARGE`',
    code: 'BODY_TOO_LARGE',
    message: 'The request body is larger than 1500000 bytes.',
  },
  429: {
    name: 'TooManyRequests',
    error: 'Too many requests',
    description: 'Too many calls with this token: `RATE_LIMITED`. The call was not executed and is not counted',
    code: 'RATE_LIMITED',
    message: 'Too many requests. Try again in 12 seconds.',
  },
  '4XX': {
    name: 'ClientError',
    error: 'Refused',
    description: 'Any other error of the request',
    code: 'METHOD_NOT_ALLOWED',
    message: 'POST is not allowed here; use GET.',
  },
  '5XX': {
    name: 'ServerError',
    error: 'Unavailable',
    description:
      'The server failed (`INTERNAL`, with an id for its log), or a service that it needs is unavailable (`SOURCE_UNAVAILABLE`, with `Retry-After`): try again later',
    code: 'SOURCE_UNAVAILABLE',
    message: 'The database cannot be reached. Try again later.',
  },
};

export const headers: Readonly<
  Record<string, { readonly name: string; readonly about: string; readonly example: number }>
> = {
  'X-RateLimit-Limit': {
    name: 'RateLimitLimit',
    about: 'Calls allowed in the window with the fewest calls left',
    example: 60,
  },
  'X-RateLimit-Remaining': { name: 'RateLimitRemaining', about: 'Calls left in that window', example: 59 },
  'X-RateLimit-Reset': {
    name: 'RateLimitReset',
    about: 'When that window resets, in seconds since 1970',
    example: 1_769_860_800,
  },
  'Retry-After': { name: 'RetryAfter', about: 'Seconds to wait', example: 12 },
};
