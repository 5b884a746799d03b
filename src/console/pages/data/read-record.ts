// Reads the record of a page with the rights of the viewer.
import type { CollectionDescription, ListAnswer } from '../../../agent/requests.ts';
import { fail, isAppError } from '../../../core/errors.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { recordPage } from '../../paths.ts';
import { shortName } from '../../records/names.ts';
import { logRead, requireCollection } from './access.ts';
import { fieldsFor, relationColumn, toOneRelations } from './list/columns.ts';

export interface FoundRecord {
  readonly described: CollectionDescription;
  /** Packed. */
  readonly id: string;
  readonly name: string;
  /** A list of one. */
  readonly answer: ListAnswer;
}

/**
 * Reads the record of the page. Throws NOT_FOUND for a record that the viewer may not read, whether it exists or not,
 * and for an id that does not fit the key.
 */
export async function requireRecord(request: SignedInRequest, parts: Parts): Promise<FoundRecord> {
  const described = requireCollection(request, parts);
  const { access, signal, params } = request;
  const [collection, id] = [described.name, params.record!];
  const startedAt = parts.clock.now();
  const log = (failure?: unknown) =>
    logRead(request, parts, { action: 'openRecord', collection, recordIds: [id], startedAt, failure });
  const missing = () => fail('NOT_FOUND', { path: parts.paths.path(recordPage(collection, id)) });
  if (described.key.length === 0 || id.length > MAX_ID_CHARACTERS) return missing();
  const context = { access, engine: parts.engine, paths: parts.paths };
  const related = toOneRelations(described, access).flatMap(
    (relation) => relationColumn(relation, context)?.fields ?? [],
  );
  const own = described.fields.filter(({ hiddenByDefault }) => !hiddenByDefault).map(({ name }) => name);
  const fields = [...new Set([...fieldsFor(described, []), ...own, ...related])];
  try {
    const answer = await parts.engine.get(access, { collection, id, fields }, { signal });
    log();
    const { displayField } = described;
    const named = displayField === undefined ? undefined : answer.rows[0]![answer.columns.indexOf(displayField)];
    return { described, id, name: shortName(named) ?? id, answer };
  } catch (error) {
    log(error);
    if (isAppError(error) && error.status < 500) return missing();
    throw error;
  }
}

const MAX_ID_CHARACTERS = 400;
