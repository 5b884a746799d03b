// What the person at the client reads before a call may run, and what a model is told while a call waits. Every value stands
// in JSON, so that none can end a line and pass for a part of the question.
import { printJson } from '../../agent/sources/json-text.ts';
import type { Approval, ApprovalRequest } from '../../store/approval-types.ts';

const MOST_RECORDS = 5;
const MOST_FIELDS = 12;
const VALUE_CHARACTERS = 80;

const verbs: Readonly<Record<string, string>> = {
  create: 'create',
  update: 'change',
  delete: 'delete',
  associate: 'link',
  dissociate: 'unlink',
};

export function questionText(request: Pick<ApprovalRequest, 'tool' | 'collection' | 'action' | 'content'>): string {
  const { preview } = request.content;
  const lines = preview.changes.slice(0, MOST_RECORDS).map(({ id, fields }) => {
    const shown = Object.entries(fields).slice(0, MOST_FIELDS);
    const more = Object.keys(fields).length - shown.length;
    const told = shown.map(([name, { before, after }]) => changeText(name, before, after, request.tool));
    return `- ${id === null ? 'new' : valueText(id)}: ${[...told, ...(more > 0 ? [`${more} more fields`] : [])].join('; ')}`;
  });
  const count = preview.count ?? 0;
  if (count > lines.length && lines.length > 0) lines.push(`- and ${count - lines.length} more`);
  for (const [name, value] of Object.entries(preview.values ?? {}).slice(0, MOST_FIELDS))
    lines.push(`- ${name}: ${valueText(value)}`);
  return [`Your assistant wants to ${whatText(request)}.`, ...lines, 'Allow it?'].join('\n');
}

/** Such as `change 2 records of 'orders'`. */
export function whatText({
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
  const text = printJson(value);
  return text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS - 1)}…` : text;
}

/** `{status, approve, expires, next}`. */
export function pendingText({ policy, expiresAt }: Approval, address: string): string {
  const who = policy.secondPerson ? 'another person than you who may do this' : 'the person';
  return JSON.stringify({
    status: 'pending',
    approve: address,
    expires: new Date(expiresAt).toISOString(),
    next: `Nothing was done yet. Ask ${who} to open the address and approve, then repeat this call unchanged.`,
  });
}
