// Queries for a large table of notes (fill-notes.ts): every filter, all pairs of filters, and some more. Users, teams
// and collections follow remainders, so half of the pairs match no note although each filter matches many. Only an
// index on both columns answers these pairs without a scan.
import type { NoteFilter } from '../../src/store/notes/types.ts';
import { collectionOf } from './fill-notes.ts';

type Wish = Omit<NoteFilter, 'limit'>;

/** `at`: the creation time at that fraction of all notes, 0 to 1. `userIds`: in the order of `fillNotes`. */
export function wishesOf(at: (share: number) => number, userIds: readonly number[]): Readonly<Record<string, Wish>> {
  /** By kind of filter; two filters of different kinds make a pair. */
  const filters: Readonly<Record<string, Readonly<Record<string, Wish>>>> = {
    user: {
      'a user of open notes': { userId: userIds[2]! },
      'a user of archived notes': { userId: userIds[3]! },
      'a user by address': { userEmail: 'user1@example.com' },
    },
    team: { 'a team': { teamName: 'Team 2' }, 'another team': { teamName: 'Team 3' } },
    collection: {
      'half of all': { collection: collectionOf(0) },
      'many others': { collection: collectionOf(5) },
      'a hundred': { collection: collectionOf(3) },
    },
    record: { 'a record': { recordId: '17' }, 'another record': { recordId: '16' } },
    archived: { open: { archived: false }, archived: { archived: true } },
    created: {
      'created first': { createdAt: { to: at(0.001) } },
      'created last': { createdAt: { from: at(0.999) } },
      'created between': { createdAt: { from: at(0.3), to: at(0.31) } },
      'created in the first half': { createdAt: { to: at(0.5) } },
    },
    updated: {
      'updated first': { updatedAt: { to: at(0.001) } },
      'updated last': { updatedAt: { from: at(0.999) } },
      'updated between': { updatedAt: { from: at(0.3), to: at(0.31) } },
      'updated in the second half': { updatedAt: { from: at(0.5) } },
    },
    archivedAt: {
      'archived first': { archivedAt: { to: at(0.002) } },
      'archived last': { archivedAt: { from: at(0.999) } },
      'archived of late': { archivedAt: { from: at(0.9) } },
      'archived between': { archivedAt: { from: at(0.3), to: at(0.31) } },
      'archived at any time': { archivedAt: { from: 0 } },
    },
  };
  const kinds = Object.values(filters).map((ways) => Object.entries(ways));
  const alone = kinds.flat();
  const pairs = kinds.flatMap((ways, kind) =>
    ways.flatMap(([name, wish]) =>
      kinds
        .slice(kind + 1)
        .flat()
        .map(([other, more]): [string, Wish] => [`${name}, ${other}`, { ...wish, ...more }]),
    ),
  );
  return {
    none: {},
    'an address of nobody': { userEmail: 'nobody@example.com' },
    'a team that is none': { teamName: 'team 2' },
    'a collection that is none': { collection: 'Orders' },
    'created at one moment': { createdAt: { from: at(0.5), to: at(0.5) } },
    'team, collection and record': { teamName: 'Team 2', collection: 'orders', recordId: '16' },
    'from the middle on': { after: at(0.5) },
    'a collection, from the middle on': { collection: 'orders', after: at(0.5) },
    ...Object.fromEntries(alone),
    ...Object.fromEntries(pairs),
  };
}
