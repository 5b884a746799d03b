// Templates in the strings of a definition: `{{record.email}}`, `{{steps.look.total}}`, `{{user.email}}`, `{{run.id}}`.
// A string that consists of one reference becomes the value itself, with its type. In a longer string the value is
// inserted as text. There are no expressions: use a computed field or an action instead.
import { fail } from '../../core/errors.ts';

const roots = ['record', 'steps', 'user', 'run'] as const;
type TemplateRoot = (typeof roots)[number];

export interface Reference {
  readonly root: TemplateRoot;
  /** A field, a step, or an attribute of the user or the run. */
  readonly name: string;
  /** Only for steps: a property of the outcome. */
  readonly member?: string;
}

const placeholderPattern = /\{\{([^{}]*)\}\}/g;

/** Throws INVALID_ARGUMENT at `where` for an invalid reference. */
export function referencesOf(value: unknown, where: string): readonly Reference[] {
  if (typeof value === 'string')
    return [...value.matchAll(placeholderPattern)].map(([, text]) => parseReference(text!, where));
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((each) => referencesOf(each, where));
}

/** Returns `value` with all references replaced. `look` resolves a reference and throws if it cannot. */
export function fillTemplates<T>(value: T, resolve: (reference: Reference) => unknown): T {
  return fillValue(value, resolve) as T;
}

function fillValue(value: unknown, resolve: (reference: Reference) => unknown): unknown {
  if (typeof value === 'string') return fillText(value, resolve);
  if (Array.isArray(value)) return value.map((each) => fillValue(each, resolve));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillValue(each, resolve)]));
}

function fillText(text: string, resolve: (reference: Reference) => unknown): unknown {
  const whole = /^\{\{([^{}]*)\}\}$/.exec(text);
  if (whole) return resolve(parseReference(whole[1]!, 'template'));
  return text.replace(placeholderPattern, (_, inner: string) => toText(resolve(parseReference(inner, 'template'))));
}

const toText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function parseReference(text: string, where: string): Reference {
  const [root, name, member, ...more] = text.trim().split('.');
  const isKnown = roots.some((each) => each === root) && name !== undefined && name !== '';
  // A field may be a path through relations, written with `:`. Only steps have members.
  const hasValidMember =
    root === 'steps' ? member !== undefined && member !== '' && more.length === 0 : member === undefined;
  if (!isKnown || !hasValidMember) {
    return fail('INVALID_ARGUMENT', {
      argument: where,
      problem: `'{{${text}}}' is not a known placeholder. Use {{record.field}}, {{steps.id.name}}, {{user.email}} or {{run.id}}.`,
    });
  }
  return { root: root as TemplateRoot, name, ...(member !== undefined && { member }) };
}
