// Settings as code and config files write them: by their names in code, with JavaScript values or texts as in the
// environment.
import { suggestNames } from '../suggestions.ts';
import type { Setting } from './setting.ts';

/**
 * Returns the checked values. Calls `refuse` with a sentence, without its full stop, for an unknown name or an invalid
 * value. Values are never shown.
 */
export function parseSettings(
  rows: Readonly<Record<string, Setting<unknown>>>,
  values: object,
  refuse: (problem: string) => never,
): Record<string, unknown> {
  const names = Object.keys(rows);
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const row = names.includes(name) ? rows[name] : undefined;
    if (!row) {
      const near = suggestNames(name, names);
      return refuse(
        `Unknown setting '${name}'. ${near.length ? `Near: ${near.join(', ')}` : `See docs/configuration.md`}`,
      );
    }
    if (value === undefined) continue;
    try {
      const text = toText(value, row.repeats ? '\n' : ',');
      checked[name] = value === null ? null : row.read(text);
    } catch (error) {
      refuse(`settings: '${name}': ${(error as Error).message}`);
    }
  }
  return checked;
}

/** Lists of objects, and objects, are settings that the environment writes as JSON. */
function toText(value: unknown, separator: string): string {
  const list = Array.isArray(value) ? value : [value];
  return list.some((each) => typeof each === 'object' && each !== null) ? JSON.stringify(value) : list.join(separator);
}
