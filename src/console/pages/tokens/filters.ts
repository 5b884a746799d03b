// Form of a new token: the typed values, and their parsed form.
import type { TokenEntrance } from '../../../store/oauth/token-types.ts';
import { endOfDay } from '../../ui/days.ts';
import { entrances, scopeWords } from './words.ts';

/** Typed values, to show again after an error. */
export interface Typed {
  readonly entrance: TokenEntrance;
  readonly name: string;
  readonly level: 'read-only' | 'read-write';
  readonly scopes: readonly string[];
  readonly expires: string;
  /** `2027-01-31`; '' if empty. */
  readonly date: string;
}

export type Problems = Partial<Record<'name' | 'scopes' | 'expires' | 'password' | 'code', string>>;

export const expiries = [
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['date', 'Custom date'],
  ['never', 'Never'],
] as const;

const dayMs = 86_400_000;

export function readTyped(form: URLSearchParams): Typed {
  const entrance = entrances.find((one) => one === form.get('entrance')) ?? 'api';
  const allowedScopes = scopeWords[entrance].map(({ scope }) => scope);
  return {
    entrance,
    name: (form.get('name') ?? '').trim(),
    level: form.get('level') === 'read-write' ? 'read-write' : 'read-only',
    scopes: allowedScopes.filter((scope) => form.getAll('scope').includes(scope)),
    expires: form.get('expires') ?? '',
    date: form.get('date') ?? '',
  };
}

export const emptyTyped = (entrance: TokenEntrance): Typed => ({
  entrance,
  name: '',
  level: 'read-only',
  scopes: entrance === 'api' ? [] : scopeWords[entrance].slice(0, 1).map(({ scope }) => scope),
  expires: '90',
  date: '',
});

/** Milliseconds since the epoch, or null for no expiry; undefined for a time that is invalid or in the past. */
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
    ...(name === '' && { name: 'Enter a name that you will recognize.' }),
    ...(scopes.length === 0 && { scopes: 'Choose at least one.' }),
    ...(tooMuch && {
      scopes: `A read-only token cannot ${writing.map(({ title }) => `“${title.toLowerCase()}”`).join(' or ')}. Choose read and write, or remove that scope.`,
    }),
    ...(expiresAt === undefined && { expires: 'Choose an expiry date in the future.' }),
  };
}
