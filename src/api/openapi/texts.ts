// Texts of the OpenAPI document that are not part of a schema: groups, parameters, headers and statuses.

export const introduction = `Activity logs, admin logs, notes, workflows and tokens of one project, for programs.

**Authentication.** Every request carries \`Authorization: Bearer <token>\` with an application token, which a person makes in the console or by \`portico token create\`. A token belongs to one project, has scopes, can expire and can be revoked, which the next call feels. Notes, logs and tokens of others also need the Admin role, asked at each call.

**Limits.** Calls of a token are counted in a minute, an hour and a day. Every answer to a token that counts has \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. A call too many is 429 with \`Retry-After\`: wait so long, and the next call is let in.

**Lists.** \`hasMore\` says whether there is more. Send the \`nextCursor\` of the answer as \`cursor\`, with the same filters, for what follows: nothing is lost or comes twice, also where times are equal.

**Errors.** Every error has \`error\` (what the status means), \`message\` (what to do about it) and \`code\` (for programs). Parameters that are unknown, malformed or sent twice are 400 and named. Names of projects and environments are case sensitive. A method that a path does not have is 405 with \`Allow\`; HEAD is answered as GET, without the body.`;

/** By path segment. The last segment in this table applies. */
export const tags: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  token: { name: 'Tokens', description: 'Application tokens: what one is, and for administrators all of them' },
  tokens: { name: 'Tokens', description: 'Application tokens: what one is, and for administrators all of them' },
  notes: { name: 'Notes', description: 'Notes that people and programs attach to records, with their threads' },
  'activity-logs': { name: 'Logs', description: 'Who did what: with the data, and with users, roles and teams' },
  'admin-logs': { name: 'Logs', description: 'Who did what: with the data, and with users, roles and teams' },
  workflows: { name: 'Workflows', description: 'Workflows and their runs' },
  'workflow-runs': { name: 'Workflows', description: 'Workflows and their runs' },
};

export const otherTag = { name: 'Other', description: 'What belongs to no group' };

const parameters: Readonly<Record<string, string>> = {
  projectName: 'The name of the project of the token. Case sensitive',
  environmentName: 'The name of the environment that is served. Case sensitive',
  limit: 'How many at most',
  cursor: 'The `nextCursor` of the answer before, with the same filters',
  userEmail: "The person's e-mail address",
  userId: "The person's id",
  teamName: 'The name of the team. Case sensitive',
  collectionName: 'The name of the collection, as in the schema',
  signedId: 'What follows in the address of the webhook: copy it whole',
  recordId: 'The id of the record; keys of several columns have `|` between the values',
};

const comparisons: Readonly<Record<string, string>> = {
  eq: 'At this time',
  lt: 'Before this time',
  lte: 'At this time or before',
  gt: 'After this time',
  gte: 'At this time or after',
};

/** `expected`: the parameter's own description, as a fallback. */
export function describeParameter(name: string, expected: string): string {
  const [, field, comparison] = /^(\w+)\.(\w+)$/.exec(name) ?? [];
  if (field !== undefined) return `${comparisons[comparison!] ?? comparison}: \`${field}\``;
  const thing = /^(\w+)Id$/.exec(name)?.[1];
  const told = parameters[name] ?? (thing === undefined ? undefined : `The id of the ${thing}`);
  return told ?? `${expected.charAt(0).toUpperCase()}${expected.slice(1)}`;
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
      'A parameter or the body is unknown, malformed or sent twice. `INVALID_ARGUMENT` names it; `INVALID_CURSOR`: the cursor is of another query; `MALFORMED_JSON`: the body is no JSON',
    code: 'INVALID_ARGUMENT',
    message: "Invalid 'limit': expected a whole number from 1 to 100.",
  },
  401: {
    name: 'Unauthorized',
    error: 'Unauthorized',
    description: 'No token, or one that is unknown, revoked, expired or for another entrance: `UNAUTHENTICATED`',
    code: 'UNAUTHENTICATED',
    message: 'The token has expired. Make another one.',
  },
  403: {
    name: 'Forbidden',
    error: 'Forbidden',
    description:
      'The token lacks a scope, or its user the Admin role or a right: `DENIED` says which. `HOST_NOT_ALLOWED`: the server is not called that',
    code: 'DENIED',
    message: 'The user of the token needs the Admin role on the project.',
  },
  404: {
    name: 'NotFound',
    error: 'Not found',
    description:
      'The project or the environment is not the one that is served, or what the path names is not there: `NOT_FOUND`',
    code: 'NOT_FOUND',
    message: "There is nothing at project 'Another'.",
  },
  409: {
    name: 'Conflict',
    error: 'Refused',
    description: 'It cannot be done as things are now; the message says why',
    code: 'CONFLICT',
    message: 'It has changed meanwhile.',
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
    description: 'Too many calls with this token: `RATE_LIMITED`. Nothing was done, and the call is not counted',
    code: 'RATE_LIMITED',
    message: 'Too many requests. Try again in 12 seconds.',
  },
  '4XX': {
    name: 'ClientError',
    error: 'Refused',
    description: 'Another error of the request',
    code: 'METHOD_NOT_ALLOWED',
    message: 'Only GET is answered here.',
  },
  '5XX': {
    name: 'ServerError',
    error: 'Unavailable',
    description:
      'The server failed (`INTERNAL`, with an id for its log), or what it needs is away (`SOURCE_UNAVAILABLE`, with `Retry-After`): try again later',
    code: 'SOURCE_UNAVAILABLE',
    message: 'The database cannot be reached. Try again later.',
  },
};

export const headers: Readonly<
  Record<string, { readonly name: string; readonly about: string; readonly example: number }>
> = {
  'X-RateLimit-Limit': { name: 'RateLimitLimit', about: 'Calls in the window with the least left', example: 60 },
  'X-RateLimit-Remaining': { name: 'RateLimitRemaining', about: 'Calls that are left in it', example: 59 },
  'X-RateLimit-Reset': {
    name: 'RateLimitReset',
    about: 'When it begins anew, in seconds since 1970',
    example: 1_769_860_800,
  },
  'Retry-After': { name: 'RetryAfter', about: 'Seconds to wait', example: 12 },
};
