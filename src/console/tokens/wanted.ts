// What somebody typed into the form of a new token, as it was sent and as it is meant.
import type { TokenEntrance } from '../../store/store.ts';
import { scopeWords } from './words.ts';

/** As it is shown again where something is wrong with it. */
export interface Typed {
  readonly entrance: TokenEntrance;
  readonly name: string;
  readonly level: 'read-only' | 'read-write';
  readonly scopes: readonly string[];
  readonly expires: string;
  /** `2027-01-31`; '' where none was typed. */
  readonly date: string;
}

export type Problems = Partial<Record<'name' | 'scopes' | 'expires' | 'password' | 'code', string>>;

export const expiries = [
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['date', 'On a date'],
  ['never', 'Never'],
] as const;

const dayMs = 86_400_000;

export function readTyped(form: URLSearchParams): Typed {
  const entrance = form.get('entrance') === 'mcp' ? 'mcp' : 'api';
  const offered = scopeWords[entrance].map(({ scope }) => scope);
  return {
    entrance,
    name: (form.get('name') ?? '').trim(),
    level: form.get('level') === 'read-write' ? 'read-write' : 'read-only',
    scopes: offered.filter((scope) => form.getAll('scope').includes(scope)),
    expires: form.get('expires') ?? '',
    date: form.get('date') ?? '',
  };
}

export const emptyTyped = (entrance: TokenEntrance): Typed => ({
  entrance,
  name: '',
  level: 'read-only',
  scopes: entrance === 'mcp' ? ['mcp:read'] : [],
  expires: '90',
  date: '',
});

/** Milliseconds since the epoch, null for never; undefined for what is no time to come. */
export function readExpiry({ expires, date }: Typed, now: number, timeZone: string): number | null | undefined {
  if (expires === 'never') return null;
  if (expires === 'date') {
    const end = endOfDay(date, timeZone);
    return end !== undefined && end > now ? end : undefined;
  }
  return expiries.some(([value]) => value === expires) ? now + Number(expires) * dayMs : undefined;
}

export function findProblems({ name, level, scopes, entrance }: Typed, expiresAt: number | null | undefined): Problems {
  const writing = scopeWords[entrance].filter(({ scope, writes }) => writes && scopes.includes(scope));
  const tooMuch = level === 'read-only' && writing.length > 0;
  return {
    ...(name === '' && { name: 'Give it a name, by which you will know it.' }),
    ...(scopes.length === 0 && { scopes: 'Choose at least one.' }),
    ...(tooMuch && {
      scopes: `A read-only token cannot ${writing.map(({ title }) => `“${title.toLowerCase()}”`).join(' or ')}. Choose read and write, or leave it out.`,
    }),
    ...(expiresAt === undefined && { expires: 'Choose when it ends: a date that is still to come.' }),
  };
}

/** The last moment of that day where the person lives. */
function endOfDay(date: string, timeZone: string): number | undefined {
  const wanted = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T23:59:59.999Z`) : Number.NaN;
  if (Number.isNaN(wanted) || new Date(wanted).toISOString().slice(0, 10) !== date) return undefined;
  // The offset of that evening is found by a first guess, and once more where clocks change between the two.
  const guess = wanted - offsetAt(wanted, timeZone);
  return wanted - offsetAt(guess, timeZone);
}

function offsetAt(ms: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const second = Math.floor(ms / 1000) * 1000;
  return Date.parse(`${format.format(second).replace(' ', 'T')}Z`) - second;
}
