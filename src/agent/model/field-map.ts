import type { Field } from './types.ts';

/** Fields by name. Unlisted names are found by `get`, but not listed. */
export class FieldMap extends Map<string, Field> {
  readonly #unlisted = new Map<string, Field>();

  /** A listed field of the same name takes precedence. */
  addUnlisted(name: string, field: Field): void {
    this.#unlisted.set(name, field);
  }

  override get(name: string): Field | undefined {
    return super.get(name) ?? this.#unlisted.get(name);
  }

  override has(name: string): boolean {
    return super.has(name) || this.#unlisted.has(name);
  }
}
