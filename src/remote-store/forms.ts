// The forms of the larger values that remote calls pass, for the table of methods (methods.ts).
import { flag, id, json, listOf, mapOf, nullable, number, oneOf, optional, plain, shape, text } from './checks.ts';

export const oauthRow = shape({
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
export const approvalCall = {
  ...{ userId: id, clientId: text, grantId: optional(text), tokenId: optional(id) },
  ...{ tool: text, args: text, found: text },
};
export const approvalRequest = shape({
  ...approvalCall,
  clientName: text,
  renderingId: id,
  collection: text,
  action: optional(text),
  recordIds: optional(listOf(text)),
  policy: shape({ policy: text, secondPerson: flag }),
  content: plain,
});
export const decision = {
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
export const noteFilter = {
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
export const claim = shape({ run: shape({ id: text, stepId: nullable(text) }), owner: text, fence: id });
export const passed = listOf(
  shape({ stepId: text, state: oneOf('done', 'skipped'), outcome: plain, data: optional(json), at: number }),
);
export const startRule = { collection: text, version: id, settings: plain, nextAt: nullable(number) };
export const pendingStart = shape({
  ...{ id: text, ruleId: text, records: nullable(listOf(text)), unlisted: id, hasMore: flag },
  ...{ chain: listOf(text), occurredAt: number },
});
export const remoteKey = { serverId: text, userId: id };
export const remoteCredential = { held: json, expiresAt: nullable(number) };
export const fileState = oneOf('asked', 'arriving', 'ready', 'taken');
export const externalIdentity = shape({
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

export const logPosition = shape({ at: number, id });
export const activityFilter = {
  userId: optional(id),
  team: optional(text),
  collection: optional(text),
  recordId: optional(text),
  action: optional(text),
  type: optional(text),
  outcome: optional(text),
  clientName: optional(text),
  times: timeRange,
};
export const adminLogFilter = {
  userId: optional(id),
  type: optional(text),
  initiator: optional(text),
  resource: optional(text),
  times: timeRange,
};
