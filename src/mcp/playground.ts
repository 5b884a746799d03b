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
import type { Pace } from './transport/rate-limit.ts';
import { createMenu } from './visibility/tool-list.ts';

export const PLAYGROUND = { clientId: 'playground', clientName: 'Playground' } as const;

/** The maximum number of statements of one call that are returned; the others are only counted. */
const MOST_STATEMENTS = 100;
/** How many recent log entries are searched for the entry of the call. */
const LOOKED_AT = 200;

export interface PlaygroundParts extends Omit<CallParts, 'gate' | 'activity' | 'menu'> {
  readonly store: Pick<Store, 'activity' | 'permissions' | 'versions'>;
  readonly pace: Pace;
  readonly statements: StatementWatch;
}

export interface Played {
  /** The exact text for the model. */
  readonly text: string;
  /** Set if the text is an error. */
  readonly failure?: AppError;
  /** Tokens of the text, an upper estimate (mcp/results/tokens.ts). */
  readonly tokens: number;
  readonly entry: PlayedEntry;
  /** Statements with placeholders, without their values. */
  readonly statements: readonly Statement[];
  /** The number of statements that were left out. */
  readonly moreStatements: number;
}

/** The stored log entry; without an id if it was not found. */
export type PlayedEntry = ActivityEntry & { readonly id?: number };

export interface Playground {
  /** The instructions that the server sends to assistants. */
  readonly instructions: string;
  /** The maximum nesting depth of JSON, the same as at /mcp. */
  readonly depthLimit: number;
  /** The tools that the user is shown, in the order of `tools/list`. */
  toolsOf(userId: number): Promise<readonly Tool[]>;
  /**
   * Calls a tool. Undefined for a tool that the user is not shown; such a tool does not run. Throws RATE_LIMITED, as
   * /mcp does; all other errors become the answer.
   */
  call(call: PlaygroundCall): Promise<Played | undefined>;
  /** The arguments after repair, as the call reads them. Throws INVALID_ARGUMENT. */
  meant(tool: Tool, args: PlaygroundCall['args'], access: Access): PlaygroundCall['args'];
  /** Resolves when no call is in progress. */
  settled(): Promise<void>;
}

export interface PlaygroundCall {
  readonly userId: number;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Aborted when the user leaves the page. */
  readonly signal: StopSignal;
}

export function createPlayground({ store, pace, statements, ...parts }: PlaygroundParts): Playground {
  const tools = selectTools(parts.config.enabledTools, () => undefined);
  const menu = createMenu(tools, parts.engine, parts.workflows?.room.listActive);
  const scopes = new Set<string>(resourceScopes);
  const underWay = new Set<Promise<unknown>>();

  /** Reads the versions first: a change during the reads then invalidates the result, never the other way round. */
  const identify = async (userId: number): Promise<Authenticated> => {
    const versions = await store.versions();
    const access = await store.permissions.accessOf(userId);
    if (!access) return fail('UNAUTHENTICATED', { problem: 'This account can no longer be used.' });
    return { ...PLAYGROUND, access, userId, scopes, tokenHash: '', versions };
  };
  const gate: CallParts['gate'] = {
    holds: async (auth, versions) => sameRights(auth.versions, versions ?? (await store.versions())),
    renew: ({ userId }) => identify(userId),
  };
  const offeredTo = async (auth: Authenticated) => {
    await menu.look();
    return menu.toolsOf(menu.maskFor(auth));
  };

  const play = async ({ userId, tool: name, args, signal }: PlaygroundCall): Promise<Played | undefined> => {
    pace.take(userId, 1);
    const auth = await identify(userId);
    const tool = (await offeredTo(auth)).find((offered) => offered.name === name);
    if (!tool) return undefined;
    const noted = noteEntries(store.activity);
    const kept: Statement[] = [];
    let more = 0;
    const keep = (statement: Statement) => (kept.length < MOST_STATEMENTS ? kept.push(statement) : more++);
    const callTool = createCallTool({ ...parts, gate, menu, activity: noted });
    // The playground has no elicitation, so a call that needs approval waits for it in the console.
    const called = await statements.during(keep, () => callTool(tool, args, { auth }, { signal }));
    if ('question' in called) throw new Error('a call without an asker was answered with a question');
    const text = 'failure' in called ? failureText(called) : called.text;
    return {
      text,
      ...('failure' in called && { failure: called.failure }),
      tokens: estimateTokens(text),
      entry: await findEntry(store.activity, noted.entry()),
      statements: kept,
      moreStatements: more,
    };
  };

  return {
    instructions: instructionsFor(tools),
    depthLimit: parts.config.jsonDepthLimit,
    toolsOf: async (userId) => offeredTo(await identify(userId)),
    call(call) {
      const playing = play(call);
      const ended = playing.then(ignore, ignore);
      underWay.add(ended);
      ended.then(() => underWay.delete(ended));
      return playing;
    },
    meant: (tool, args, access) => repairArguments(tool, args, parts.engine.names(access)),
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

const ignore = (): void => undefined;

/** Wraps the log and remembers the one entry of a call. */
function noteEntries(activity: ActivityLog): Pick<ActivityLog, 'record' | 'begin'> & { entry(): ActivityEntry } {
  let entry: ActivityEntry | undefined;
  return {
    record(made) {
      entry = made;
      activity.record(made);
    },
    async begin(mark) {
      const intent = await activity.begin(mark);
      entry = { ...mark, outcome: 'unknown', durationMs: 0 };
      return {
        ...intent,
        async complete(result, fate) {
          await intent.complete(result, fate);
          entry = { ...mark, durationMs: 0, ...result };
        },
      };
    },
    entry: () => entry ?? missing(),
  };
}

function missing(): never {
  throw new Error('a call left no entry in the activity log');
}

/** Finds the stored entry, which has the id from the storage and the measured duration of a write. */
async function findEntry(activity: ActivityLog, made: ActivityEntry): Promise<PlayedEntry> {
  const isIt = (one: ActivityEntry) =>
    one.userId === made.userId &&
    one.clientId === made.clientId &&
    one.action === made.action &&
    one.startedAt === made.startedAt;
  try {
    await activity.flush();
    return (await activity.list({ limit: LOOKED_AT })).find(isIt) ?? made;
  } catch {
    // The call has run, even if the log cannot be read.
    return made;
  }
}
