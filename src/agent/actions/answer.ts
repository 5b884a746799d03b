// A form as callers receive it: plain data, with all functions evaluated.

import type { Element, Option, WidgetName } from './elements.ts';
import type { FieldType } from './field-types.ts';

/** The value is canonical (definitions.ts: FieldValues). A file is its name, media type and content. */
export interface FieldAnswer {
  readonly id: string;
  readonly label: string;
  readonly type: FieldType;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
  readonly description?: string;
  /** Other parts of the form depend on it: load the form again when its value changes. */
  readonly isWatched: boolean;
  readonly enumValues?: readonly string[];
  readonly collectionName?: string;
  readonly widget?: WidgetName;
  readonly options?: readonly Option[];
  readonly search?: 'static' | 'dynamic' | 'disabled';
  /** The other options of the type and the widget, by their names in the definition. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export type LayoutAnswer =
  | { readonly component: 'Input'; readonly fieldId: string }
  | { readonly component: 'Separator' }
  | { readonly component: 'HtmlBlock'; readonly content: string }
  | { readonly component: 'Row'; readonly fields: readonly LayoutAnswer[] }
  | {
      readonly component: 'Page';
      readonly elements: readonly LayoutAnswer[];
      readonly nextButtonLabel?: string;
      readonly previousButtonLabel?: string;
    };

export interface FieldProblem {
  readonly field: string;
  readonly label: string;
  /** The problem, and what to send. */
  readonly problem: string;
}

export interface FormAnswer {
  /** The fields that are shown with the current values. */
  readonly fields: readonly FieldAnswer[];
  /** By id. Fields without a value are absent. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Absent if the form is a plain list of fields. */
  readonly layout?: readonly LayoutAnswer[];
  /** Ids of required fields without a value. */
  readonly missing: readonly string[];
  /** Problems of the caller's values. */
  readonly problems: readonly FieldProblem[];
  /** Both `missing` and `problems` are empty. */
  readonly canExecute: boolean;
}

type Props = Readonly<Record<string, unknown>>;

export interface PresentedField {
  readonly id: string;
  readonly label: string;
  readonly type: FieldType;
  readonly widget: WidgetName | undefined;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
  readonly description: string | undefined;
  /** Evaluated options of the type and the widget. */
  readonly options: Props;
}

const directMembers = ['enumValues', 'collectionName', 'options', 'search'];

export function answerField(field: PresentedField, value: unknown, isWatched: boolean): FieldAnswer {
  const { id, label, type, widget, isRequired, isReadOnly, description, options } = field;
  const given = Object.entries(options).filter(([, option]) => option !== undefined && option !== null);
  const settings = given.filter(([name]) => !directMembers.includes(name));
  return {
    id,
    label,
    type,
    value: value ?? null,
    isRequired,
    isReadOnly,
    ...(description !== undefined && { description }),
    isWatched,
    ...(widget && { widget }),
    ...Object.fromEntries(given.filter(([name]) => directMembers.includes(name))),
    ...(settings.length > 0 && { settings: Object.fromEntries(settings) }),
  };
}

/** `content` returns the evaluated text of an HtmlBlock. Empty rows and pages are left out. */
export function answerLayout(
  elements: readonly Element[],
  content: (element: Element) => string,
): readonly LayoutAnswer[] | undefined {
  if (elements.every(({ kind }) => kind === 'field')) return undefined;
  return elements.flatMap((element) => answerElement(element, content));
}

function answerElement(element: Element, content: (element: Element) => string): readonly LayoutAnswer[] {
  if (element.kind === 'field') return [{ component: 'Input', fieldId: element.id }];
  const within = element.children.flatMap((child) => answerElement(child, content));
  switch (element.component) {
    case 'Separator':
      return [{ component: 'Separator' }];
    case 'HtmlBlock':
      return [{ component: 'HtmlBlock', content: content(element) }];
    case 'Row':
      return within.length > 0 ? [{ component: 'Row', fields: within }] : [];
    case 'Page': {
      const { nextButtonLabel, previousButtonLabel } = element.props as Partial<Record<string, string>>;
      if (within.length === 0) return [];
      return [
        {
          component: 'Page',
          elements: within,
          ...(nextButtonLabel !== undefined && { nextButtonLabel }),
          ...(previousButtonLabel !== undefined && { previousButtonLabel }),
        },
      ];
    }
  }
}
