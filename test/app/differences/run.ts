// Random assistant calls over random tables, through the endpoint. Each call is compared with the database before and
// after it.
import type { LoggedActivity } from '../../../src/store/audit/activity-types.ts';
import type { CollectionPermission } from '../../../src/store/permissions/types.ts';
import { createRandom } from '../../agent/oracle/random.ts';
import type { TestServer } from '../../databases.ts';
import { type Http, openHttp } from '../callers.ts';
import { all, type Music, openTables } from '../music.ts';
import { type Answer, askHttp, createPerson, openSteps, type Person, type Steps } from './callers.ts';
import { type Call, makeCall, readRelations } from './calls.ts';
import { customizeWith } from './code.ts';
import { type Claim, findDifferences, type Snapshot, takeSnapshot } from './judge.ts';
import { makeWorld, type Table, type World } from './tables.ts';

export interface Tally {
  calls: number;
  refused: number;
  extended: number;
  approved: number;
  /** The number of written records that the calls did not name. */
  others: number;
  /** How often each error code was returned. */
  readonly codes: Map<string, number>;
  /** The number of calls of each kind. */
  readonly kinds: Map<string, number>;
  readonly differences: string[];
}

export const newTally = (): Tally => ({
  calls: 0,
  refused: 0,
  extended: 0,
  approved: 0,
  others: 0,
  codes: new Map(),
  kinds: new Map(),
  differences: [],
});

const hookLog: Table = {
  name: 'hook_log',
  key: ['id'],
  columns: [],
  foreignKeys: [],
  isPairs: false,
};

/** Makes `calls` calls over the tables of a seed. */
export async function runSeed(maker: TestServer, seed: number, calls: number, tally: Tally): Promise<void> {
  const random = createRandom(seed);
  const world = makeWorld(random, maker.dialect);
  const music = await openTables(maker, world.statements, customizeWith(world));
  await permit(music, world);
  const person = createPerson(music);
  const callers = { http: await openHttp(music), person, steps: await openSteps(music, person) };
  const tables = [...world.tables, ...(world.hook ? [hookLog] : [])];
  const relations = await readRelations(music, world);
  let before = await takeSnapshot(music.database, tables);
  for (let at = 0; at < calls; at++) {
    const call = makeCall(random, world, before, relations, at);
    if (!call) continue;
    tally.calls++;
    const { after, wrong } = await judgeCall(music, callers, world, tables, before, call, at, tally);
    before = after;
    for (const problem of wrong)
      tally.differences.push(
        `${maker.dialect} seed ${seed} call ${at}: ${kindOf(call)} ${JSON.stringify(call.args)}: ${problem}`,
      );
  }
}

async function permit(music: Music, { closed }: World): Promise<void> {
  const permissions: Record<string, CollectionPermission> = { '*': all };
  for (const [name, how] of Object.entries(closed)) {
    if (how === 'no delete') permissions[name] = { ...all, delete: false };
    if (how === 'no edit') permissions[name] = { ...all, edit: false };
    if (how === 'ask')
      permissions[name] = {
        ...all,
        approval: { delete: 'ask-person', edit: 'ask-person', add: 'ask-person' },
        actions: { Set: { trigger: true, approval: 'ask-person' } },
      };
    if (how === 'scope') {
      const { team } = (await music.store.identity.findUserByEmail(music.clerk.email))!;
      await music.store.permissions.setScope(team, name, { field: 'n', operator: 'LessThan', value: 9 });
    }
  }
  await music.permit(permissions);
}

const changesOf: Readonly<Record<string, Claim['change']>> = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
};

/** The changes that an answer, a dry run or an approval page reports. */
function claimsOf({ tool, args, to }: Call, answer: Answer): Claim[] {
  const { collectionName } = args;
  if (tool === 'executeAction') return [...(answer.alsoWritten ?? [])];
  const through = to !== undefined && answer.collection !== to;
  const change =
    tool === 'associate' || tool === 'dissociate'
      ? through
        ? tool === 'associate'
          ? 'created'
          : 'deleted'
        : 'updated'
      : changesOf[tool]!;
  const { count, changes } = answer;
  const ids = answer.ids ?? changes?.flatMap(({ id }) => (id === null ? [] : [id]));
  const own: Claim = {
    ...{ collection: answer.collection ?? String(collectionName), change, cause: 'call', count },
    ...(ids?.length === count && { ids }),
    ...(changes && { changes }),
  };
  return [...(count > 0 ? [own] : []), ...(answer.alsoWritten ?? [])];
}

const codeOf = (answer: unknown): string | undefined =>
  typeof answer === 'string' ? (/^[A-Z_]+/.exec(answer)?.[0] ?? answer.slice(0, 40)) : undefined;

const kindOf = ({ tool, args, by }: Call): string =>
  `${tool}${JSON.stringify(args).includes('"up_') ? ' nested' : ''}${by ? ` by ${by}` : ''}`;

interface Callers {
  readonly http: Http;
  readonly person: Person;
  readonly steps: Steps;
}

async function judgeCall(
  music: Music,
  { http, person, steps }: Callers,
  { hook, removed }: World,
  tables: readonly Table[],
  before: Snapshot,
  call: Call,
  at: number,
  tally: Tally,
): Promise<{ readonly after: Snapshot; readonly wrong: string[] }> {
  const wrong: string[] = [];
  const { tool, args } = call;
  const need = (what: string, from: Snapshot, to: Snapshot, claims: readonly Claim[], of = tables) => {
    // The only collection without a name is the removed one.
    const named = claims.map((each) => ({ ...each, collection: each.collection ?? removed }));
    for (const problem of findDifferences(of, from, to, named)) wrong.push(`${what}: ${problem}`);
  };
  const dry = await music.call(tool, { ...args, dryRun: true });
  need('the dry run wrote', before, await takeSnapshot(music.database, tables), []);
  const kind = kindOf(call);
  const fired = (await music.rows('trigger_log')).length;
  tally.kinds.set(kind, (tally.kinds.get(kind) ?? 0) + 1);
  let entry: LoggedActivity | undefined;
  let approved: Answer | undefined;
  let answer: unknown;
  if (call.by === 'step' || call.by === 'confirmed step') {
    const stepped = await steps.run(call, `call ${at}`);
    approved = stepped.shown;
    entry = stepped.entry;
    // Only the log has the changes of a step. The user who confirmed it saw the preview.
    answer = stepped.code ?? { ...(approved ?? (dry as Answer)), ...(entry && { alsoWritten: entry.effects ?? [] }) };
  } else {
    answer = call.by ? await askHttp(http, call) : await music.call(tool, args);
    if (isPending(answer)) {
      need('the request of an approval wrote', before, await takeSnapshot(music.database, tables), []);
      const id = new URL(answer.approve).pathname.split('/').at(-1)!;
      const { preview } = (await music.store.approvals.find(id))!.content;
      approved = { ...preview, count: preview.count ?? 0, alsoWritten: preview.effects ?? [] };
      await person.press(answer.approve, 'approve');
      answer = await music.call(tool, args);
    }
    entry = (await music.written())[0];
  }
  if (approved) tally.approved++;
  const after = await takeSnapshot(music.database, tables);
  const [code, dryCode] = [codeOf(answer), codeOf(dry)];
  // The HTTP API cannot ask for approval, and the writes of action code are not known in advance. A link names the
  // related record, but the same update names the field.
  const isLink = call.by === 'relationship' && code === 'RECORD_NOT_FOUND' && dryCode === 'INVALID_RECORD';
  const isOther = code === 'NEEDS_APPROVAL' || tool === 'executeAction' || isLink;
  if (code !== dryCode && !isOther) wrong.push(`the dry run said ${dryCode ?? 'yes'}, the call ${code ?? 'yes'}`);
  if (code === 'INTERNAL') wrong.push('INTERNAL');
  const isStep = call.by === 'step' || call.by === 'confirmed step';
  if (code !== undefined) {
    tally.refused++;
    tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
    const kept = tool === 'executeAction' ? (entry?.effects ?? []) : [];
    if (
      tool === 'executeAction' &&
      !isStep &&
      typeof answer === 'string' &&
      kept.length > 0 &&
      !/not rolled back: |alsoWritten/.test(answer)
    )
      wrong.push('the error does not say what was written before it');
    need('the refused call wrote', before, after, kept);
    return { after, wrong };
  }
  const done = readDone(call, answer as Answer, dry as Answer);
  const hasFired = (await music.rows('trigger_log')).length > fired;
  // Writes of code have no such note.
  if (hasFired && tool !== 'executeAction' && !done.unseen?.some((text) => text.includes('has triggers')))
    wrong.push('triggers ran, which the answer does not say');
  const others = done.alsoWritten?.reduce((sum, { count }) => sum + count, 0) ?? 0;
  tally.others += others;
  if (others > 0) tally.extended++;
  const shown = tables.filter(({ name }) => name !== hookLog.name);
  // Writes of After hooks are known only after the hooks ran.
  if (dryCode === undefined && tool !== 'executeAction')
    need('dry run', before, after, claimsOf(call, dry as Answer), shown);
  const { collection = args.collectionName } = done;
  if (
    hook &&
    collection === args.collectionName &&
    hook.table === collection &&
    !/ociate|Action/.test(tool) &&
    !(dry as Answer).unseen?.length
  )
    wrong.push('the dry run does not say that code runs');
  if (!isStep) need('answer', before, after, claimsOf(call, done));
  const link = { ...(done.collection !== undefined && { collection: done.collection }) };
  if (approved && tool !== 'executeAction')
    need('approval', before, after, claimsOf(call, { ...approved, ...link }), shown);
  const logged = isStep && tool === 'executeAction' ? 'action' : tool;
  if (entry?.action !== logged) wrong.push(`the log says ${entry?.action}`);
  else need('log', before, after, loggedClaims(call, entry));
  return { after, wrong };
}

/** Over HTTP, answers to links do not list the records of the call. They are taken from the dry run. */
function readDone({ tool, by }: Call, answer: Answer, { collection, count, changes }: Answer): Answer {
  if (by !== 'HTTP' || !/ociate/.test(tool)) return answer;
  const ids = changes?.flatMap(({ id }) => (id === null ? [] : [id]));
  return { ...answer, ...(collection !== undefined && { collection }), count, ...(ids && { ids }) };
}

/**
 * The entry names the records of the call, and its effects are all other records. If the records of the call are in
 * another collection, the effects include them.
 */
function loggedClaims({ tool }: Call, { collection = '', recordIds = [], effects = [] }: LoggedActivity): Claim[] {
  const isNamed = tool === 'create' || tool === 'update' || tool === 'delete';
  if (!isNamed || recordIds.length === 0 || effects.some(({ cause }) => cause === 'call')) return [...effects];
  const own = { collection, change: changesOf[tool]!, cause: 'call', count: recordIds.length, ids: recordIds };
  return [own, ...effects];
}

const isPending = (answer: unknown): answer is { readonly approve: string } =>
  typeof answer === 'object' && answer !== null && 'approve' in answer;
