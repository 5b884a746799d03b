// Mutations for the rows of 2.3 and 2.4.
import type { Points } from '../mutations.ts';

export const actions: Points = {
  'src/agent/actions/records.ts': {
    '2.3 · scope · Single': ["scope === 'Single' ? recordIds.length !== 1", "scope === 'Single' ? false"],
    '2.3 · scope · Global': ["if (scope === 'Global') return undefined;", ''],
    '2.3 · context · collection': ['unscoped.list(filter ? conditions(filter) : {}, fields)', '[] as never'],
    '2.3 · context · filter': ["{ aggregator: 'And' as const, conditions: [chosen, scope] }", 'null'],
    '2.3 · context · getRecords': ['getRecords: list,', 'getRecords: async () => [],'],
    '2.3 · context · getRecordIds': ['(await listIds()).map(idOf)', '[]'],
    '2.3 · context · getCompositeRecordIds': [
      'getCompositeRecordIds: listIds,',
      'getCompositeRecordIds: async () => [],',
    ],
    '2.3 · context · getRecord': ['getRecord,\n    getRecordId', 'getRecord: async () => ({}),\n    getRecordId'],
    '2.3 · context · getRecordId': [
      'getRecordId: async () => idOf(single(await listIds()))',
      'getRecordId: async () => 0',
    ],
    '2.3 · context · getCompositeRecordId': [
      'getCompositeRecordId: async () => single(await listIds())',
      'getCompositeRecordId: async () => []',
    ],
    '2.3 · context · getField': ['fieldOf(await getRecord([field]), field)', 'null'],
  },
  'src/agent/actions/dependency-tracker.ts': {
    '2.3 · context · hasFieldChanged': ['const changed = state.hasChanged(field);', 'const changed = false;'],
  },
  'src/agent/actions/actions.ts': {
    '2.3 · execute': ['() => execute(context, builder)', '() => undefined'],
    '2.3 · generateFile': ["result.type === 'file' && entry.definition.generateFile !== true", 'false'],
    '2.3 · context · caller': ['filter, caller, ai, signal', 'filter, ai, signal'],
    '2.3 · context · formValues': [
      '...base, formValues, hasFieldChanged',
      '...baseContext, formValues: {}, hasFieldChanged',
    ],
  },
  'src/agent/actions/catalogue.ts': {
    '2.3 · form': ["staticAnswer ? 'static' : 'dynamic'", "'dynamic'"],
    '2.3 · description': ['...(description !== undefined && { description }),', ''],
    '2.3 · submitButtonLabel': ['submitButtonLabel.length > LABEL_LIMIT', 'false'],
    '2.4 · collectionName': [
      "if (typeof foreign !== 'string' || engine.keyOf(foreign) !== undefined) continue;",
      'continue;',
    ],
  },
  'src/agent/actions/results.ts': {
    '2.3 · result builder · success': [
      '...(options.html !== undefined && { html: options.html }),\n        invalidated',
      'invalidated',
    ],
    '2.3 · result builder · error': [
      "type: 'error', message, ...(options.html !== undefined && { html: options.html })",
      "type: 'error', message",
    ],
    '2.3 · result builder · webhook': ['method: checkMethod(method)', "method: 'POST'"],
    '2.3 · result builder · file': ['filename: plainName(filename)', 'filename'],
    '2.3 · result builder · redirectTo': ["type: 'redirect', path: checkPath(path)", "type: 'redirect', path: '/'"],
    '2.3 · result builder · setHeader': ['Object.freeze({ ...headers })', 'Object.freeze({})'],
  },
  'src/agent/actions/form.ts': {
    '2.4 · isRequired': ['return final && field.isRequired ?', 'return false ?'],
    '2.4 · isReadOnly': ['if (!locked) {', 'if (true) {'],
    '2.4 · defaultValue': [
      "return given('defaultValue', await evaluate(props.defaultValue, partOf('defaultValue', field), id));",
      'return undefined;',
    ],
    '2.4 · value': ["if (typeof props.value === 'function') {", 'if (false) {'],
    '2.4 · options': ['const wrong = known && findInvalidOption(value, known);', 'const wrong = undefined as unknown;'],
    '2.4 · if': ['if (condition !== undefined &&', 'if (false &&'],
    '2.4 · type · Collection': ['return key && (await isVisible(context, name, key)) ?', 'return true ?'],
    '2.4 · search · static': ['label.toLowerCase().includes(wanted)', 'true'],
    '2.4 · search · dynamic': [
      'call(options as Handler, part, looking, text)',
      'call(options as Handler, part, looking, null)',
    ],
  },
  'src/agent/actions/answer.ts': {
    '2.4 · description': ['...(description !== undefined && { description }),', ''],
    '2.4 · widget': ['...(widget && { widget }),', ''],
  },
  'src/agent/actions/bounds.ts': {
    '2.4 · enumValues': ["if (type !== 'Enum' && type !== 'EnumList') return undefined;", 'return undefined;'],
    '2.4 · type · Enum': ["type === 'Enum' ? 'one' : 'some'", "'some'"],
    '2.4 · type · EnumList': ["type === 'Enum' ? 'one' : 'some'", "'one'"],
  },
  'src/agent/actions/values.ts': {
    '2.4 · type · String': ['String: readText,', 'String: (given) => given,'],
    '2.4 · type · Number': [
      "if (typeof number === 'number' && !losesPrecision(number)) return number;",
      'return given;',
    ],
    '2.4 · type · Boolean': ['return refuse(expected.Boolean);', 'return given;'],
    '2.4 · type · Date': ['readInstant(text, zone, true)', "readInstant(text, 'UTC', true)"],
    '2.4 · type · Dateonly': ['refuse(expected.Dateonly)', 'given'],
    '2.4 · type · Time': ['refuse(expected.Time)', 'given'],
    '2.4 · type · File': ['File: readFile,', 'File: (given) => given,'],
    '2.4 · type · FileList': ["readItems('File', given, zone)", 'given'],
    '2.4 · type · Json': ['return JSON.parse(given) as unknown;', 'return given;'],
    '2.4 · type · NumberList': ["readItems('Number', given, zone)", 'given'],
    '2.4 · type · StringList': ["readItems('String', given, zone)", 'given'],
  },
};
