// The choices on the consent page: scopes, read-only, collections and duration. They are read from the form, stored
// with the decision, and used to prefill the page when the app asks for more.
import type { Decision } from '../../store/oauth/types.ts';
import { effectiveScopes, type ResourceScope } from '../server/scopes.ts';
import type { Limits } from './connection.ts';

const hour = 3_600_000;

/** Durations that the consent page offers for a connection. */
export const lasting = {
  ever: { ms: null, text: 'Until I take it back', told: 'until it is taken back' },
  month: { ms: 30 * 24 * hour, text: '30 days', told: 'for 30 days' },
  day: { ms: 24 * hour, text: 'A day', told: 'for a day' },
  hour: { ms: hour, text: 'An hour', told: 'for an hour' },
} as const;
export type Lasting = keyof typeof lasting;

export interface Choice {
  /** The ticked scopes. The first requested scope has no checkbox. */
  readonly ticked: readonly string[];
  readonly readOnly: boolean;
  /** Null: all collections. */
  readonly collections: readonly string[] | null;
  readonly lasts: Lasting;
}

/** After this time the user is asked again, regardless of earlier decisions. */
const REMEMBERED_MS = 365 * 24 * hour;

export function readChoice(form: URLSearchParams, offered: readonly string[]): Choice {
  const sent = new Set(form.getAll('collection'));
  const lasts = form.get('lasts') ?? 'ever';
  return {
    ticked: form.getAll('scope'),
    readOnly: form.get('limit') === 'read-only',
    // Confused deputy: only collections that the page offered to this user are accepted.
    collections: form.get('which') === 'some' ? offered.filter((name) => sent.has(name)) : null,
    // Fail closed: an unknown value becomes the shortest duration.
    lasts: Object.hasOwn(lasting, lasts) ? (lasts as Lasting) : 'hour',
  };
}

/** Initial state of the form: the earlier choice where it still applies, otherwise everything that the app requests. */
export function fillIn(
  decision: Decision | undefined,
  asked: readonly ResourceScope[],
  offered: readonly string[],
): Choice {
  const before = decision && readKept(decision.choice);
  if (!before) return { ticked: asked, readOnly: false, collections: null, lasts: 'ever' };
  return {
    ...before,
    // Checkboxes cleared earlier stay cleared. Scopes that were not requested then start ticked.
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

/** The first requested scope is always granted; the others are optional. */
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

/** Whether an earlier decision, still in force, covers the requested scopes. If so, the page can be skipped. */
export function covers(decision: Decision, asked: readonly ResourceScope[], now: number): boolean {
  const { scopes, decidedAt, endsAt } = decision;
  if (!(decidedAt + REMEMBERED_MS > now) || !(endsAt === null || endsAt > now)) return false;
  const given = effectiveScopes(scopes.join(' '));
  return asked.length > 0 && asked.every((scope) => given.has(scope));
}

/** Limits of an earlier decision, for another connection of the same app; undefined if they cannot be read. */
export function limitsOfDecision({ choice, endsAt }: Decision): Limits | undefined {
  const kept = readKept(choice);
  return kept && { readOnly: kept.readOnly, collections: kept.collections, endsAt };
}

/** Text for the log and for users: `only reads, 2 collections, for a day`; empty without limits. */
export function describeChoice({ readOnly, collections, lasts }: Choice): string {
  return [
    readOnly && 'only reads',
    collections && `${collections.length} ${collections.length === 1 ? 'collection' : 'collections'}`,
    lasts !== 'ever' && lasting[lasts].told,
  ]
    .filter(Boolean)
    .join(', ');
}
