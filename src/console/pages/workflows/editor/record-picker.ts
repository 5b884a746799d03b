// Chooses the record of a run by its name. A collection without names takes an id.
import { isAppError } from '../../../../core/errors.ts';
import type { Html } from '../../../../http/html.ts';
import type { Parts, SignedInRequest } from '../../../page-request.ts';
import { field } from '../../../ui/form.ts';
import { isOffered } from '../../data/access.ts';
import { readLookup } from '../../data/lookup.ts';

/** The control `record`. A button with the action `find` shows the page again with the records found. */
export async function recordPicker(
  collection: string,
  problem: string | undefined,
  request: SignedInRequest,
  parts: Parts,
): Promise<Html> {
  const { form, query, access } = request;
  const value = form.get('record') ?? query.get('record') ?? '';
  const named = { name: 'record', label: 'Record', type: 'text', required: true, value } as const;
  const isReadable = isOffered(parts, 'list') && access.can('browse', collection);
  const picker = isReadable ? await lookup() : undefined;
  const hint = `The record ID in ${collection}. Separate the parts of a composite key with |.`;
  return picker ?? field({ id: 'record', label: 'Record', value, hint, problem, maxLength: 400, required: true });

  async function lookup(): Promise<Html | undefined> {
    try {
      const described = parts.engine.describe(access, collection);
      return await readLookup(named, described, problem, request, parts, 'record');
    } catch (error) {
      if (isAppError(error, 'UNKNOWN_COLLECTION')) return undefined;
      throw error;
    }
  }
}
