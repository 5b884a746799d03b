// The console's playground, where a signed-in user tries the tools. It lists the same tools as `tools/list`, and its
// calls run through tool-call.ts like every other call. They use the user's own rights, without a token. Each call
// reads the current rights first, and checks them again where an assistant's call checks its token. The result also
// contains the entry in the activity log and the executed statements.
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import { type AppError, fail } from '../core/errors.ts';
import type { Statement, StatementWatch } from '../core/observe/statements.ts';
import { resourceScopes } from '../oauth/server/scopes.ts';
import type { Authenticated } from '../oauth/tokens/verify.ts';
import type { ActivityEntry, ActivityLog } from '../store/audit/activity-types.ts';
import type { Store } from '../store/store.ts';
import { sameRights } from '../store/versions.ts';
import { repairArguments } from './input/repair.ts';
import { failureText } from './results/result.ts';
import { estimateTokens } from './results/tokens.ts';
import { instructionsFor } from './server-info.ts';
import type { Tool } from './tool.ts';
import { type CallParts, createCallTool } from './tool-call.ts';
import { selectTools } from './tools.ts';
import type { RateLimit } from './transport/rate-limit.ts';
import { createToolList } from './visibility/tool-list.ts';

const PLAYGROUND = { clientId: 'playground', clientName: 'Playground' } as const;
/** The pages of the console that change records. */
export const CONSOLE = { clientId: 'console', clientName: 'Console' } as const;

/** Whether calls of the client come from a user who is signed in to the console, without a token. */
export const isConsoleClient = (clientId: string): boolean =>
  clientId === PLAYGROUND.clientId || clientId === CONSOLE.clientId;

/** The maximum number of statements of one call that are returned; the others are only counted. */
const MAX_STATEMENTS = 100;
/** How many recent log entries are searched for the entry of the call. */
const SEARCHED_ENTRIES = 200;

interface PlaygroundParts extends Omit<CallParts, 'authenticator' | 'activity' | 'toolList'> {
  readonly store: Pick<Store, 'activity' | 'permissions' | 'versions'>;
  readonly rateLimit: RateLimit;
  readonly statements: StatementWatch;
}

export interface PlaygroundResult {
  /** The exact text for the model. */
  readonly text: string;
  /** Set if the text is an error. */
  readonly failure?: AppError;
  /** Tokens of the text, an upper estimate (mcp/results/tokens.ts). */
  readonly tokens: number;
  readonly entry: PlaygroundEntry;
  /** Statements with placeholders, without their values. */
  readonly statements: readonly Statement[];
  /** The number of statements that were left out. */
  readonly moreStatements: number;
}

/** The stored log entry; without an id if it was not found. */
type PlaygroundEntry = ActivityEntry & { readonly id?: number };

export interface Playground {
  /** The instructions that the server sends to assistants. */
  readonly instructionsOf: (access: Access) => string;
  /** The maximum nesting depth of JSON, the same as at /mcp. */
  readonly depthLimit: number;
  /** The tools that the user is shown, in the order of `tools/list`. */
  toolsOf(userId: number): Promise<readonly Tool[]>;
  /**
   * Calls a tool. Undefined for a tool that the user is not shown; such a tool does not run. Throws RATE_LIMITED, as
   * /mcp does; all other errors become the answer.
   */
  call(call: PlaygroundCall): Promise<PlaygroundResult | undefined>;
  /** The arguments after repair, as the call reads them. Throws INVALID_ARGUMENT. */
  normalizeArguments(tool: Tool, args: PlaygroundCall['args'], access: Access): PlaygroundCall['args'];
  /** Resolves when no call is in progress. */
  whenIdle(): Promise<void>;
}

interface PlaygroundCall {
  readonly userId: number;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Aborted when the user leaves the page. */
  readonly signal: StopSignal;
  /** The client in the log and in approvals. Default: the playground. */
  readonly client?: typeof CONSOLE;
  /** A person has just confirmed the call: it never gets the stored result of an earlier one. Default: false. */
  readonly isNew?: boolean;
}

export function createPlayground({ store, rateLimit, statements, ...parts }: PlaygroundParts): Playground {
  const tools = selectTools(parts.config.enabledTools, () => undefined);
  const toolList = createToolList(tools, parts.engine, parts.workflows?.service.listActive);
  const scopes = new Set<string>(resourceScopes);
  const inProgress = new Set<Promise<unknown>>();

  /** Reads the versions first: a change during the reads then invalidates the result, never the other way round. */
  const identify = async (userId: number, client: typeof PLAYGROUND | typeof CONSOLE): Promise<Authenticated> => {
    const versions = await store.versions();
    const access = await store.permissions.accessOf(userId);
    if (!access) return fail('UNAUTHENTICATED', { problem: 'This account can no longer be used.' });
    return { ...client, access, userId, scopes, tokenHash: '', versions };
  };
  const visibleTools = async (auth: Authenticated) => {
    await toolList.refresh();
    return toolList.toolsOf(toolList.maskFor(auth));
  };

  const runCall = async ({
    userId,
    tool: name,
    args,
    signal,
    client: caller,
    isNew = false,
  }: PlaygroundCall): Promise<PlaygroundResult | undefined> => {
    const client = caller ?? PLAYGROUND;
    rateLimit.consume(userId, 1);
    const auth = await identify(userId, client);
    const authenticator: CallParts['authenticator'] = {
      isCurrent: async (auth, versions) => sameRights(auth.versions, versions ?? (await store.versions())),
      renew: ({ userId }) => identify(userId, client),
    };
    const tool = (await visibleTools(auth)).find((visible) => visible.name === name);
    if (!tool) return undefined;
    const captured = captureEntry(store.activity);
    const recorded: Statement[] = [];
    let omitted = 0;
    const recordStatement = (statement: Statement) =>
      recorded.length < MAX_STATEMENTS ? recorded.push(statement) : omitted++;
    const callTool = createCallTool({ ...parts, authenticator, toolList, activity: captured });
    // The playground has no elicitation, so a call that needs approval waits for it in the console.
    const outcome = await statements.watchDuring(recordStatement, () =>
      callTool(tool, args, { auth }, { signal, isNew }),
    );
    if ('question' in outcome) throw new Error('a call without elicitation asked for approval');
    const text = 'failure' in outcome ? failureText(outcome) : outcome.text;
    return {
      text,
      ...('failure' in outcome && { failure: outcome.failure }),
      tokens: estimateTokens(text),
      entry: await findEntry(store.activity, captured.entry()),
      statements: recorded,
      moreStatements: omitted,
    };
  };

  return {
    instructionsOf: (access) => instructionsFor(tools, parts.engine, access),
    depthLimit: parts.config.jsonDepthLimit,
    toolsOf: async (userId) => visibleTools(await identify(userId, PLAYGROUND)),
    call(call) {
      const running = runCall(call);
      const ended = running.then(ignore, ignore);
      inProgress.add(ended);
      ended.then(() => inProgress.delete(ended));
      return running;
    },
    normalizeArguments: (tool, args, access) => repairArguments(tool, args, parts.engine.names(access)),
    async whenIdle() {
      while (inProgress.size > 0) await Promise.all(inProgress);
    },
  };
}

const ignore = (): void => undefined;

/** Wraps the log and remembers the one entry of a call. */
function captureEntry(activity: ActivityLog): Pick<ActivityLog, 'record' | 'begin'> & { entry(): ActivityEntry } {
  let entry: ActivityEntry | undefined;
  return {
    record(recorded) {
      entry = recorded;
      activity.record(recorded);
    },
    async begin(mark) {
      const intent = await activity.begin(mark);
      entry = { ...mark, outcome: 'unknown', durationMs: 0 };
      return {
        ...intent,
        async complete(result, commitOutcome) {
          await intent.complete(result, commitOutcome);
          entry = { ...mark, durationMs: 0, ...result };
        },
      };
    },
    entry: () => entry ?? failWithoutEntry(),
  };
}

function failWithoutEntry(): never {
  throw new Error('a call wrote no entry to the activity log');
}

/** Finds the stored entry, which has the id from the storage and the measured duration of a write. */
async function findEntry(activity: ActivityLog, recorded: ActivityEntry): Promise<PlaygroundEntry> {
  const isSameCall = (candidate: ActivityEntry) =>
    candidate.userId === recorded.userId &&
    candidate.clientId === recorded.clientId &&
    candidate.action === recorded.action &&
    candidate.startedAt === recorded.startedAt;
  try {
    await activity.flush();
    return (await activity.list({ limit: SEARCHED_ENTRIES })).find(isSameCall) ?? recorded;
  } catch {
    // The call has run, even if the log cannot be read.
    return recorded;
  }
}
