// The list of notes (spec public-http-api 4.1). The cursor is our extension. It holds the position after the last note
// and a hash of its query.
import type { NoteWish } from '../../store/notes/types.ts';
import { markQuery, readCursor, writeCursor } from '../list.ts';
import { email, integer, type Read, readInstants, text, times } from '../parameters.ts';
import type { Answer, Call, RouteParts } from '../route.ts';
import { showNote } from './schemas.ts';

const filters = {
  userEmail: email,
  userId: integer(1),
  teamName: text(),
  collectionName: text(),
  recordId: text(),
  ...times('createdAt', 'updatedAt', 'archivedAt'),
};

export const listParameters = { limit: integer(1, 100, 10), cursor: text(), ...filters };

type ListParameters = typeof listParameters;

export async function listNotes(
  { path, query }: Call<ListParameters>,
  { store }: Pick<RouteParts, 'store'>,
): Promise<Answer> {
  const { limit = 10, cursor, ...sent } = query;
  const mark = markQuery('notes', path, sent);
  const [after] = cursor === undefined ? [] : readCursor(cursor, mark, 1);
  const { notes, next } = await store.notes.list({ ...toWish(sent), limit, ...(after !== undefined && { after }) });
  const body = {
    hasMore: next !== undefined,
    ...(next !== undefined && { nextCursor: writeCursor([next], mark) }),
    parameters: { ...path, limit, ...sent },
    data: notes.map(showNote),
  };
  return { status: 200, body };
}

function toWish({ collectionName, ...sent }: Omit<Read<ListParameters>, 'limit' | 'cursor'>): Omit<NoteWish, 'limit'> {
  const { userEmail, userId, teamName, recordId } = sent;
  const [createdAt, updatedAt, archivedAt] = [
    readInstants(sent, 'createdAt'),
    readInstants(sent, 'updatedAt'),
    readInstants(sent, 'archivedAt'),
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
