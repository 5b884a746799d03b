// The choices on the consent page: scopes, read-only, collections and duration. They are read from the form, stored
// with the decision, and used to prefill the page when the app asks for more.
import type { Decision } from '../../store/oauth/types.ts';
import { effectiveScopes, type ResourceScope } from '../server/scopes.ts';
import type { Limits } from './connection.ts';

const HOUR_MS = 3_600_000;

/** Durations that the consent page offers for a connection. */
export const durations = {
  ever: { ms: null, text: 'Until revoked', phrase: 'until revoked' },
  month: { ms: 30 * 24 * HOUR_MS, text: '30 days', phrase: 'for 30 days' },
  day: { ms: 24 * HOUR_MS, text: 'A day', phrase: 'for a day' },
  hour: { ms: HOUR_MS, text: 'An hour', phrase: 'for an hour' },
} as const;
type Duration = keyof typeof durations;

export interface ConsentLimits {
  /** The ticked scopes. The first requested scope has no checkbox. */
  readonly ticked: readonly string[];
  readonly readOnly: boolean;
  /** Null: all collections. */
  readonly collections: readonly string[] | null;
  readonly lasts: Duration;
}

/** After this time the user is asked again, regardless of earlier decisions. */
const DECISION_TTL_MS = 365 * 24 * HOUR_MS;

export function parseConsentLimits(form: URLSearchParams, collections: readonly string[]): ConsentLimits {
  const selected = new Set(form.getAll('collection'));
  const lasts = form.get('lasts') ?? 'ever';
  return {
    ticked: form.getAll('scope'),
    readOnly: form.get('limit') === 'read-only',
    // Confused deputy: only collections that the page offered to this user are accepted.
    collections: form.get('which') === 'some' ? collections.filter((name) => selected.has(name)) : null,
    // Fail closed: an unknown value becomes the shortest duration.
    lasts: Object.hasOwn(durations, lasts) ? (lasts as Duration) : 'hour',
  };
}

/** Initial state of the form: the earlier choice where it still applies, otherwise everything that the app requests. */
export function initialLimits(
  decision: Decision | undefined,
  requested: readonly ResourceScope[],
  collections: readonly string[],
): ConsentLimits {
  const earlier = decision && parseStoredLimits(decision.choice);
  if (!earlier) return { ticked: requested, readOnly: false, collections: null, lasts: 'ever' };
  return {
    ...earlier,
    // Checkboxes cleared earlier stay cleared. Scopes that were not requested then start ticked.
    ticked: requested.filter((scope) => !decision.asked.includes(scope) || earlier.ticked.includes(scope)),
    collections: earlier.collections && collections.filter((name) => earlier.collections?.includes(name)),
  };
}

function parseStoredLimits(stored: unknown): ConsentLimits | undefined {
  const { ticked, readOnly, collections, lasts } = Object(stored) as Partial<ConsentLimits>;
  const isList = (list: unknown): list is string[] =>
    Array.isArray(list) && list.every((name) => typeof name === 'string');
  if (!isList(ticked) || typeof readOnly !== 'boolean' || !(collections === null || isList(collections)))
    return undefined;
  return typeof lasts === 'string' && Object.hasOwn(durations, lasts)
    ? { ticked, readOnly, collections, lasts }
    : undefined;
}

/** The first requested scope is always granted; the others are optional. */
export function grantedScopes(
  { ticked, readOnly }: ConsentLimits,
  requested: readonly ResourceScope[],
): readonly ResourceScope[] {
  const [first, ...others] = requested;
  if (!first) return [];
  if (readOnly) return [requested.includes('mcp:read') ? 'mcp:read' : first];
  return [first, ...others.filter((scope) => ticked.includes(scope))];
}

export function toLimits({ readOnly, collections, lasts }: ConsentLimits, now: number): Limits {
  const { ms } = durations[lasts];
  return { readOnly, collections, endsAt: ms === null ? null : now + ms };
}

/** Whether an earlier decision, still in force, covers the requested scopes. If so, the page can be skipped. */
export function coversScopes(decision: Decision, requested: readonly ResourceScope[], now: number): boolean {
  const { scopes, decidedAt, endsAt } = decision;
  if (!(decidedAt + DECISION_TTL_MS > now) || !(endsAt === null || endsAt > now)) return false;
  const granted = effectiveScopes(scopes.join(' '));
  return requested.length > 0 && requested.every((scope) => granted.has(scope));
}

/** Limits of an earlier decision, for another connection of the same app; undefined if they cannot be read. */
export function limitsOfDecision({ choice, endsAt }: Decision): Limits | undefined {
  const stored = parseStoredLimits(choice);
  return stored && { readOnly: stored.readOnly, collections: stored.collections, endsAt };
}

/** Text for the log and for users: `only reads, 2 collections, for a day`; empty without limits. */
export function describeLimits({ readOnly, collections, lasts }: ConsentLimits): string {
  return [
    readOnly && 'read-only',
    collections && `${collections.length} ${collections.length === 1 ? 'collection' : 'collections'}`,
    lasts !== 'ever' && durations[lasts].phrase,
  ]
    .filter(Boolean)
    .join(', ');
}
