// Texts of approvals: the question for the client's user, and the answer for a model while a call waits. Every value
// is printed as JSON, because a line break in a value could otherwise fake a part of the question.
import { stringifyJson } from '../../agent/sources/lossless-json.ts';
import type { Approval, ApprovalPreview, ApprovalRequest, PreviewedEffect } from '../../store/approvals/types.ts';

const MAX_RECORDS = 5;
const MAX_FIELDS = 12;
const MAX_VALUE_CHARACTERS = 80;

const verbs: Readonly<Record<string, string>> = {
  create: 'create',
  update: 'change',
  delete: 'delete',
  associate: 'link',
  dissociate: 'unlink',
};

export function questionText(request: Pick<ApprovalRequest, 'tool' | 'collection' | 'action' | 'content'>): string {
  const { preview } = request.content;
  const lines = preview.changes.slice(0, MAX_RECORDS).map((change) => recordLine(change, request.tool));
  const count = preview.count ?? 0;
  if (count > lines.length && lines.length > 0) lines.push(`- and ${count - lines.length} more`);
  for (const effect of preview.effects ?? []) lines.push(...effectLines(effect));
  for (const sentence of preview.unseen ?? []) lines.push(`- ${sentence}`);
  for (const [name, value] of Object.entries(preview.values ?? {}).slice(0, MAX_FIELDS))
    lines.push(`- ${name}: ${valueText(value)}`);
  return [`Your assistant wants to ${describeCall(request)}.`, ...lines, 'Allow it?'].join('\n');
}

const effectVerbs = { created: 'create', updated: 'change', deleted: 'delete' } as const;
const causes = { call: '', relation: ' through a relation', cascade: ' by the database', code: ' by code' } as const;

/** For example `- also change 1 record of 'customers' through a relation`, followed by the first of these records. */
function effectLines({ collection, change, cause, count, changes = [] }: PreviewedEffect): string[] {
  const where = collection === null ? 'a collection that you may not see' : `'${collection}'`;
  const line = `- also ${effectVerbs[change]} ${count} ${count === 1 ? 'record' : 'records'} of ${where}${causes[cause]}`;
  const tool = { created: 'create', updated: 'update', deleted: 'delete' }[change];
  const shown = changes.slice(0, MAX_RECORDS).map((record) => `  ${recordLine(record, tool)}`);
  return [line, ...shown, ...(changes.length > shown.length ? [`  - and ${count - shown.length} more`] : [])];
}

function recordLine({ id, fields }: ApprovalPreview['changes'][number], tool: string): string {
  const shown = Object.entries(fields).slice(0, MAX_FIELDS);
  const more = Object.keys(fields).length - shown.length;
  const texts = shown.map(([name, { before, after }]) => changeText(name, before, after, tool));
  return `- ${id === null ? 'new' : valueText(id)}: ${[...texts, ...(more > 0 ? [`${more} more fields`] : [])].join('; ')}`;
}

/** For example `change 2 records of 'orders'`. */
function describeCall({
  tool,
  collection,
  action,
  content,
}: Pick<ApprovalRequest, 'tool' | 'collection' | 'action' | 'content'>): string {
  const { count } = content.preview;
  const records = count === null ? '' : `${count} ${count === 1 ? 'record' : 'records'} of `;
  if (action !== undefined) return `run '${action}' on ${records}'${collection}'`;
  return `${verbs[tool] ?? tool} ${records}'${collection}'`;
}

function changeText(name: string, before: unknown, after: unknown, tool: string): string {
  if (tool === 'create') return `${name} ${valueText(after)}`;
  if (tool === 'delete') return `${name} ${valueText(before)}`;
  return `${name} ${valueText(before)} → ${valueText(after)}`;
}

function valueText(value: unknown): string {
  const text = stringifyJson(value);
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS - 1)}…` : text;
}

/** The answer while the server runs an approved call. */
export const runningText = JSON.stringify({
  status: 'running',
  next: 'The call was approved and is running on the server. Repeat this call unchanged in a few seconds to get its result.',
});

/** The answer while a call waits for approval: `{status, approve, expires, next}`. */
export function pendingText(
  { policy, expiresAt }: Approval,
  address: string,
  execution: 'server' | 'assistant',
): string {
  const who = policy.secondPerson ? 'someone else with this permission' : 'the user';
  const then =
    execution === 'server'
      ? 'The server then runs it at once; repeat this call unchanged to get its result.'
      : 'Then repeat this call unchanged.';
  return JSON.stringify({
    status: 'pending',
    approve: address,
    expires: new Date(expiresAt).toISOString(),
    next: `The call has not run yet. Ask ${who} to open the address and approve it. ${then}`,
  });
}
