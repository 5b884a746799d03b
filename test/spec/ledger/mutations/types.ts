// Mutations for the rows of added fields and of column types.
import type { Points } from '../mutations.ts';

export const types: Points = {
  'src/agent/model/added.ts': {
    '2.5 · columnType': ['return { type: readPrimitive(given, at) };', "return { type: 'String' };"],
    '2.5 · dependencies': [
      'definition.dependencies.map((text) => follow',
      'definition.dependencies.slice(0, 1).map((text) => follow',
    ],
    '2.5 · enumValues': ["primitive === 'Enum' && !enumValues?.length", 'false'],
    '2.5 · columnType · File': ["if (given === 'File') return { type: 'Binary' };", ''],
  },
  'src/agent/execute/compute.ts': {
    '2.5 · getValues': ['Array.isArray(values) && values.length === distinct.length', 'Array.isArray(values)'],
    '2.5 · defaultValue': ['value ?? computedFrom.definition.defaultValue', 'value'],
  },
  'src/agent/execute/computed-values.ts': {
    '2.5 · columnType · String': [
      "if (typeof value === 'string') return value;\n    return typeof value === 'number'",
      "return typeof value === 'number'",
    ],
    '2.5 · columnType · Number': ['/^-?\\d+(?:\\.\\d+)?$/.test(value) ? value', 'value ? value'],
    '2.5 · columnType · Boolean': ["typeof value === 'boolean' ? value", 'true ? value'],
    '2.5 · columnType · Date': ['? value : date.toISOString();', '? value : undefined;'],
    '2.5 · columnType · Dateonly': ['text(/^\\d{4}-\\d{2}-\\d{2}$/)(value, [])', 'value'],
    '2.5 · columnType · Time': ['Time: text(/^\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})?$/)', 'Time: text(/./)'],
    '2.5 · columnType · Enum': ['enumValues.includes(value as string) ? value', 'false ? value'],
    '2.5 · columnType · Json': ['Json: (value) => value', 'Json: () => undefined'],
    '2.5 · columnType · Uuid': ['value.toLowerCase()', 'value'],
    '2.5 · columnType · Point': ['Array.isArray(value) && value.length === 2', 'Array.isArray(value)'],
  },
  'src/agent/encode/records.ts': {
    '2.7 · binary mode · datauri': ["if (mode === 'hex') return", 'if (true) return'],
    '2.7 · binary mode · hex': ["if (mode === 'hex') return", 'if (false) return'],
  },
  'src/agent/model/build.ts': {
    '4.2 · Fields · replaceFieldBinaryMode': ['...(binary && { binary: binary.mode }),', ''],
  },
};
