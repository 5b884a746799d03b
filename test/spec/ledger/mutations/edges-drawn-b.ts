// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of src/ contain templates.
// Further small wrong changes at the edges of the rows of 2.6 to 2.9 and 4.1, drawn at random.
import type { Points } from '../mutations.ts';

export const edgesDrawnB: Points = {
  'src/agent/resolve/values.ts': {
    '2.7 · operator · StartsWith': ["if (given.includes('\\0'))", "if (given.includes('\\x01'))"],
    '2.7 · operator · Like': ['/(?<!\\\\)(?:\\\\\\\\)*\\\\$/.test(pattern)', '/\\\\$/.test(pattern)'],
    '2.7 · operator · In': ['const LIST_LIMIT = 10_000;', 'const LIST_LIMIT = 1_000;'],
  },
  'src/agent/agent.ts': {
    '4.1 · addDataSource': [
      ["if (typeof factory !== 'function')", 'if (factory === undefined)'],
      ['if (this.#factories.length === 0)', 'if (false as boolean)'],
    ],
    '4.1 · addAi': [
      ['if (this.#ai) failMisuse(', 'if (this.#ai?.provider === provider) failMisuse('],
      ['ai: this.#ai?.provider ?? null });', 'ai: null });'],
    ],
  },
  'src/server/agent/create-agent.ts': {
    '4.1 · updateTypesOnFileSystem': ['if (running) write(running.opened, running.parts);\n    else await', 'await'],
    '4.1 · start': [
      'const server = this.#mounts.isMounted ? await this.#serve() : null;',
      'const server = this.#mounts.server ? await this.#serve() : null;',
    ],
    '4.1 · generateSchemaOnly': ['this.#engine.closeLater(opened.sources);', ''],
  },
  'src/agent/operations/link-pairs.ts': {
    '2.6 · many-to-many · foreignKey': [
      "if (missing.length) fail('RECORD_NOT_FOUND', { collection: to.name, id: missing[0]!, missing });",
      '',
    ],
    '2.6 · many-to-many': [
      "const place = linkAccess.contextFor(through.collection, isOn ? 'add' : 'delete');",
      "const place = linkAccess.contextFor(through.collection, isOn ? 'add' : 'edit');",
    ],
  },
  'src/agent/lower/filter.ts': {
    '2.7 · filter · segment': [
      'const near = suggestNames(String(name), [...segments.keys(), ...ofConsole.keys()]);',
      'const near: string[] = [];',
    ],
  },
  'src/agent/operations/set-relation.ts': {
    '2.6 · one-to-one': ['if (held.length > seen.length)', 'if (held.length < seen.length)'],
  },
  'src/agent/sources/evaluate.ts': {
    '2.7 · operator · GreaterThan': [
      'return compareValues(value, operand, field) > 0;',
      'return compareValues(value, operand, field) >= 0;',
    ],
    '2.7 · operator · IncludesNone': [
      'return !list.some((item) =>\n        (value as',
      'return !list.every((item) =>\n        (value as',
    ],
  },
  'src/agent/operations/hooks.ts': {
    '2.7 · hook type · List': ['...(searchExtended !== undefined && { searchExtended }),', ''],
  },
  'src/agent/write/validation.ts': {
    '2.7 · validation · Match': ['value instanceof RegExp ? value : JSON.stringify(value)', 'JSON.stringify(value)'],
  },
  'src/agent/model/added.ts': {
    '2.6 · external · schema': ["return type === 'Enum' ? 'String' : type;", 'return type;'],
  },
  'src/agent/model/flatten.ts': {
    '2.8 · flattenJsonColumn · readonly': [
      'if (updated.some((each) => JSON.stringify(each) !== JSON.stringify(first)))',
      'if (false as boolean)',
    ],
  },
  'src/server/agent/files.ts': {
    '4.1 · generateSchemaOnly': ['...(form.layout.length > 0 && { layout: form.layout }),', 'layout: form.layout,'],
  },
};
