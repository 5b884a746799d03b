// Filters of a log page, read from and written to its query.
import type { LogPlace, LogTimes } from '../../../store/audit/log-types.ts';
import type { MemberVisit, Parts } from '../../page-request.ts';
import { endOfDay, startOfDay } from '../../ui/days.ts';

/** Reads a query parameter, limited to the length of its field. */
export function said({ query }: MemberVisit, name: string, most = 191): string {
  return (query.get(name) ?? '').replaceAll('\0', '').trim().slice(0, most);
}

export function chosen<T extends string>(visit: MemberVisit, name: string, values: readonly T[]): T | undefined {
  return values.find((value) => value === said(visit, name));
}

export function readTimes(visit: MemberVisit): LogTimes {
  const { timezone } = visit.access.caller;
  return { from: startOfDay(said(visit, 'from'), timezone), to: endOfDay(said(visit, 'to'), timezone) };
}

export function readAfter(visit: MemberVisit): LogPlace | undefined {
  const [, at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(said(visit, 'after')) ?? [];
  return at && id ? { at: Number(at), id: Number(id) } : undefined;
}

/** URL of a page with the current filters and additional parameters. */
export function addressOf(
  { query }: MemberVisit,
  { paths }: Parts,
  page: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const kept = [...query].filter(([name, value]) => value !== '' && name !== 'after' && name !== 'format');
  const sent = new URLSearchParams([...kept, ...Object.entries(more)]);
  return `${paths.path(page)}${sent.size > 0 ? `?${sent}` : ''}`;
}

/** Id of the user with that email address; `nobody` when no user has it; undefined for an empty address. */
export async function findPerson(email: string, { store }: Parts): Promise<number | undefined | 'nobody'> {
  if (email === '') return undefined;
  return (await store.identity.findUserByEmail(email))?.id ?? 'nobody';
}
