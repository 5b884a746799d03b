// The public API and the webhook: their suites by subject, and the console and the store where a row shows there.
import type { Proof } from './decisions.ts';

const inSuite =
  (name: string) =>
  (...titles: readonly string[]): Proof => ({ file: `test/${name}.test.ts`, titles });

const notes = inSuite('api/notes');
const storedNotes = inSuite('store/notes');
const activityLogs = inSuite('api/activity-logs');
const adminLogs = inSuite('api/admin-logs');
const anyCall = inSuite('api/api');
const wrongThings = inSuite('api/wrong-things');
const webhook = inSuite('api/webhook');
const workflows = inSuite('api/workflows');
const documented = inSuite('api/openapi');
const limits = inSuite('api/limits');
const tokenPages = inSuite('console/tokens');
const workflowPages = inSuite('console/workflows');
const notePages = inSuite('console/notes');
const logPages = inSuite('console/logs');
const storedTokens = inSuite('store/tokens');
const storedRuns = inSuite('store/runs');

const paths = [
  anyCall('project names are case-sensitive, unknown paths get 404 and wrong methods 405, in JSON'),
  wrongThings('unknown paths, encoded slashes and dots get 404, and undecodable URLs 400'),
];
const randomNotes = inSuite('api/notes-random')(
  'random notes and filters on $dialect give the results of a naive in-memory model',
);
const rangesOfNotes = storedNotes('a range with few or many notes returns the same notes');
const namesByBytes = storedNotes('names compare by their bytes: case and trailing spaces matter');
const wrongNotes = notes(
  'an invalid request gets a 4xx status with error, message and code, and the message names the problem',
);
const createdNote = notes('a new note with its first message is found by its id and in the list');
const changedNote = notes('renaming, archiving, restoring, and adding or editing a message each advance updatedAt');
const timesOfNotes = storedNotes('concurrent notes have different times, and later ids have later times');
const addedMessages = storedNotes('concurrent messages are all stored and counted');
const leftNotes = storedNotes(
  'notes outlive their disabled author and deleted team, and are deleted with their environment',
);
const cleanContent = [
  notes('the HTML of a message is sanitized, and a message that is empty afterwards is refused'),
  notePages(
    'stored HTML is sanitized again when it is shown',
    'typed text is edited as it was typed; other HTML is edited as HTML',
  ),
];
const inEachState = inSuite('spec/api-2.2-note')(
  'object, id, title, recordId, createdAt, updatedAt, archivedAt, user, environment, team, collection, messages: of notes in each state, in each response',
);
const byId = [createdNote, changedNote];
const madeToken = tokenPages('a token for the public API has the chosen scopes and is shown only in one response');
const ownToken = anyCall('GET /token describes the token of the request');
const storedToken = storedTokens('a token is random, returned once, and stored as its SHA-256');
const revokedToken = [
  tokenPages('applies to the next call, and has no effect a second time'),
  storedTokens(
    'a valid token is cached until it is revoked in any process',
    'revoking deletes the row, raises the version of grants and is logged; a second time does nothing',
  ),
];
const rightsAtTheCall = [
  anyCall('a call needs the scope and the Admin role, and the error names the missing one'),
  notes('every call needs its scope and the Admin role'),
];
const noToken = [
  anyCall('a missing, expired, revoked, unknown or MCP token gets 401 with error, message, code and the reason'),
  wrongThings(
    'every invalid token gets 401 UNAUTHENTICATED',
    'a token is accepted only as Bearer in the Authorization header',
  ),
];
const filteredNotes = [namesByBytes, rangesOfNotes, randomNotes];
const triggerPages = workflowPages(
  'is enabled, called, regenerated, and disabled; its secret is shown once on request',
  'is not shown to a user without the level, and not changed by them',
);
const replacedAddress = webhook(
  'a regenerated URL applies to the next call in another process; the old one gets 400, a disabled one 404',
);
const forgedAddress = webhook('a forged, truncated, changed or foreign URL is refused before any read of the storage');
const wrongBodies = webhook('the body %j is refused with %s');
const firstWrongThing = webhook('a request with several faults gets the error of the first check that fails');
const oneRun = storedRuns(
  'of many concurrent starts of a workflow on one record one succeeds; after its end another may',
);
const countedCalls = webhook(
  'the rate limit of a webhook covers all processes, and refused tokens are limited by IP address',
);
const limitHeaders = [
  anyCall('calls are counted per token, every response has the rate limit headers, and calls over the limit get 429'),
  limits(
    'error responses count and have the headers too; responses to an unknown token have none',
    'a client that pauses at 0 remaining calls until X-RateLimit-Reset is never refused',
  ),
];
const triggerView = workflows(
  'a workflow is visible to its team if they may see its collection, and its trigger to editors and above',
);

const times = ['createdAt', 'updatedAt', 'archivedAt'].flatMap((time) =>
  ['eq', 'lt', 'lte', 'gt', 'gte'].map((comparison) => `${time}.${comparison}`),
);
const each = (section: string, names: readonly string[], of: readonly Proof[]) =>
  Object.fromEntries(names.map((name) => [`${section} · ${name}`, of]));

/** By the id of the row. */
export const proofsD: Readonly<Record<string, readonly Proof[]>> = {
  ...each('api 1 · paths name', ['project', 'environment'], paths),
  ...each('api 2.1', ['hasMore', 'data'], [rangesOfNotes, randomNotes]),
  'api 2.1 · parameters': [randomNotes],
  ...each('api 2.2', ['object', 'title', 'recordId', 'environment', 'collection'], byId),
  ...each('api 2.2', ['id', 'createdAt'], [...byId, timesOfNotes]),
  ...each('api 2.2', ['updatedAt', 'messages'], [...byId, addedMessages]),
  'api 2.2 · archivedAt': byId,
  ...each('api 2.2', ['user', 'team'], [...byId, leftNotes]),
  ...each('api 2.3', ['User · id', 'User · username', 'User · email', 'User · object'], [createdNote, leftNotes, inEachState]),
  ...each('api 2.3', ['Team · object', 'Team · name'], [createdNote, leftNotes, inEachState]),
  ...each('api 2.3', ['Environment · object', 'Environment · name', 'Collection · object', 'Collection · name'], [createdNote, inEachState]),
  ...each('api 2.3 · Note message', ['object', 'createdAt', 'user'], [...byId, inEachState]),
  'api 2.3 · Note message · content': [...byId, ...cleanContent],
  ...each('api 2.5', ['name', 'scopes'], [madeToken, ownToken, storedToken]),
  'api 2.5 · value': [madeToken, ownToken, storedToken, tokenPages('the same form sent again, as by a reload, shows and creates nothing')],
  'api 2.5 · project': [wrongThings('a token of another project is unknown')],
  'api 2.5 · creation date': [ownToken, storedToken],
  'api 2.5 · last used': [ownToken, storedTokens('uses are collected and written together, at the latest when the store closes; the latest is kept')],
  'api 2.5 · expiration date': [ownToken, tokenPages('a token ends at the end of the chosen day, in the timezone of the user')],
  'api 2.6 · Activity log': [
    activityLogs('an entry has the documented fields; with details=true it also has the outcome of the call', 'an entry of a workflow step names the workflow, the run and the step', 'the document contains an action name for every tool and every route of the agent'),
    logPages('an administrator finds an entry by the record, opens it, and downloads all matches as a file'),
  ],
  'api 2.6 · admin log': [
    adminLogs('an entry about a member shows the author of the change and the full old and new values', 'the filter %s finds the matching changes'),
    logPages('the admin log shows the values before and after'),
  ],
  'api 3.1 · an editor disables the trigger': [triggerPages, replacedAddress, triggerView],
  'api 3.1 · an editor regenerates the URL': [triggerPages, replacedAddress, forgedAddress],
  'api 3.2 · queued': [workflows('runs are paged without repetition; users see their own runs, editors those of their team')],
  ...each('api 3.2', ['active run', 'fresh run'], [oneRun, workflowPages('a second start on the same record leads to the first run, which can be cancelled')]),
  'api 3.3 · archivedAt': [changedNote, notePages('a note is created, replied to, edited by its author and administrators only, renamed and archived')],
  ...each('api 4.1', ['projectName', 'environmentName'], [...paths, wrongNotes, inSuite('spec/api-1-what-it-does')('project, environment | both names must match exactly, in their positions: %s')]),
  ...each('api 4.1', ['limit', 'sorted by id descending'], [wrongNotes, rangesOfNotes, randomNotes]),
  ...each('api 4.1', ['userEmail', 'userId', 'teamName', 'collectionName', 'recordId'], [...filteredNotes, wrongNotes]),
  ...each('api 4.1', times, [rangesOfNotes, randomNotes]),
  'api 4.1 · Admin role': rightsAtTheCall,
  'api 4.2 · {webhook_url}': [forgedAddress, replacedAddress, webhook('URLs work after a key rotation in another process, new ones too, until their key is retired', 'in a host application the webhook is served below the API prefix only')],
  'api 4.2 · authority': [firstWrongThing],
  'api 4.2 · latest': [storedRuns('a workflow is published, gets versions, and the later of two concurrent edits is refused')],
  'api 4.2 · record_id': [wrongBodies],
  'api 4.2 · unknown fields': [wrongBodies],
  'api 4.2 · not verified': [inSuite('workflow/executor')('a missing record ends the run')],
  'api 4.2 · 202': [webhook('a repeat with the same idempotency key returns the same run; for another record it is refused')],
  'api 4.2 · 409': [oneRun, webhook('a repeat with the same idempotency key returns the same run; for another record it is refused')],
  "api 4.2 · the token's user": [
    workflowPages('a run continues after the token that started it is revoked; the token starts no more'),
    activityLogs('an entry of a workflow step names the workflow, the run and the step'),
    inSuite('workflow/executor')('a user who moves to another team during a run ends it at the next step'),
  ],
  'api 4.3 · activity-logs': [
    activityLogs('pages by cursor contain every entry once, also if entries have the same time', '%s finds %i', '%s is refused, and the message names the parameter', 'a cursor of another query, a token without the scope, a non-administrator and an unknown name are refused', 'an export continues after a given entry, and CSV cells are never formulas'),
  ],
  'api 4.3 · admin-logs': [adminLogs('the filter %s finds the matching changes', '%s returns 400', 'pages by cursor and the export contain every entry once, in opposite orders')],
  'api 4.3 · notes': [...byId, wrongNotes, notes('a hidden collection or record gets the same response as one that does not exist', 'every write is in the activity log, failed ones too, without the content')],
  'api 5 · Bearer': noToken,
  'api 5 · Admin role': [inSuite('app/long-answers')('an export of the log stops when its user loses the Admin role'), ...rightsAtTheCall, tokenPages('a user without the Admin role sees a warning, and calls are refused until they have it')],
  'api 5 · SSO': [wrongThings('with single sign-on, a token made without it gets 401 with the reason; one made through it works')],
  'api 5 · revoked': revokedToken,
  'api 5 · expire': [ownToken, tokenPages('a token ends at the end of the chosen day, in the timezone of the user')],
  ...each('api 5 · level', ['read-only', 'read-write'], [ownToken, ...rightsAtTheCall]),
  ...each('api 5 · scope', ['activity_logs:read', 'admin_logs:read', 'notes:read', 'notes:write', 'all'], [...rightsAtTheCall, madeToken]),
  'api 5 · webhook': [firstWrongThing],
  'api 7.1 · 401': noToken,
  'api 7.1 · 403': rightsAtTheCall,
  'api 7.1 · An expired token': [ownToken],
  'api 7.2 · 429': limitHeaders,
  'api 7.2 · 4XX': [wrongNotes, ...paths, wrongThings('a body must be a JSON object, whatever its Content-Type says')],
  'api 7.3 · 400': [wrongBodies, forgedAddress, replacedAddress, firstWrongThing],
  ...each('api 7.3', ['401', '403', '404'], [firstWrongThing, replacedAddress]),
  'api 7.3 · 409': [oneRun],
  'api 7.3 · 429': [countedCalls],
  'api 8 · limit query parameter': [wrongNotes],
  'api 8 · webhook rate': [countedCalls],
  'api 8 · active runs': [oneRun],
  'api 8 · public API rate': [...limitHeaders, inSuite('spec/api-7.2-notes-listing-errors')('429 | the daily limit too; refused calls do not count, other tokens are unaffected, and responses have the headers of the nearest limit'), inSuite('store/quotas')('concurrently in two processes: as many pass as the limit allows, and refused calls do not count')],
  'api 9 · Public API paths': [documented('the document is public, has version 3.1, and has exactly one operation per route and for the webhook')],
  'api 9 · webhook URL': [replacedAddress, storedRuns('a webhook URL has a version that only regeneration raises')],
}; // biome-ignore format: a table
