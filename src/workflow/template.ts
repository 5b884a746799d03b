// Texts of a definition in which `{{...}}` stands for what a run knows: `{{record.email}}`, `{{steps.look.total}}`, `{{user.email}}`,
// `{{run.id}}`. A text that is nothing but one of them becomes the value itself, of whatever type; within a longer text it is
// written out. There are no expressions: what must be computed is a computed field or an action.
import { fail } from '../core/errors.ts';

export const roots = ['record', 'steps', 'user', 'run'] as const;
export type TemplateRoot = (typeof roots)[number];

export interface Reference {
  readonly root: TemplateRoot;
  /** A field, a step, or an attribute of the user or the run. */
  readonly name: string;
  /** Of a step: what of its outcome. */
  readonly member?: string;
}

const pattern = /\{\{([^{}]*)\}\}/g;

/** INVALID_ARGUMENT at `where` for a reference that cannot be meant. */
export function referencesOf(value: unknown, where: string): readonly Reference[] {
  if (typeof value === 'string') return [...value.matchAll(pattern)].map(([, text]) => parse(text!, where));
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((each) => referencesOf(each, where));
}

/** `value` with every reference replaced; `look` gives what one stands for, and fails where there is nothing. */
export function fillTemplates<T>(value: T, look: (reference: Reference) => unknown): T {
  return fill(value, look) as T;
}

function fill(value: unknown, look: (reference: Reference) => unknown): unknown {
  if (typeof value === 'string') return fillText(value, look);
  if (Array.isArray(value)) return value.map((each) => fill(each, look));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each, look)]));
}

function fillText(text: string, look: (reference: Reference) => unknown): unknown {
  const whole = /^\{\{([^{}]*)\}\}$/.exec(text);
  if (whole) return look(parse(whole[1]!, 'template'));
  return text.replace(pattern, (_, inner: string) => written(look(parse(inner, 'template'))));
}

const written = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function parse(text: string, where: string): Reference {
  const [root, name, member, ...more] = text.trim().split('.');
  const isKnown = roots.some((each) => each === root) && name !== undefined && name !== '';
  // A field may be a path through relations, written with `:`, and a step has members.
  const fits = root === 'steps' ? member !== undefined && member !== '' && more.length === 0 : member === undefined;
  if (!isKnown || !fits) {
    return fail('INVALID_ARGUMENT', {
      argument: where,
      problem: `'{{${text}}}' is not understood. Write {{record.field}}, {{steps.id.name}}, {{user.email}} or {{run.id}}.`,
    });
  }
  return { root: root as TemplateRoot, name, ...(member !== undefined && { member }) };
}
