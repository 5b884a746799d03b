// Plain-language descriptions of token scopes. Scopes of disabled features are not offered.
import { scopeTexts } from '../../../oauth/server/scopes.ts';
import type { ApplicationToken, TokenEntrance } from '../../../store/oauth/token-types.ts';

export interface ScopeWords {
  readonly scope: string;
  readonly title: string;
  readonly detail: string;
  /** Behaviour api 5, 5: not available to read-only tokens. */
  readonly writes: boolean;
  /** Behaviour api 5, 2: the user's level is checked at the call. */
  readonly admin: boolean;
}

const reads = { writes: false, admin: true };
const writes = { writes: true, admin: true };

const ofRecords = (scope: string, text: keyof typeof scopeTexts): ScopeWords => ({
  scope,
  ...scopeTexts[text],
  writes: text !== 'mcp:read',
  admin: false,
});

export const scopeWords: Readonly<Record<TokenEntrance, readonly ScopeWords[]>> = {
  mcp: [ofRecords('mcp:read', 'mcp:read'), ofRecords('mcp:write', 'mcp:write'), ofRecords('mcp:action', 'mcp:action')],
  agent: [
    ofRecords('records:read', 'mcp:read'),
    ofRecords('records:write', 'mcp:write'),
    {
      ...ofRecords('records:action', 'mcp:action'),
      detail: 'Run the actions that you may run. Their effects can go beyond the data, such as sending mail.',
    },
  ],
  api: [
    { scope: 'notes:read', title: 'Read notes', detail: 'Notes on records, with their messages.', ...reads },
    { scope: 'notes:write', title: 'Write notes', detail: 'Create and change notes, and add messages.', ...writes },
    {
      scope: 'activity_logs:read',
      title: 'Read the activity log',
      detail: 'The log of reads, changes and started runs.',
      ...reads,
    },
    {
      scope: 'admin_logs:read',
      title: 'Read the admin log',
      detail: 'The log of changes to people, roles and tokens.',
      ...reads,
    },
    {
      scope: 'workflows:trigger',
      title: 'Start workflows',
      detail: 'Call the webhooks of workflows, and read their runs. Runs have your permissions.',
      writes: true,
      admin: false,
    },
    { scope: 'all', title: 'Everything', detail: 'The whole public API, including later additions.', ...writes },
  ],
};

interface EntranceWords {
  readonly name: string;
  readonly title: string;
  readonly detail: string;
}

export const entranceWords: Readonly<Record<TokenEntrance, EntranceWords>> = {
  mcp: {
    name: 'MCP',
    title: 'An assistant that cannot sign in',
    detail: 'Calls the tools at /mcp with your permissions. For scripts, servers and assistants without a browser.',
  },
  agent: {
    name: 'Records',
    title: 'A program that reads or changes records',
    detail:
      'Calls the HTTP API with your permissions: records, figures, exports and actions. For scripts and services.',
  },
  api: {
    name: 'Public API',
    title: 'A program that reads notes and logs, or starts workflows',
    detail:
      'Calls /v1: notes, the activity log, the admin log and workflows. For reports, archives, a SIEM and automations.',
  },
};

/** In the order in which the console offers them. */
export const entrances: readonly TokenEntrance[] = ['api', 'agent', 'mcp'];

const wordsByScope = new Map(
  Object.values(scopeWords).flatMap((all) => all.map((words) => [words.scope, words] as const)),
);

export const titleOf = (scope: string): string => wordsByScope.get(scope)?.title.toLowerCase() ?? scope;

export const needsAdmin = ({ scopes }: Pick<ApplicationToken, 'scopes'>): boolean =>
  scopes.some((scope) => wordsByScope.get(scope)?.admin);
