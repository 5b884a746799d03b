// Filters of a log page, read from and written to its query.
import type { LogPosition, LogTimes } from '../../../store/audit/log-types.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { endOfDay, startOfDay } from '../../ui/days.ts';

/** Reads a query parameter, limited to the length of its field. */
export function readText({ query }: SignedInRequest, name: string, maxLength = 191): string {
  return (query.get(name) ?? '').replaceAll('\0', '').trim().slice(0, maxLength);
}

export function readChoice<T extends string>(
  request: SignedInRequest,
  name: string,
  values: readonly T[],
): T | undefined {
  return values.find((value) => value === readText(request, name));
}

export function readTimes(request: SignedInRequest): LogTimes {
  const { timezone } = request.access.caller;
  return { from: startOfDay(readText(request, 'from'), timezone), to: endOfDay(readText(request, 'to'), timezone) };
}

export function readAfter(request: SignedInRequest): LogPosition | undefined {
  const [, at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(readText(request, 'after')) ?? [];
  return at && id ? { at: Number(at), id: Number(id) } : undefined;
}

/** URL of a page with the current filters and additional parameters. */
export function addressOf(
  { query }: SignedInRequest,
  { paths }: Parts,
  page: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const filters = [...query].filter(([name, value]) => value !== '' && name !== 'after' && name !== 'format');
  const search = new URLSearchParams([...filters, ...Object.entries(more)]);
  return `${paths.path(page)}${search.size > 0 ? `?${search}` : ''}`;
}

/** Id of the user with that email address; `nobody` when no user has it; undefined for an empty address. */
export async function findPerson(email: string, { store }: Parts): Promise<number | undefined | 'nobody'> {
  if (email === '') return undefined;
  return (await store.identity.findUserByEmail(email))?.id ?? 'nobody';
}
