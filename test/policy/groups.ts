// Every entry point as a group of tests, with one test per policy.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../agent/oracle/random.ts';
import type { TestServer as Maker } from '../databases.ts';
import { openApprovals } from './entries/approvals.ts';
import type { Entry } from './entries/entry.ts';
import { openFrontEnd, openProgram, requestOperations } from './entries/http.ts';
import { openAssistant } from './entries/mcp.ts';
import { openPlayground, type Person, playgroundOperations, signIn } from './entries/playground.ts';
import { toolOperations } from './entries/tools.ts';
import { type Mode, modes, openRuns, operationsOf, type Runs, starts } from './entries/workflows.ts';
import type { End, OperationName } from './operations.ts';
import {
  askingPolicies,
  asksPerson,
  asksUser,
  disabled,
  everything,
  expectedChanges,
  expectedEnd,
  limited,
  type Policy,
  remotePolicies,
  rolePolicies,
  stillAsking,
  tokenPolicies,
} from './oracle.ts';
import { openOutside } from './outside.ts';
import { type Walk, walk } from './walk.ts';
import { openWorld, type World } from './world.ts';

export interface Table {
  readonly maker: Maker;
  readonly seed: number;
  /** The fraction of a policy's cells to run; 1 runs all of them. */
  readonly share: (group: keyof typeof groups) => number;
  /** Runs each step with every way to start its run, instead of one of them. */
  readonly everyStart?: boolean;
}

export function describeTable(table: Table): void {
  const { maker, seed } = table;
  let cells = 0;
  afterAll(() => console.info(`policy table, ${maker.dialect}: ${cells} cells, seed ${seed}`));
  const walked: Group['walked'] = async (wanted) => {
    const done = await walk(wanted);
    cells += done.cells;
    expect(done.wrong).toEqual([]);
  };
  // Groups without special needs share a server, because starting one takes as long as many cells.
  const shared = shareWorld(maker);
  for (const [name, group] of Object.entries(groups)) {
    const share = table.share(name as keyof typeof groups);
    if (share > 0) describe(name, () => group({ ...table, shared, walked, pick: pickWith(seed, share, name) }));
  }
}

interface Group extends Table {
  readonly shared: () => World;
  readonly walked: (wanted: Walk) => Promise<void>;
  /** Picks policies to run, each with its operations. */
  readonly pick: (policies: readonly Policy[], operations: readonly OperationName[]) => readonly Picked[];
}

interface Picked {
  readonly name: string;
  readonly policy: Policy;
  readonly operations: readonly OperationName[];
}

/** The same for the same seed, regardless of the tests that run. */
function pickWith(seed: number, share: number, group: string): Group['pick'] {
  return (policies, operations) =>
    policies.flatMap((policy) => {
      const { name } = policy;
      const random = createRandom(
        seed + [...group, ...name].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) >>> 0, 7),
      );
      const some = share === 1 ? operations : operations.filter(() => random.chance(share));
      return some.length > 0 ? [{ name, policy, operations: some }] : [];
    });
}

const usual = [...rolePolicies, ...askingPolicies, disabled];

/** A program has neither a consent nor an address of its own. */
const ofPrograms = tokenPolicies.filter(({ name }) => / token\b/.test(name));

const limits = tokenPolicies.filter(({ name }) => /^(a consent|an address) for orders$/.test(name));

const groups = {
  'tools over MCP'({ shared, walked, pick }: Group) {
    test.each(pick([...usual, ...tokenPolicies], toolOperations))('$name', async ({ policy, operations }) => {
      const world = await ready(shared);
      const entry = await openAssistant(world, policy.credential);
      await world.apply(policy);
      await walked({ world, entry, policy, operations });
    });
  },
  "the agent's HTTP API"({ shared, walked, pick }: Group) {
    test.each(pick(usual, requestOperations))('$name', async ({ policy, operations }) => {
      const world = await ready(shared);
      const entry = await openFrontEnd(world);
      await world.apply(policy);
      await walked({ world, entry, policy, operations });
    });
  },
  "the agent's HTTP API, by a program"({ shared, walked, pick }: Group) {
    test.each(pick([...usual, asksUser, ...ofPrograms], requestOperations))('$name', async ({ policy, operations }) => {
      const world = await ready(shared);
      const entry = await openProgram(world, policy.credential);
      await world.apply(policy);
      await walked({ world, entry, policy, operations });
    });
  },
  'the playground of the console'({ shared, walked, pick }: Group) {
    test.each(pick(usual, playgroundOperations))('$name', async ({ policy, operations }) => {
      const world = await ready(shared);
      const entry = await openPlayground(world);
      await world.apply(policy);
      await walked({ world, entry, policy, operations });
    });
  },
  'too many calls'({ maker, walked, pick }: Group) {
    const own = shareWorld(maker, { SERVICE_MCP_REQUESTS_PER_MINUTE: '1', SERVICE_WEBHOOK_PER_MINUTE: '1' });
    const ways = [
      ['tools over MCP', openAssistant, 'list'],
      ['the playground', openPlayground, 'list'],
      ["the agent's HTTP API, by a program", openProgram, 'list'],
      ['the webhook', openWebhook, 'start'],
    ] as const;
    test.each(ways)('%s', async (_, open, first) => {
      const world = await ready(own);
      const entry = await open(world);
      await entry.act(first);
      for (const { operations } of pick([limited], entry.operations))
        await walked({ world, entry, policy: limited, operations });
    });
  },
  'starts of workflows'({ shared, walked, pick }: Group) {
    const runs = shareRuns(shared);
    const cases = (['webhook', 'console'] as const).flatMap((way) =>
      pick(usual, ['start']).map((picked) => ({ way, ...picked })),
    );
    test.each(cases)('$way: $name', async ({ way, policy, operations }) => {
      const world = await ready(shared);
      const by = way === 'webhook' ? way : await signIn(world, world.clerk);
      await world.apply(policy);
      await walked({ world, entry: startsBy(runs(), by), policy, operations });
    });
  },
  'steps of workflows'({ shared, walked, pick, everyStart }: Group) {
    const runs = shareRuns(shared);
    test.each(pick([...usual, ...remotePolicies], operationsOf('automatic')))(
      '$name',
      async ({ policy, operations }) => {
        const world = await ready(shared);
        // A disabled user is signed out of the console.
        const ways = starts.filter((start) => start !== 'console' || policy !== disabled);
        const at = policy.name.length;
        for (let turn = 0; turn < (everyStart ? ways.length : 1); turn++) {
          const act: Entry['act'] = async (operation) => {
            await world.apply(everything);
            const begun = await runs().begin(
              operation,
              ways[(at + turn + operations.indexOf(operation)) % ways.length]!,
            );
            await world.apply(policy);
            return runs().goOn(begun);
          };
          await walked({ world, entry: { ...runs(), act }, policy, operations, expect: endOfRun(policy) });
        }
      },
    );
    // RFC 6749 section 1.5: a run of an app cannot use what its consent excludes. An app cannot start a run on records
    // that it cannot see.
    const seen = operationsOf('automatic').filter((operation) => operation !== 'updatePolymorphic');
    test.each(pick(limits, seen))('$name', async ({ policy, operations }) => {
      const world = await ready(shared);
      const assistant = await openAssistant(world, policy.credential);
      const act: Entry['act'] = async (operation) => runs().goOn(await runs().begin(operation, assistant));
      await walked({ world, entry: { ...runs(), act }, policy, operations });
    });
  },
  'steps that ask a person'({ shared, walked, pick }: Group) {
    const runs = shareRuns(shared);
    const cases = modes
      .filter((mode) => mode !== 'automatic')
      .flatMap((mode) =>
        pick(
          // The form needs a record that the person who fills it in can see too.
          usual.filter(({ scope }) => mode === 'confirm' || scope === undefined),
          operationsOf(mode),
        ).map((picked) => ({ mode, ...picked })),
      );
    test.each(cases)('$mode: $name', async ({ mode, policy, operations }) => {
      const world = await ready(shared);
      const act: Entry['act'] = async (operation) => {
        await world.apply(everything);
        const begun = await runs().begin(operation, 'webhook', mode);
        // The approver must see the record. Policies that would hide it are applied before the question, others after
        // it.
        const isBefore = policy.scope !== undefined || policy === disabled || operation === 'callRemote';
        if (isBefore) await world.apply(policy);
        return runs().goOn(begun, isBefore ? undefined : () => world.apply(policy));
      };
      await walked({ world, entry: { ...runs(), act }, policy, operations, expect: endOfAsked(mode, policy) });
    });
  },
  'approved calls, done by the server': (group: Group) => describeApprovals(group.shared, group),
  'approved calls, done by the assistant': (group: Group) =>
    describeApprovals(shareWorld(group.maker, { SERVICE_APPROVAL_EXECUTION: 'assistant' }), group),
};

/** Allows everything, and closes pending approvals. */
async function ready(shared: () => World): Promise<World> {
  const world = shared();
  await world.forget();
  await world.apply(everything);
  return world;
}

/** A run is refused if its user can no longer see the collection. */
const endOfRun =
  ({ closes }: Policy) =>
  (operation: OperationName, end: End): End =>
    end === 'signed out' || (operation !== 'updatePolymorphic' && closes?.test('browse orders')) ? 'forbidden' : end;

/**
 * The person who confirms gives the approval that a policy requires. Filling in the form does not count as approval by
 * a second person.
 */
const endOfAsked =
  (mode: Mode, policy: Policy) =>
  (operation: OperationName, end: End): End => {
    const ended = endOfRun(policy)(operation, end);
    if (ended !== 'waits') return ended;
    return mode === 'manual' && policy.name === 'asks a second person' ? 'waits' : 'done';
  };

const startsBy = (runs: Runs, by: 'webhook' | Person): Entry => ({
  operations: ['start'],
  act: () => runs.tryStart(by),
});

const openWebhook = async (world: World): Promise<Entry> =>
  startsBy(await openRuns({ world, admin: await signIn(world, world.account) }), 'webhook');

function describeApprovals(shared: () => World, { walked, pick }: Group): void {
  let admin: Person | undefined;
  test('the requester of an approval cannot decide it as the second person', async () => {
    const world = await ready(shared);
    const [, policy] = askingPolicies;
    await world.apply(policy!);
    const assistant = await openAssistant(world);
    const { approve } = await assistant.act('update');
    const page = `/approvals/${approve!.split('/').at(-1)}`;
    for (const [account, end] of [
      [world.clerk, 'waits'],
      [world.account, 'done'],
    ] as const) {
      await (await signIn(world, account)).send(page, { action: 'approve' });
      expect((await assistant.act('update')).end).toBe(end);
      expect(await world.changes()).toEqual(expectedChanges('update', end));
    }
  });
  // The repeat of a call with an upload names another file, so it is left out.
  const asked = toolOperations.filter((operation) => expectedEnd(operation, asksPerson) === 'waits');
  const every = asked.filter((operation) => operation !== 'attach');
  test.each(pick(rolePolicies, every))('$name', async ({ policy, operations }) => {
    const world = await ready(shared);
    // Only the token that made the request gets the result.
    const assistant = await openAssistant(world);
    admin ??= await signIn(world, world.account);
    const decided = { ...policy, role: stillAsking(policy.role) };
    const entry = openApprovals({ world, assistant, admin, asking: asksPerson, policy: decided, operations });
    // If the caller sees fewer records than at the request, the approval is void.
    await walked({ world, entry, policy, mayBeVoid: policy.hides !== undefined });
  });
}

function shareWorld(maker: Maker, env: Readonly<Record<string, string>> = {}): () => World {
  const ends: (() => Promise<void>)[] = [];
  let world: World;
  beforeAll(async () => {
    const outside = await openOutside();
    ends.unshift(() => outside.stop());
    world = await openWorld(maker, (end) => ends.unshift(end), env, outside);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => world;
}

function shareRuns(shared: () => World): () => Runs {
  let runs: Runs;
  beforeAll(async () => {
    const world = await ready(shared);
    runs = await openRuns({ world, admin: await signIn(world, world.account) });
  });
  return () => runs;
}
