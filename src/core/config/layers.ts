// Combines the layers: code, then flag, environment, config file, default. A single value from code wins. Of a list of
// allowed values, code and environment may each remove some. To a list of denied values, each may add some.
import { fail } from '../errors.ts';
import type { Setting } from './setting.ts';

/** A value and the layer that it comes from. */
export interface Layer {
  readonly value: unknown;
  readonly origin: 'code' | 'flag' | 'environment' | 'file' | 'default';
  /** The flag or variable. */
  readonly label?: string;
}

/** Adds the label of an ignored value to `unused`. Throws CONFIGURATION when a list of allowed values becomes empty. */
export function applyCodeLayer(code: unknown, row: Setting<unknown>, layer: Layer, unused: string[]): Layer {
  const { value, label } = layer;
  if (label === undefined || value === null) return { value: code, origin: 'code' };
  // Null allows everything.
  if (row.names === 'allowed' && code === null) return layer;
  if (row.names && Array.isArray(code) && Array.isArray(value))
    return { value: row.names === 'allowed' ? intersect(code, value, label) : union(code, value), origin: 'code' };
  if (JSON.stringify(code) !== JSON.stringify(value)) unused.push(label);
  return { value: code, origin: 'code' };
}

/** The names in both lists, in the order of the first. */
export function intersect(one: readonly string[], other: readonly string[], label: string): readonly string[] {
  const names = new Set(other.map(lower));
  const both = one.filter((name) => names.has(lower(name)));
  if (both.length > 0 || one.length === 0) return both;
  const allowedNames = one.map((name) => `'${name}'`).join(', ');
  const problem = `${label}: code allows only ${allowedNames}. Use some of these names, or remove the setting.`;
  return fail('CONFIGURATION', { problem });
}

const union = (one: readonly string[], other: readonly string[]): readonly string[] => {
  const names = new Set(one.map(lower));
  return [...one, ...other.filter((name) => !names.has(lower(name)))];
};

const lower = (name: string): string => name.toLowerCase();
