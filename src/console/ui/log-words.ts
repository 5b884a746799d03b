// The entries of the logs in words. The logs and the public API keep the names.

/** By the name in the activity log. */
const actionWords: Readonly<Record<string, string>> = {
  list: 'Listed records',
  listRelated: 'Listed related records',
  get: 'Read a record',
  read: 'Read a record in a run',
  openRecord: 'Opened a record in the console',
  count: 'Counted records',
  countRelated: 'Counted related records',
  aggregate: 'Computed figures',
  getChart: 'Read a chart',
  export: 'Exported records',
  exportRelated: 'Exported related records',
  create: 'Created records',
  update: 'Changed records',
  delete: 'Deleted records',
  associate: 'Linked records',
  dissociate: 'Unlinked records',
  getActionForm: 'Opened the form of an action',
  executeAction: 'Ran an action',
  action: 'Ran an action in a run',
  requestActionFileUpload: 'Asked to upload a file',
  readFile: 'Read a file',
  openFile: 'Opened a file',
  describeCollection: 'Read descriptions',
  capabilities: 'Read what the API can do',
  'cloud.schema': 'Read the schema',
  aiQuery: 'Asked the AI provider',
  nativeQuery: 'Sent an SQL query',
  scopeCacheInvalidation: 'Read the permissions again',
  approve: 'Approved a request',
  deny: 'Denied a request',
  createNote: 'Created a note',
  openNote: 'Opened a note',
  updateNote: 'Changed a note',
  createMessage: 'Wrote a message',
  updateMessage: 'Changed a message',
  listWorkflows: 'Listed workflows',
  triggerWorkflow: 'Started a workflow',
  getWorkflowRun: 'Read a run',
  callRemoteTool: 'Called a tool of a remote server',
  completeWorkflow: 'Run finished',
  abortWorkflow: 'Run ended early',
  resumeWorkflow: 'Run continued',
  completeWorkflowStep: 'Completed a step',
  selectWorkflowOption: 'Chose an option',
};

const subjects: Readonly<Record<string, string>> = {
  user: 'User',
  scope: 'Row scope',
  app: 'App',
  'start-rule': 'Automatic start',
  network: 'Network rule',
};

const verbs: Readonly<Record<string, string>> = {
  add: 'added',
  set: 'changed',
  change: 'changed',
  update: 'changed',
  create: 'created',
  remove: 'removed',
  delete: 'deleted',
  revoke: 'revoked',
  allow: 'allowed',
  block: 'blocked',
  unblock: 'unblocked',
  pause: 'paused',
  resume: 'resumed',
  link: 'linked',
  rotate: 'replaced',
  retire: 'retired',
  enable: 'enabled',
  disable: 'disabled',
  invite: 'invited',
  sweep: 'shortened',
  initial: 'at the start of the log',
};

/** Those that are no subject with a verb. */
const changeWords: Readonly<Record<string, string>> = {
  'user.address': 'E-mail address changed',
  'user.claims': 'Rights set by the identity provider',
  'user.end-session': 'Session ended',
  'user.link': 'Identity provider linked',
  'user.password': 'Password changed',
  'user.profile': 'Profile changed',
  'user.recovery-codes': 'Recovery codes replaced',
  'user.reset': 'Link for a new password created',
  'user.sign-out': 'Signed out everywhere',
  'user.totp-on': 'Authenticator app added',
  'user.totp-off': 'Authenticator app removed',
};

const wordsFor = (words: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(words, name) ? words[name] : undefined;

/** `Start rule` for `start-rule` and `startRule`. */
function spellOut(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[-.]/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Such as `Listed records` for `list`. */
export const describeAction = (action: string): string => wordsFor(actionWords, action) ?? spellOut(action);

/** The actions of the activity log with their words, in the order of the words. */
export const actionChoices: readonly (readonly [action: string, words: string])[] = Object.entries(actionWords).sort(
  ([, a], [, b]) => (a < b ? -1 : 1),
);

/** Such as `Role added` for `role.add` of the admin log. */
export function describeChange(action: string): string {
  const [about = '', verb = ''] = action.split('.');
  const known = wordsFor(changeWords, action);
  return (
    known ?? `${wordsFor(subjects, about) ?? spellOut(about)} ${wordsFor(verbs, verb) ?? spellOut(verb).toLowerCase()}`
  );
}

const resourceWords: Readonly<Record<string, string>> = { ...subjects, 'user-project': 'Membership' };
/** A resource of the admin log. */
export const describeResource = (resource: string): string => wordsFor(resourceWords, resource) ?? spellOut(resource);
