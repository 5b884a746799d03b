// Checks the names in a roles file against the served collections, fields and actions. An unknown name is usually a
// misspelling, and a misspelled restriction has no effect.
import type { Engine } from '../../agent/engine.ts';
import { type ModelNames, readModel } from '../../console/pages/rights/model.ts';
import { findReadOnlyScopes } from '../../console/pages/rights/read-only.ts';
import type { Caller } from '../../core/caller.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { CollectionPermission } from '../../store/permissions/types.ts';
import { findUnclearIn } from '../unclear-filters.ts';
import type { RightAtLine } from './read.ts';

export interface NamesFound {
  /** One line per unknown name, with `file` and the line number. */
  readonly unknown: readonly { readonly right: RightAtLine; readonly text: string }[];
  /** One line per row scope that prevents all writes although a role allows them. */
  readonly readOnly: readonly string[];
  /** One line per ambiguous filter. */
  readonly unclear: readonly { readonly right: RightAtLine; readonly text: string }[];
}

export function checkNames(
  rights: readonly RightAtLine[],
  { engine, file, environment }: { readonly engine: Engine; readonly file: string; readonly environment: string },
): NamesFound {
  const model = readModel(engine, { id: 0, timezone: 'UTC', tags: {} } as unknown as Caller);
  const findUnknownNames = createNameCheck(model);
  const withPosition = (right: RightAtLine, texts: readonly string[]) =>
    texts.map((text) => ({ right, text: `${file}:${right.line}: ${text}` }));
  return {
    unknown: rights.flatMap((right) => withPosition(right, findUnknownNames(right))),
    readOnly: findReadOnlyScopes(rights, environment, model)
      .flatMap(({ right, text }) => withPosition(right, [text]))
      .map(({ text }) => text),
    unclear: rights.flatMap((right) => withPosition(right, findUnclearIn(right, model))),
  };
}

function createNameCheck(model: ModelNames): (right: RightAtLine) => readonly string[] {
  return ({ kind, path, value }) => {
    const collection = path[2];
    if (collection === undefined || (kind !== 'scope' && kind !== 'permission')) return [];
    // `*` covers many collections, so a name can be missing in some of them.
    if (collection === '*') return [];
    if (!model.collections.includes(collection)) return [describeUnknown('collection', collection, model.collections)];
    const findPaths = (filter: PlainFilter) => model.findUnknown(collection, filter);
    if (kind === 'scope') return findPaths(value as PlainFilter);
    const { fields = {}, actions = {} } = value as CollectionPermission;
    const fieldNames = model.fields(collection);
    const described = model.actions(collection);
    return [
      ...Object.keys(fields).flatMap((name) =>
        fieldNames.includes(name) ? [] : [`'${collection}': ${describeUnknown('field', name, fieldNames)}`],
      ),
      ...Object.entries(actions).flatMap(([name, { trigger }]) => {
        const action = described.find((each) => each.name === name);
        const names = described.map((each) => each.name);
        if (!action) return [`'${collection}': ${describeUnknown('action', name, names)}`];
        if (typeof trigger !== 'object') return [];
        const global = `'${collection}': '${name}' runs without selected records, so under a condition it can never be triggered.`;
        return [...(action.scope === 'Global' ? [global] : []), ...findPaths(trigger.when)];
      }),
    ];
  };
}

function describeUnknown(kind: string, name: string, candidates: readonly string[]): string {
  const near = suggestNames(name, candidates, 3);
  return `there is no ${kind} '${name}'.${near.length > 0 ? ` Near: ${near.join(', ')}.` : ''}`;
}
