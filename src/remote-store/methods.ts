// The remote calls of a Store as one table. Every method of every part needs a row, which forces a decision for each
// new method. `again`: idempotent; repeated when a connection breaks. `once`: not idempotent; the storage records its
// nonce, and only one process executes it. `kept`: only available on the platform, because it administers the
// installation. `apart`: has a different wire format (relayed.ts).
import type { Store } from '../store/store.ts';
import { type Check, flag, id, json, listOf, nullable, number, oneOf, optional, plain, shape, text } from './checks.ts';
import {
  activityFilter,
  adminLogFilter,
  approvalCall,
  approvalRequest,
  claim,
  decision,
  externalIdentity,
  fileState,
  logPosition,
  noteFilter,
  oauthRow,
  passed,
  remoteCredential,
  remoteKey,
} from './forms.ts';

export interface RemoteCall<T extends readonly Check[] = readonly Check[]> {
  readonly effect: 'again' | 'once';
  readonly takes: T;
}
export type Row<T extends readonly Check[] = readonly Check[]> = RemoteCall<T> | 'kept' | 'apart';

type Checks<A extends readonly unknown[]> = { readonly [I in keyof A]-?: Check };
// biome-ignore lint/suspicious/noExplicitAny: any method is meant
type Method = (...args: any[]) => unknown;
type RowOf<F> = F extends Method ? Row<Checks<Parameters<F>>> : never;

/** The parts of a store that are objects with methods. */
export type Part = { [P in keyof Store]: Store[P] extends Method ? never : P }[keyof Store];
type Calls = { readonly [P in Part]: { readonly [M in keyof Store[P]]: RowOf<Store[P][M]> } };

const idempotent = <const T extends readonly Check[]>(...takes: T) => ({ effect: 'again', takes }) as const;
const exactlyOnce = <const T extends readonly Check[]>(...takes: T) => ({ effect: 'once', takes }) as const;

export const calls: Calls = {
  identity: {
    addUser: 'kept',
    countUsers: idempotent(),
    listUsers: idempotent(),
    findUser: idempotent(id),
    findUserByEmail: idempotent(text),
    verifyPassword: idempotent(text, text),
    setPassword: 'kept',
    setDisabled: 'kept',
    setProfile: exactlyOnce(id, shape({ firstName: text, lastName: text, timezone: text })),
    place: idempotent(),
  },
  identities: {
    admit: exactlyOnce(externalIdentity, shape({ link: flag })),
    findUserId: idempotent(text, text),
    has: idempotent(id, text),
  },
  permissions: { accessOf: 'apart', cachedAccessOf: 'apart', caller: 'apart', setRole: 'kept', setScope: 'kept' },
  rights: { read: 'kept', apply: 'kept', networks: idempotent() },
  members: { change: 'kept' },
  oauth: {
    upsert: exactlyOnce(oauthRow),
    insertOnce: exactlyOnce(oauthRow),
    find: idempotent(text, text),
    findByUid: idempotent(text, text),
    consume: exactlyOnce(text, text, number),
    hasConsumedSuccessor: idempotent(text, number),
    hasConsumedSibling: idempotent(text, number, text),
    destroy: exactlyOnce(text, text),
    revokeGrant: exactlyOnce(text),
    listByAccount: idempotent(text, text),
    touchClient: idempotent(text, number),
    countClients: idempotent(),
    forgetUnused: idempotent(number),
    sweep: exactlyOnce(number, number, number),
  },
  activity: {
    record: 'apart',
    begin: 'apart',
    flush: 'apart',
    list: idempotent(shape({ limit: id, before: optional(id) })),
    search: idempotent(shape({ ...activityFilter, limit: id, after: optional(logPosition) })),
    find: idempotent(id, optional(id)),
    walk: idempotent(shape({ ...activityFilter, since: id, until: id })),
    newestId: idempotent(),
  },
  adminLog: {
    search: idempotent(shape({ ...adminLogFilter, limit: id, after: optional(logPosition) })),
    find: idempotent(id),
    walk: idempotent(shape({ ...adminLogFilter, since: id, until: id })),
    newestId: idempotent(),
  },
  idempotency: { claim: 'apart' },
  approvals: {
    ask: exactlyOnce(approvalRequest),
    openOf: idempotent(shape(approvalCall)),
    find: idempotent(text),
    list: idempotent(oneOf('pending', 'settled'), id, optional(id)),
    openOfUser: idempotent(id),
    decide: exactlyOnce(text, shape({ by: id, verdict: oneOf('approved', 'denied') })),
    take: exactlyOnce(text, shape(approvalCall)),
    begin: exactlyOnce(text, shape(approvalCall)),
    settle: exactlyOnce(text, plain),
    close: exactlyOnce(text),
    overtake: exactlyOnce(text),
    keepAnswer: exactlyOnce(text, approvalRequest, flag),
    sweep: exactlyOnce(),
  },
  settings: { get: 'kept', set: 'kept' },
  keys: { list: 'kept', rotate: 'kept', retire: 'kept', of: 'apart' },
  files: {
    add: exactlyOnce(
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
    find: idempotent(text),
    move: exactlyOnce(text, fileState, fileState),
    putPart: exactlyOnce(text, id, text),
    findPart: idempotent(text, id),
    finish: exactlyOnce(text, shape({ bytes: id, parts: id })),
    restart: exactlyOnce(text),
    keep: exactlyOnce(text, number),
    remove: exactlyOnce(text),
    countOf: idempotent(id),
    sweep: exactlyOnce(),
  },
  sessions: {
    begin: exactlyOnce(
      shape({
        userId: id,
        browser: text,
        issuer: optional(nullable(text)),
        address: optional(text),
        since: optional(number),
      }),
    ),
    find: idempotent(text),
    list: idempotent(id, optional(text)),
    end: exactlyOnce(text),
    endListed: exactlyOnce(id, text, optional(id)),
    endAll: exactlyOnce(id, shape({ grants: flag, by: optional(id) })),
  },
  agentSessions: {
    beginSignIn: exactlyOnce(shape({ origin: text, codeChallenge: optional(text), renderingId: optional(id) })),
    findSignIn: idempotent(text),
    allowSignIn: exactlyOnce(text, id),
    dropSignIn: exactlyOnce(text),
    findAnswer: idempotent(text, text),
    redeem: exactlyOnce(text, text),
    find: idempotent(text),
    end: exactlyOnce(text),
  },
  links: { make: 'kept', find: idempotent(text), use: exactlyOnce(text, text) },
  secondFactors: {
    of: idempotent(id),
    propose: idempotent(text, text, optional(text)),
    switchOn: exactlyOnce(id, text, text),
    renewRecoveryCodes: exactlyOnce(id),
    check: exactlyOnce(id, text),
    switchOff: exactlyOnce(id, optional(id)),
  },
  windows: { add: exactlyOnce(text, number), takeBack: exactlyOnce(text), clear: exactlyOnce(text) },
  quotas: { take: exactlyOnce(text, shape({ minute: id, hour: id, day: id })) },
  tokens: {
    create: 'kept',
    find: idempotent(text),
    get: idempotent(id),
    list: idempotent(),
    revoke: exactlyOnce(id, optional(id)),
    noteUse: 'apart',
  },
  connections: {
    decide: exactlyOnce(shape(decision)),
    decisionOf: idempotent(id, text),
    list: idempotent(shape({ userId: optional(id), after: optional(text), limit: id })),
    find: idempotent(text),
    end: exactlyOnce(shape({ id: text, by: optional(id), clientName: text })),
    noteUse: 'apart',
    block: 'kept',
    unblock: 'kept',
    isBlocked: idempotent(text),
    listBlocked: 'kept',
  },
  schema: { hash: idempotent(), get: idempotent(), keep: exactlyOnce(text) },
  notes: {
    list: idempotent(shape(noteFilter)),
    find: idempotent(id),
    create: exactlyOnce(
      shape({ title: text, collection: text, recordId: text, userId: id, renderingId: id, content: optional(text) }),
    ),
    change: exactlyOnce(id, shape({ title: optional(text), archived: optional(flag) })),
    addMessage: exactlyOnce(id, shape({ userId: id, content: text })),
    editMessage: exactlyOnce(id, id, text),
  },
  workflows: {
    publish: exactlyOnce(
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
    publishCode: exactlyOnce(
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
    list: idempotent(shape({ renderingId: optional(id), collection: optional(text) })),
    find: idempotent(text),
    versions: idempotent(text),
    definition: idempotent(text, id),
    setActive: exactlyOnce(text, flag, id),
    changeTrigger: exactlyOnce(
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
    signingSecret: idempotent(text, optional(flag)),
  },
  runs: {
    create: exactlyOnce(
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
    find: idempotent(text),
    steps: idempotent(text),
    list: idempotent(
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
    claim: exactlyOnce(shape({ owner: text, leaseMs: id, limit: id, ids: optional(listOf(text)) })),
    due: idempotent(shape({ limit: id, ids: optional(listOf(text)) })),
    renew: exactlyOnce(claim, id),
    begin: exactlyOnce(claim, text, optional(id), optional(passed)),
    finish: exactlyOnce(
      claim,
      shape({
        position: optional(id),
        stepId: text,
        state: oneOf('done', 'skipped'),
        outcome: plain,
        data: optional(json),
        next: nullable(text),
        passedSteps: optional(passed),
      }),
    ),
    wait: exactlyOnce(
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
    fail: exactlyOnce(
      claim,
      shape({
        position: optional(id),
        code: text,
        message: text,
        data: optional(json),
        passed: optional(passed),
      }),
    ),
    endCancelled: exactlyOnce(claim, optional(passed)),
    wake: idempotent(text),
    release: exactlyOnce(claim, optional(text), optional(passed)),
    answer: exactlyOnce(text, shape({ position: id, by: id, value: json })),
    cancel: exactlyOnce(text, id),
    takeCallbacks: exactlyOnce(id, id),
    settleCallback: exactlyOnce(text, nullable(id), nullable(text)),
    sweep: exactlyOnce(),
  },
  remotes: {
    add: 'kept',
    remove: 'kept',
    list: idempotent(),
    find: idempotent(text),
    findByName: idempotent(text),
    secretOf: idempotent(text),
    setClient: 'kept',
    setTools: 'kept',
    beginSignIn: exactlyOnce(shape({ ...remoteKey, state: text, sessionId: text, held: json, expiresAt: number })),
    takeSignIn: exactlyOnce(shape({ state: text, userId: id, sessionId: text })),
    connect: exactlyOnce(shape({ ...remoteKey, ...remoteCredential })),
    disconnect: exactlyOnce(shape(remoteKey), id),
    accountsOf: idempotent(id),
    grantOf: idempotent(shape(remoteKey)),
    noteUse: idempotent(shape(remoteKey)),
    claimRefresh: exactlyOnce(shape(remoteKey), id, id),
    settleRefresh: exactlyOnce(shape(remoteKey), id, optional(shape(remoteCredential))),
    markReconnect: idempotent(shape(remoteKey), id),
  },
};
