// The door for a person who tries the tools himself, in the console: what `tools/list` shows of them, and calls that go the
// way of every other call (call.ts), under his own rights and with no token. What a call is about to be is asked anew for
// each: the identity is made of the rights of that moment, and is looked at again where a call of an assistant has its token
// looked at. Beside the answer he is told what became of the call: its entry in the activity log and its statements.
import type { StopSignal } from '../core/clock/stop.ts';
import { type AppError, fail } from '../core/errors.ts';
import type { Statement, StatementWatch } from '../core/observe/statements.ts';
import type { Authenticated } from '../oauth/bearer.ts';
import { resourceScopes } from '../oauth/scopes.ts';
import type { ActivityEntry, ActivityLog } from '../store/activity-types.ts';
import type { Store } from '../store/store.ts';
import { sameRights } from '../store/versions.ts';
import { errorText } from './answers/result.ts';
import { estimateTokens } from './answers/tokens.ts';
import { type CallParts, createCallTool } from './call.ts';
import { instructions } from './introduction.ts';
import { createMenu } from './offers/menu.ts';
import { selectTools, type Tool } from './tools.ts';
import type { Pace } from './transport/pace.ts';

export const PLAYGROUND = { clientId: 'playground', clientName: 'Playground' } as const;

/** Statements of one call that are kept; the others are counted. */
const MOST_STATEMENTS = 100;
/** Entries of the log among which that of a call is looked for. */
const LOOKED_AT = 200;

export interface PlaygroundParts extends Omit<CallParts, 'gate' | 'activity'> {
  readonly store: Pick<Store, 'activity' | 'permissions' | 'versions'>;
  readonly pace: Pace;
  readonly statements: StatementWatch;
}

export interface Played {
  /** What the model is given, to the letter. */
  readonly text: string;
  /** Set when that is an error. */
  readonly failure?: AppError;
  /** Of the text, from above: an estimate (answers/tokens.ts). */
  readonly tokens: number;
  readonly entry: PlayedEntry;
  /** With the places of values, and without the values. */
  readonly statements: readonly Statement[];
  /** How many more there were. */
  readonly moreStatements: number;
}

/** As the log has it; without an id where it was not found there. */
export type PlayedEntry = ActivityEntry & { readonly id?: number };

export interface Playground {
  /** What assistants are told before anything else. */
  readonly instructions: string;
  /** How deep JSON may be nested, as at /mcp. */
  readonly depthLimit: number;
  /** The tools that the person is offered, in the order of `tools/list`. */
  toolsOf(userId: number): Promise<readonly Tool[]>;
  /**
   * Undefined for a tool that is not offered to the person: it is not called, whoever knows its name. RATE_LIMITED, as at
   * /mcp; whatever else goes wrong is the answer.
   */
  call(call: PlaygroundCall): Promise<Played | undefined>;
  /** Once no call is at work. */
  settled(): Promise<void>;
}

export interface PlaygroundCall {
  readonly userId: number;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Aborted when the person leaves. */
  readonly signal: StopSignal;
}

export function createPlayground({ store, pace, statements, ...parts }: PlaygroundParts): Playground {
  const tools = selectTools(parts.config.enabledTools, () => undefined);
  const menu = createMenu(tools, parts.engine, parts.workflows?.room.listActive);
  const scopes = new Set<string>(resourceScopes);
  const underWay = new Set<Promise<unknown>>();

  /** The versions first: what changes meanwhile makes them old, never the rights. */
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
    const callTool = createCallTool({ ...parts, gate, activity: noted });
    // Nobody can be asked on the way: what needs a yes waits for it in the console.
    const called = await statements.during(keep, () => callTool(tool, args, { auth }, { signal }));
    if ('question' in called) throw new Error('a call without an asker was answered with a question');
    const text = 'failure' in called ? errorText(called.failure) : called.text;
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
    instructions,
    depthLimit: parts.config.jsonDepthLimit,
    toolsOf: async (userId) => offeredTo(await identify(userId)),
    call(call) {
      const playing = play(call);
      const ended = playing.then(ignore, ignore);
      underWay.add(ended);
      ended.then(() => underWay.delete(ended));
      return playing;
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

const ignore = (): void => undefined;

/** The log, and the one entry that a call makes there. */
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
        async complete(result) {
          await intent.complete(result);
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

/** The entry as it was written: its id is given by the storage, and how long a write took is measured there. */
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
    // The call is done, whether or not the log can be read.
    return made;
  }
}
