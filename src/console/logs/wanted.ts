// What is looked for in a log, as it stands in the address of its page.
import type { LogPlace, LogTimes } from '../../store/log-types.ts';
import { endOfDay, startOfDay } from '../parts/days.ts';
import type { MemberVisit, Parts } from '../visit.ts';

/** Of what was sent: nothing that no field could hold. */
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

/** The address of a page of ours, with what is looked for and more. */
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

/** The id of somebody's address; `nobody` where there is none of it. */
export async function findPerson(email: string, { store }: Parts): Promise<number | undefined | 'nobody'> {
  if (email === '') return undefined;
  return (await store.identity.findUserByEmail(email))?.id ?? 'nobody';
}
