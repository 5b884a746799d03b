// The remote calls of a Store as one table. Every method of every part needs a row, which forces a decision for each
// new method. `again`: idempotent; repeated when a connection breaks. `once`: not idempotent; the storage records its
// nonce, and only one process executes it. `kept`: only available on the platform, because it administers the
// installation. `apart`: has a different wire format (relayed.ts).
import type { Store } from '../store/store.ts';
import {
  type Check,
  flag,
  id,
  json,
  listOf,
  mapOf,
  nullable,
  number,
  oneOf,
  optional,
  plain,
  shape,
  text,
} from './checks.ts';

export interface Passed<T extends readonly Check[] = readonly Check[]> {
  readonly effect: 'again' | 'once';
  readonly takes: T;
}
export type Row<T extends readonly Check[] = readonly Check[]> = Passed<T> | 'kept' | 'apart';

type Checks<A extends readonly unknown[]> = { readonly [I in keyof A]-?: Check };
// biome-ignore lint/suspicious/noExplicitAny: any method is meant
type Method = (...args: any[]) => unknown;
type RowOf<F> = F extends Method ? Row<Checks<Parameters<F>>> : never;

/** The parts of a store that are objects with methods. */
export type Part = { [P in keyof Store]: Store[P] extends Method ? never : P }[keyof Store];
type Calls = { readonly [P in Part]: { readonly [M in keyof Store[P]]: RowOf<Store[P][M]> } };

const again = <const T extends readonly Check[]>(...takes: T) => ({ effect: 'again', takes }) as const;
const once = <const T extends readonly Check[]>(...takes: T) => ({ effect: 'once', takes }) as const;

const oauthRow = shape({
  model: text,
  id: text,
  payload: plain,
  grantId: optional(text),
  uid: optional(text),
  accountId: optional(text),
  clientId: optional(text),
  consumedAt: optional(number),
  expiresAt: optional(number),
});
const approvalCall = {
  ...{ userId: id, clientId: text, grantId: optional(text), tokenId: optional(id) },
  ...{ tool: text, args: text, found: text },
};
const approvalRequest = shape({
  ...approvalCall,
  clientName: text,
  renderingId: id,
  collection: text,
  action: optional(text),
  recordIds: optional(listOf(text)),
  policy: shape({ policy: text, secondPerson: flag }),
  content: plain,
});
const decision = {
  asked: listOf(text),
  scopes: listOf(text),
  choice: json,
  endsAt: nullable(number),
  userId: id,
  clientId: text,
  clientName: text,
  told: json,
};
const timeRange = optional(shape({ from: optional(number), to: optional(number) }));
const noteWish = {
  userEmail: optional(text),
  userId: optional(id),
  teamName: optional(text),
  collection: optional(text),
  collections: optional(listOf(text)),
  recordId: optional(text),
  title: optional(text),
  archived: optional(flag),
  createdAt: timeRange,
  updatedAt: timeRange,
  archivedAt: timeRange,
  after: optional(number),
  limit: id,
  withMessages: optional(flag),
};
/** The storage ignores other fields of a claim. */
const claim = shape({ run: shape({ id: text, stepId: nullable(text) }), owner: text, fence: id });
const passed = listOf(
  shape({ stepId: text, state: oneOf('done', 'skipped'), outcome: plain, data: optional(json), at: number }),
);
const remoteKey = { serverId: text, userId: id };
const remoteHeld = { held: json, expiresAt: nullable(number) };
const fileState = oneOf('asked', 'arriving', 'ready', 'taken');
const externalIdentity = shape({
  issuer: text,
  subject: text,
  email: text,
  emailVerified: flag,
  firstName: optional(text),
  lastName: optional(text),
  timezone: optional(text),
  rights: shape({
    team: optional(listOf(text)),
    role: optional(listOf(text)),
    level: optional(nullable(text)),
    tags: optional(mapOf(nullable(text))),
    onlyTheseTags: optional(flag),
  }),
});

const times = optional(shape({ from: optional(number), to: optional(number) }));
const logPlace = shape({ at: number, id });
const activityFilter = {
  userId: optional(id),
  team: optional(text),
  collection: optional(text),
  recordId: optional(text),
  action: optional(text),
  type: optional(text),
  outcome: optional(text),
  clientName: optional(text),
  times,
};
const adminLogFilter = {
  userId: optional(id),
  type: optional(text),
  initiator: optional(text),
  resource: optional(text),
  times,
};

export const calls: Calls = {
  identity: {
    addUser: 'kept',
    countUsers: again(),
    listUsers: again(),
    findUser: again(id),
    findUserByEmail: again(text),
    verifyPassword: again(text, text),
    setPassword: 'kept',
    setDisabled: 'kept',
    setProfile: once(id, shape({ firstName: text, lastName: text, timezone: text })),
    place: again(),
  },
  identities: {
    admit: once(externalIdentity, shape({ link: flag })),
    findUserId: again(text, text),
    has: again(id, text),
  },
  permissions: { accessOf: 'apart', cachedAccessOf: 'apart', caller: 'apart', setRole: 'kept', setScope: 'kept' },
  rights: { read: 'kept', apply: 'kept', networks: again() },
  members: { change: 'kept' },
  oauth: {
    upsert: once(oauthRow),
    insertOnce: once(oauthRow),
    find: again(text, text),
    findByUid: again(text, text),
    consume: once(text, text, number),
    hasConsumedSuccessor: again(text, number),
    hasConsumedSibling: again(text, number, text),
    destroy: once(text, text),
    revokeGrant: once(text),
    listByAccount: again(text, text),
    touchClient: again(text, number),
    countClients: again(),
    forgetUnused: again(number),
    sweep: once(number, number, number),
  },
  activity: {
    record: 'apart',
    begin: 'apart',
    flush: 'apart',
    list: again(shape({ limit: id, before: optional(id) })),
    search: again(shape({ ...activityFilter, limit: id, after: optional(logPlace) })),
    find: again(id, optional(id)),
    walk: again(shape({ ...activityFilter, since: id, until: id })),
    newestId: again(),
  },
  adminLog: {
    search: again(shape({ ...adminLogFilter, limit: id, after: optional(logPlace) })),
    find: again(id),
    walk: again(shape({ ...adminLogFilter, since: id, until: id })),
    newestId: again(),
  },
  idempotency: { claim: 'apart' },
  approvals: {
    ask: once(approvalRequest),
    openOf: again(shape(approvalCall)),
    find: again(text),
    list: again(oneOf('pending', 'settled'), id, optional(id)),
    openOfUser: again(id),
    decide: once(text, shape({ by: id, verdict: oneOf('approved', 'denied') })),
    take: once(text, shape(approvalCall)),
    begin: once(text, shape(approvalCall)),
    settle: once(text, plain),
    close: once(text),
    overtake: once(text),
    keepAnswer: once(text, approvalRequest, flag),
    sweep: once(),
  },
  settings: { get: 'kept', set: 'kept' },
  keys: { list: 'kept', rotate: 'kept', retire: 'kept', of: 'apart' },
  files: {
    add: once(
      shape({
        id: text,
        kind: oneOf('upload', 'download', 'run'),
        userId: id,
        state: fileState,
        sealed: text,
        bytes: id,
        parts: id,
        expiresAt: number,
      }),
    ),
    find: again(text),
    move: once(text, fileState, fileState),
    putPart: once(text, id, text),
    findPart: again(text, id),
    finish: once(text, shape({ bytes: id, parts: id })),
    restart: once(text),
    keep: once(text, number),
    remove: once(text),
    countOf: again(id),
    sweep: once(),
  },
  sessions: {
    begin: once(
      shape({
        userId: id,
        browser: text,
        issuer: optional(nullable(text)),
        address: optional(text),
        since: optional(number),
      }),
    ),
    find: again(text),
    list: again(id, optional(text)),
    end: once(text),
    endListed: once(id, text, optional(id)),
    endAll: once(id, shape({ grants: flag, by: optional(id) })),
  },
  agentSessions: {
    beginSignIn: once(shape({ origin: text, codeChallenge: optional(text), renderingId: optional(id) })),
    findSignIn: again(text),
    allowSignIn: once(text, id),
    dropSignIn: once(text),
    findAnswer: again(text, text),
    redeem: once(text, text),
    find: again(text),
    end: once(text),
  },
  links: { make: 'kept', find: again(text), use: once(text, text) },
  secondFactors: {
    of: again(id),
    propose: again(text, text, optional(text)),
    switchOn: once(id, text, text),
    renewRecoveryCodes: once(id),
    check: once(id, text),
    switchOff: once(id, optional(id)),
  },
  windows: { add: once(text, number), takeBack: once(text), clear: once(text) },
  quotas: { take: once(text, shape({ minute: id, hour: id, day: id })) },
  tokens: {
    create: 'kept',
    find: again(text),
    get: again(id),
    list: again(),
    revoke: once(id, optional(id)),
    noteUse: 'apart',
  },
  connections: {
    decide: once(shape(decision)),
    decisionOf: again(id, text),
    list: again(shape({ userId: optional(id), after: optional(text), limit: id })),
    find: again(text),
    end: once(shape({ id: text, by: optional(id), clientName: text })),
    noteUse: 'apart',
    block: 'kept',
    unblock: 'kept',
    isBlocked: again(text),
    listBlocked: 'kept',
  },
  schema: { hash: again(), get: again(), keep: once(text) },
  notes: {
    list: again(shape(noteWish)),
    find: again(id),
    create: once(
      shape({ title: text, collection: text, recordId: text, userId: id, renderingId: id, content: optional(text) }),
    ),
    change: once(id, shape({ title: optional(text), archived: optional(flag) })),
    addMessage: once(id, shape({ userId: id, content: text })),
    editMessage: once(id, id, text),
  },
  workflows: {
    publish: once(
      shape({
        renderingId: id,
        name: text,
        collection: text,
        definition: text,
        concurrency: nullable(id),
        by: id,
        of: optional(shape({ id: text, since: id })),
      }),
    ),
    publishCode: once(
      listOf(
        shape({
          name: text,
          collection: text,
          definition: text,
          concurrency: nullable(id),
          teams: optional(listOf(text)),
        }),
      ),
    ),
    list: again(shape({ renderingId: optional(id), collection: optional(text) })),
    find: again(text),
    versions: again(text),
    definition: again(text, id),
    setActive: once(text, flag, id),
    changeTrigger: once(
      text,
      shape({
        isEnabled: optional(flag),
        regenerate: optional(flag),
        keyId: optional(text),
        needsSignature: optional(flag),
        callbackUrl: optional(nullable(text)),
      }),
      id,
    ),
    signingSecret: again(text, optional(flag)),
  },
  runs: {
    create: once(
      shape({
        workflow: shape({ id: text, version: id, renderingId: id }),
        recordId: text,
        userId: id,
        origin: oneOf('webhook', 'mcp', 'console', 'api'),
        originName: text,
        collections: optional(listOf(text)),
        idempotencyKey: optional(text),
        idempotencyOf: optional(text),
      }),
    ),
    find: again(text),
    steps: again(text),
    list: again(
      shape({
        renderingId: optional(id),
        workflowId: optional(text),
        recordId: optional(text),
        userId: optional(id),
        state: optional(text),
        after: optional(text),
        limit: id,
      }),
    ),
    claim: once(shape({ owner: text, leaseMs: id, limit: id, ids: optional(listOf(text)) })),
    due: again(shape({ limit: id, ids: optional(listOf(text)) })),
    renew: once(claim, id),
    begin: once(claim, text, optional(id), optional(passed)),
    finish: once(
      claim,
      shape({
        position: optional(id),
        stepId: text,
        state: oneOf('done', 'skipped'),
        outcome: plain,
        data: optional(json),
        next: nullable(text),
        passed: optional(passed),
      }),
    ),
    wait: once(
      claim,
      shape({
        position: optional(id),
        stepId: text,
        reason: text,
        outcome: plain,
        data: optional(json),
        until: number,
        passed: optional(passed),
      }),
    ),
    fail: once(
      claim,
      shape({
        position: optional(id),
        code: text,
        message: text,
        data: optional(json),
        passed: optional(passed),
      }),
    ),
    endCancelled: once(claim, optional(passed)),
    wake: again(text),
    release: once(claim, optional(text), optional(passed)),
    answer: once(text, shape({ position: id, by: id, value: json })),
    cancel: once(text, id),
    takeCallbacks: once(id, id),
    settleCallback: once(text, nullable(id)),
    sweep: once(),
  },
  remotes: {
    add: 'kept',
    remove: 'kept',
    list: again(),
    find: again(text),
    findByName: again(text),
    secretOf: again(text),
    setClient: 'kept',
    setTools: 'kept',
    beginSignIn: once(shape({ ...remoteKey, state: text, sessionId: text, held: json, expiresAt: number })),
    takeSignIn: once(shape({ state: text, userId: id, sessionId: text })),
    connect: once(shape({ ...remoteKey, ...remoteHeld })),
    disconnect: once(shape(remoteKey), id),
    accountsOf: again(id),
    grantOf: again(shape(remoteKey)),
    noteUse: again(shape(remoteKey)),
    claimRefresh: once(shape(remoteKey), id, id),
    settleRefresh: once(shape(remoteKey), id, optional(shape(remoteHeld))),
    markReconnect: again(shape(remoteKey), id),
  },
};
