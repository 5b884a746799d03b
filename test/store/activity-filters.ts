// Filters for searches over many activity entries (fill-activity.ts): each
// filter alone, and common pairs of filters, with and without matches.
import type { ActivityFilter } from '../../src/store/audit/activity-types.ts';
import { timeOf } from './fill-activity.ts';

export function filtersOf(rows: number): Readonly<Record<string, ActivityFilter>> {
  const middle = { times: { from: timeOf(rows * 0.4), to: timeOf(rows * 0.5) } };
  const old = { times: { to: timeOf(rows * 0.001) } };
  const ranges = { 'in the middle': middle, 'long ago': old };
  const alone: Readonly<Record<string, ActivityFilter>> = {
    'a user': { userId: 3 },
    'a rare user': { userId: 9999 },
    nobody: { userId: 77777 },
    'a team': { team: 'Team 1' },
    'a rare team': { team: 'Team 4' },
    'a collection': { collection: 'c7' },
    'a rare collection': { collection: 'rare' },
    'an unknown collection': { collection: 'nothing' },
    'a rare record': { recordId: '42' },
    'a record': { recordId: '1000' },
    'an action': { action: 'update' },
    'a rare action': { action: 'export' },
    reads: { type: 'read' },
    writes: { type: 'write' },
    completed: { outcome: 'completed' },
    failed: { outcome: 'failed' },
    denied: { outcome: 'denied' },
    unknown: { outcome: 'unknown' },
    'an app': { clientName: 'claude' },
    'another app': { clientName: 'Codex' },
    'a rare app': { clientName: 'rare app' },
  };
  const pairs: Readonly<Record<string, ActivityFilter>> = {
    'a user, their collection': { userId: 3, collection: 'c23' },
    'a user, not their collection': { userId: 3, collection: 'c7' },
    'a user, their action': { userId: 30, action: 'update' },
    'a user, not their action': { userId: 3, action: 'update' },
    'a user without writes, writes': { userId: 3, type: 'write' },
    'a user without failures, failures': { userId: 3, outcome: 'failed' },
    'a user, failures': { userId: 50, outcome: 'failed' },
    'a user, their app': { userId: 5, clientName: 'Codex' },
    'a user, not their app': { userId: 4, clientName: 'rare app' },
    'a user, not their team': { userId: 3, team: 'Team 1' },
    'a user, a record': { userId: 3, recordId: '42' },
    'a team, its collection': { team: 'Team 1', collection: 'c1' },
    'a team, not its collection': { team: 'Team 1', collection: 'c2' },
    'a team, an action': { team: 'Team 2', action: 'update' },
    'a team, not its action': { team: 'Team 1', action: 'update' },
    'a rare team, an action': { team: 'Team 4', action: 'update' },
    'a collection, its action': { collection: 'c10', action: 'update' },
    'a collection, not its action': { collection: 'c7', action: 'update' },
    'a collection, no writes': { collection: 'c7', type: 'write' },
    'a collection, no failures': { collection: 'c7', outcome: 'failed' },
    'a collection, a record': { collection: 'c7', recordId: '42' },
    'an action, a record': { action: 'update', recordId: '1000' },
    'an app, a collection': { clientName: 'claude', collection: 'c7' },
    'an app, not its collection': { clientName: 'Codex', collection: 'c7' },
    'an app, its action': { clientName: 'claude', action: 'update' },
    'an app, not its action': { clientName: 'Codex', action: 'update' },
    'an action, failures': { action: 'update', outcome: 'failed' },
    'an action, no failures': { action: 'list', outcome: 'denied' },
  };
  const withTimes = Object.entries(alone).flatMap(([name, filter]) =>
    Object.entries(ranges).map(([when, times]): [string, ActivityFilter] => [
      `${name}, ${when}`,
      { ...filter, ...times },
    ]),
  );
  return { none: {}, ...ranges, ...alone, ...pairs, ...Object.fromEntries(withTimes) };
}
