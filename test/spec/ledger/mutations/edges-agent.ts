// Mutations for edge cases of 2.1, 2.2, 2.9 and 4.1: the feature exists, but differs from the specification.
import type { Points } from '../mutations.ts';

export const edgesOfAgent: Points = {
  'src/agent/model/chosen-tables.ts': {
    '2.2 · include': ['(!include || include.includes(name))', '(!include || include.includes(rename[name] ?? name))'],
    '2.2 · exclude': ['&& !exclude.includes(name))', '&& (include || !exclude.includes(name)))'],
  },
  'src/oauth/tokens/session-token.ts': {
    '2.9 · agentForestAuthSecret': [
      "sign('portico testing token', secret)",
      "sign('portico testing token', secret.toLowerCase())",
    ],
  },
  'src/agent/agent.ts': {
    '4.1 · addChart': ['charts: [...this.#charts] }', 'charts: this.#charts.slice(0, 1) }'],
    '4.1 · use': [
      'plugin(new CollectionCustomizer(name, inner), options)',
      'plugin(new CollectionCustomizer(name, inner), { ...options } as O)',
    ],
    '4.1 · removeCollection': ['removed: [...this.#removed]', 'removed: this.#removed.slice(-1)'],
    '4.1 · customizeCollection': [
      'for (const { at, what, run } of this.#steps) {',
      'for (const { at, what, run } of this.#steps.toReversed()) {',
    ],
    '4.1 · addDataSource': [
      'opened.push([source, { options, at }]);',
      'opened.push([source, { options: this.#factories[0]!.options ?? {}, at }]);',
    ],
  },
  'src/agent/engine.ts': {
    '4.1 · stop': ['await Promise.all(sources.map((source) => source.close()));', 'await sources[0]?.close();'],
  },
};
