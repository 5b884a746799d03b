// Checks the evaluated options of a field, for the validation of values and for callers.
import { answerField, answerLayout, type FormAnswer, type PresentedField } from './answer.ts';
import { type Element, type FieldElement, FormProblem, fieldsOf, readEnumValues, readOptions } from './elements.ts';
import { readValue, ValueProblem } from './values.ts';

type Props = Readonly<Record<string, unknown>>;

/** `props`: the evaluated options of the field. Throws FormProblem if a function returned an invalid value. */
export function presentField(field: FieldElement, props: Props, zone: string): PresentedField {
  const { id, label, type, widget } = field;
  const where = `field '${label}'`;
  const bound = (name: string) => readBoundOption(field, props[name], zone, `${where}: '${name}'`);
  const read: Readonly<Record<string, () => unknown>> = {
    enumValues: () => readEnumValues(props.enumValues, where),
    options: () => readOptions(props.options, where),
    min: () => bound('min'),
    max: () => bound('max'),
    currency: () => readCurrency(props.currency, where),
  };
  return {
    id,
    label,
    type,
    widget,
    isRequired: Boolean(props.isRequired),
    isReadOnly: Boolean(props.isReadOnly),
    description: typeof props.description === 'string' ? props.description : undefined,
    options: Object.fromEntries(field.options.map((name) => [name, read[name]?.() ?? props[name]])),
  };
}

function readBoundOption(field: FieldElement, given: unknown, zone: string, where: string): unknown {
  if (given === undefined || given === null) return undefined;
  return readDefined(field.type === 'NumberList' ? 'Number' : field.type, given, zone, where);
}

/** The canonical form of a value from the definition. */
export function readDefined(type: FieldElement['type'], given: unknown, zone: string, where: string): unknown {
  if (type === 'Json') return given;
  try {
    return readValue(type, given, zone);
  } catch (error) {
    if (error instanceof ValueProblem) throw new FormProblem(`${where}: expected a value of type ${type}`);
    throw error;
  }
}

function readCurrency(given: unknown, where: string): string {
  if (typeof given === 'string' && /^[A-Z]{3}$/.test(given)) return given;
  throw new FormProblem(`${where}: currency must be three capital letters such as EUR`);
}

/** The empty form, if no option is a function. */
export function answerStatic(elements: readonly Element[]): Pick<FormAnswer, 'fields' | 'layout'> {
  const fields = fieldsOf(elements).map((field) => {
    const { props, type, label } = field;
    const given = props.value ?? props.defaultValue;
    const value = given === undefined ? undefined : readDefined(type, given, 'UTC', `field '${label}'`);
    return answerField(presentField(field, props, 'UTC'), value, false);
  });
  const layout = answerLayout(elements, ({ props }) => String(props.content ?? ''));
  return { fields, ...(layout && { layout }) };
}
