// Mutations for hooks and field validation.
import type { Points } from '../mutations.ts';

/** Skips the rules with one operator. */
const without = (operator: string): readonly [string, string] => [
  'return (column.rules ?? []).filter((rule) =>',
  `return (column.rules ?? []).filter((rule) => rule.operator !== '${operator}').filter((rule) =>`,
];
/** Skips the hooks of one position or type. */
const silent = (condition: string): readonly [string, string] => [
  'if (hooks.length === 0) return;',
  `if (hooks.length === 0 || ${condition}) return;`,
];

const missed = (verb: string): readonly [string, string] => [
  'return callCode(`the override of',
  `if (verb === '${verb}') return undefined as never;\n  return callCode(\`the override of`,
];

export const writes: Points = {
  'src/agent/write/validation.ts': {
    '2.7 · validation · Present': without('Present'),
    '2.7 · validation · LongerThan': without('LongerThan'),
    '2.7 · validation · ShorterThan': without('ShorterThan'),
    '2.7 · validation · Contains': without('Contains'),
    '2.7 · validation · Like': without('Like'),
    '2.7 · validation · Match': without('Match'),
    '2.7 · validation · GreaterThan': without('GreaterThan'),
    '2.7 · validation · LessThan': without('LessThan'),
    '2.7 · validation · Before': without('Before'),
    '2.7 · validation · After': without('After'),
  },
  'src/agent/operations/hooks.ts': {
    '2.7 · hook position · Before': silent("position === 'Before'"),
    '2.7 · hook position · After': silent("position === 'After'"),
    '2.7 · hook type · List': silent("type === 'List'"),
    '2.7 · hook type · Create': silent("type === 'Create'"),
    '2.7 · hook type · Update': silent("type === 'Update'"),
    '2.7 · hook type · Delete': silent("type === 'Delete'"),
    '2.7 · hook type · Aggregate': silent("type === 'Aggregate'"),
  },
  'src/agent/write/field-writers.ts': {
    '4.2 · Fields · replaceFieldWriting': ['if (!isReplaced(draft)) return', 'if (draft) return'],
  },
  'src/agent/write/overrides.ts': {
    '4.2 · Overrides · overrideCreate': missed('create'),
    '4.2 · Overrides · overrideUpdate': missed('update'),
    '4.2 · Overrides · overrideDelete': missed('delete'),
  },
  'src/agent/model/customizations.ts': {
    '4.2 · Fields · addFieldValidation': ['        { operator, value, at },\n', ''],
    '4.2 · Hooks · addHook': [
      'customizations.hooks[what.position][what.type].push({ handler: what.handler, at });',
      '',
    ],
  },
};
