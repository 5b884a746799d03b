// Validates the arguments of calls to the platform endpoint before use. They become values of statements, where an
// object in place of a text would be more than a value (CWE-943).

export type Check = (value: unknown) => boolean;

export const text: Check = (value) => typeof value === 'string';
export const flag: Check = (value) => typeof value === 'boolean';
export const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
/** Id of a row. */
export const id: Check = (value) => Number.isSafeInteger(value);
/** Any value; stored as JSON. */
export const json: Check = () => true;
export const plain: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
export const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
export const mapOf =
  (check: Check): Check =>
  (value) =>
    plain(value) && Object.values(value as object).every(check);
export const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);

/** Checks every listed field. The storage ignores other fields. */
export const shape = (fields: Readonly<Record<string, Check>>): Check => {
  const entries = Object.entries(fields);
  return (value) =>
    plain(value) && entries.every(([name, check]) => check((value as Readonly<Record<string, unknown>>)[name]));
};
