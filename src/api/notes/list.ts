// The list of notes (behaviour api 4.1). The cursor is our extension. It holds the position after the last note
// and a hash of its query.
import type { NoteFilter } from '../../store/notes/types.ts';
import { formatCursor, hashQuery, parseCursor } from '../list.ts';
import { email, integer, type ParameterValues, parseInstants, text, timeParameters } from '../parameters.ts';
import type { Answer, Call, RouteParts } from '../route.ts';
import { showNote } from './schemas.ts';

const filters = {
  userEmail: email,
  userId: integer(1),
  teamName: text(),
  collectionName: text(),
  recordId: text(),
  ...timeParameters('createdAt', 'updatedAt', 'archivedAt'),
};

export const listParameters = { limit: integer(1, 100, 10), cursor: text(), ...filters };

type ListParameters = typeof listParameters;

export async function listNotes(
  { path, query }: Call<ListParameters>,
  { store }: Pick<RouteParts, 'store'>,
): Promise<Answer> {
  const { limit = 10, cursor, ...sent } = query;
  const queryHash = hashQuery('notes', path, sent);
  const [after] = cursor === undefined ? [] : parseCursor(cursor, queryHash, 1);
  const { notes, next } = await store.notes.list({
    ...toNoteFilter(sent),
    limit,
    ...(after !== undefined && { after }),
  });
  const body = {
    hasMore: next !== undefined,
    ...(next !== undefined && { nextCursor: formatCursor([next], queryHash) }),
    parameters: { ...path, limit, ...sent },
    data: notes.map(showNote),
  };
  return { status: 200, body };
}

function toNoteFilter({
  collectionName,
  ...parameters
}: Omit<ParameterValues<ListParameters>, 'limit' | 'cursor'>): Omit<NoteFilter, 'limit'> {
  const { userEmail, userId, teamName, recordId } = parameters;
  const [createdAt, updatedAt, archivedAt] = [
    parseInstants(parameters, 'createdAt'),
    parseInstants(parameters, 'updatedAt'),
    parseInstants(parameters, 'archivedAt'),
  ];
  return {
    ...(userEmail !== undefined && { userEmail }),
    ...(userId !== undefined && { userId }),
    ...(teamName !== undefined && { teamName }),
    ...(collectionName !== undefined && { collection: collectionName }),
    ...(recordId !== undefined && { recordId }),
    ...(createdAt && { createdAt }),
    ...(updatedAt && { updatedAt }),
    ...(archivedAt && { archivedAt }),
  };
}
