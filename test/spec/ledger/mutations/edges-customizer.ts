// Mutations for edge cases of 4.2: the feature exists, but differs from the specification.
import type { Points } from '../mutations.ts';

export const edgesOfCustomizer: Points = {
  'src/agent/lower/filter.ts': {
    '4.2 · Search · replaceSearch': [
      'rule.replace(search, extended, lowering.code())',
      'rule.replace(search.toLowerCase(), extended, lowering.code())',
    ],
    '4.2 · Filtering · replaceFieldOperator': [
      'callCode(what, at, () => replace(value, lowering.code()))',
      'callCode(what, at, () => replace([value].flat()[0], lowering.code()))',
    ],
  },
  'src/agent/write/overrides.ts': {
    '4.2 · Overrides · overrideCreate': [
      '  return (given as unknown[]).map((record) =>\n    collection.key',
      '  return (returnedRows as unknown[]).toReversed().map((record) =>\n    collection.key',
    ],
    '4.2 · Overrides · overrideUpdate': [
      "const filter = { conditionTree: selectKeysInScope(site, keys) };\n  const from = site.call.written.length;\n  await runOverride(site, 'update'",
      "const filter = { conditionTree: selectKeysInScope(site, keys.slice(0, 1)) };\n  const from = site.call.written.length;\n  await runOverride(site, 'update'",
    ],
  },
  'src/agent/execute/external.ts': {
    '4.2 · Relations · addExternalRelation': [
      'found[index] = await listOne(external, record, context);',
      'found.push(await listOne(external, record, context));',
    ],
  },
  'src/agent/operations/list.ts': {
    '4.2 · Other · disableCount': [
      "if (!collection.rules.countable) fail('NOT_COUNTABLE', { collection: collection.name });",
      '',
    ],
  },
};
