// What a person chooses when an app asks to connect: which of the scopes, whether it may only read, which collections, and
// for how long. It is read of a form, kept with the decision, and filled in again when the app asks for more.
import type { Decision } from '../store/oauth-types.ts';
import type { Limits } from './connection.ts';
import { effectiveScopes, type ResourceScope } from './scopes.ts';

const hour = 3_600_000;

/** How long a connection may last, as it is offered. */
export const lasting = {
  ever: { ms: null, text: 'Until I take it back', told: 'until it is taken back' },
  month: { ms: 30 * 24 * hour, text: '30 days', told: 'for 30 days' },
  day: { ms: 24 * hour, text: 'A day', told: 'for a day' },
  hour: { ms: hour, text: 'An hour', told: 'for an hour' },
} as const;
export type Lasting = keyof typeof lasting;

export interface Choice {
  /** The boxes that are ticked; the first scope that was asked for has none. */
  readonly ticked: readonly string[];
  readonly readOnly: boolean;
  /** Null: all. */
  readonly collections: readonly string[] | null;
  readonly lasts: Lasting;
}

/** After this the person is asked anew, whatever he decided. */
const REMEMBERED_MS = 365 * 24 * hour;

export function readChoice(form: URLSearchParams, offered: readonly string[]): Choice {
  const sent = new Set(form.getAll('collection'));
  const lasts = form.get('lasts') ?? 'ever';
  return {
    ticked: form.getAll('scope'),
    readOnly: form.get('limit') === 'read-only',
    // Confused deputy: what was not offered to this person is not taken, whoever put it into the form.
    collections: form.get('which') === 'some' ? offered.filter((name) => sent.has(name)) : null,
    // Fail closed: what is not offered is the shortest.
    lasts: Object.hasOwn(lasting, lasts) ? (lasts as Lasting) : 'hour',
  };
}

/** What is filled in: what was chosen before, as far as it can be chosen now, and else all that is asked for. */
export function fillIn(
  decision: Decision | undefined,
  asked: readonly ResourceScope[],
  offered: readonly string[],
): Choice {
  const before = decision && readKept(decision.choice);
  if (!before) return { ticked: asked, readOnly: false, collections: null, lasts: 'ever' };
  return {
    ...before,
    // A box that was left empty stays so; what was not asked for then is what is asked for now.
    ticked: asked.filter((scope) => !decision.asked.includes(scope) || before.ticked.includes(scope)),
    collections: before.collections && offered.filter((name) => before.collections?.includes(name)),
  };
}

function readKept(kept: unknown): Choice | undefined {
  const { ticked, readOnly, collections, lasts } = Object(kept) as Partial<Choice>;
  const isList = (list: unknown): list is string[] =>
    Array.isArray(list) && list.every((name) => typeof name === 'string');
  if (!isList(ticked) || typeof readOnly !== 'boolean' || !(collections === null || isList(collections)))
    return undefined;
  return typeof lasts === 'string' && Object.hasOwn(lasting, lasts)
    ? { ticked, readOnly, collections, lasts }
    : undefined;
}

/** The first that was asked for is given whenever anything is; the others can be left out. */
export function scopesOf({ ticked, readOnly }: Choice, asked: readonly ResourceScope[]): readonly ResourceScope[] {
  const [first, ...others] = asked;
  if (!first) return [];
  if (readOnly) return [asked.includes('mcp:read') ? 'mcp:read' : first];
  return [first, ...others.filter((scope) => ticked.includes(scope))];
}

export function limitsOf({ readOnly, collections, lasts }: Choice, now: number): Limits {
  const { ms } = lasting[lasts];
  return { readOnly, collections, endsAt: ms === null ? null : now + ms };
}

/** Whether what is asked for was decided before: the same or less, and still in force. Then nobody needs to be asked. */
export function covers(decision: Decision, asked: readonly ResourceScope[], now: number): boolean {
  const { scopes, decidedAt, endsAt } = decision;
  if (!(decidedAt + REMEMBERED_MS > now) || !(endsAt === null || endsAt > now)) return false;
  const given = effectiveScopes(scopes.join(' '));
  return asked.length > 0 && asked.every((scope) => given.has(scope));
}

/** The limits of an earlier decision, for another connection of the same app; undefined when they cannot be read. */
export function limitsOfDecision({ choice, endsAt }: Decision): Limits | undefined {
  const kept = readKept(choice);
  return kept && { readOnly: kept.readOnly, collections: kept.collections, endsAt };
}

/** For the log and for people: `only reads, 2 collections, for a day`; empty where nothing is limited. */
export function describeChoice({ readOnly, collections, lasts }: Choice): string {
  return [
    readOnly && 'only reads',
    collections && `${collections.length} ${collections.length === 1 ? 'collection' : 'collections'}`,
    lasts !== 'ever' && lasting[lasts].told,
  ]
    .filter(Boolean)
    .join(', ');
}
