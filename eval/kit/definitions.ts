// The format of an evaluation. It contains tasks as people phrase them, the recorded calls that answer each task, and
// the expected answers. You can run the same file after every change of tools, texts or permissions. It also counts the
// tokens that a model uses. To write one, see docs/eval.md.

/**
 * Any JSON. These objects can replace any value:
 * `{ $ref: 'name.path' }`: the value at a path of an earlier answer.
 * `{ $sql: 'SELECT ...', with: [...] }`: rows as lists, read directly from the demo shop's database.
 * `{ $value: 'SELECT ...', with: [...] }`: the first cell of such a query.
 */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

export interface Evaluation {
  readonly title: string;
  /** Additional users by name, for `as` of tasks. The default user has all rights. Only for the demo shop. */
  readonly people?: Readonly<Record<string, Person>>;
  readonly tasks: readonly Task[];
}

export interface Person {
  /** By collection, in the format of `Permissions.setRole`. `*` applies to all other collections. */
  readonly permissions: Readonly<Record<string, Partial<Readonly<Record<Permission, boolean>>>>>;
  /** By collection: the filter of visible rows. Absent: all rows. */
  readonly rows?: Readonly<Record<string, Value>>;
  /** OAuth scopes. Default: all three. */
  readonly scopes?: readonly string[];
}

export const permissions = ['browse', 'read', 'edit', 'add', 'delete', 'export'] as const;
type Permission = (typeof permissions)[number];

export interface Task {
  /** The question to the assistant. */
  readonly says: string;
  /** Default: a user with all rights. */
  readonly as?: string;
  /** The query string of the URL, such as `readonly=true`. */
  readonly query?: string;
  /** The token limit for all calls and answers together. */
  readonly tokens?: number;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly tool: string;
  readonly arguments: { readonly [name: string]: Value };
  /** The name by which later calls refer to the answer. */
  readonly name?: string;
  /** Default: the answer is not an error. */
  readonly expect?: Expectation;
}

/**
 * Paths are names and numbers separated by dots. In a row, a name is a column. `last` is the last element of a list,
 * and `*` is every element.
 */
export interface Expectation {
  /** The expected error code, such as UNKNOWN_FIELD. */
  readonly error?: string;
  /** Expected values by path. */
  readonly equals?: { readonly [path: string]: Value };
  /** All rows in order. */
  readonly rows?: Value;
  /** The number of rows. */
  readonly count?: Value;
  /** Texts that the answer must contain. Use this for error messages, because `equals` reads only JSON. */
  readonly contains?: readonly Value[];
  readonly lacks?: readonly Value[];
  /** Queries on the demo shop's database after the call, each with its expected result. */
  readonly database?: readonly { readonly is: Value; readonly was: Value }[];
}

const evaluationKeys = ['title', 'people', 'tasks'];
const taskKeys = ['says', 'as', 'query', 'tokens', 'calls'];
const callKeys = ['tool', 'arguments', 'name', 'expect'];
const expectationKeys = ['error', 'equals', 'rows', 'count', 'contains', 'lacks', 'database'];

/**
 * Returns the problems of a file, one line each. An unknown key is a problem, because ignoring a misspelled matcher
 * would make a test that cannot fail.
 */
export function findProblems(definition: unknown): string[] {
  const problems: string[] = [];
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const check = (value: unknown, at: string, knownKeys: readonly string[]): value is Record<string, unknown> => {
    if (!isObject(value)) {
      problems.push(`${at}: expected an object.`);
      return false;
    }
    for (const name of Object.keys(value))
      if (!knownKeys.includes(name)) problems.push(`${at}: unknown '${name}'. Use ${knownKeys.join(', ')}.`);
    return true;
  };
  if (!check(definition, 'the file', evaluationKeys)) return problems;
  if (!Array.isArray(definition.tasks) || definition.tasks.length === 0)
    problems.push('tasks: expected a list of tasks.');
  const people = isObject(definition.people) ? Object.keys(definition.people) : [];
  for (const [index, task] of (Array.isArray(definition.tasks) ? definition.tasks : []).entries()) {
    const at = `task ${index + 1}`;
    if (!check(task, at, taskKeys)) continue;
    if (typeof task.says !== 'string') problems.push(`${at}: 'says' must be a string.`);
    if (task.as !== undefined && !people.includes(String(task.as)))
      problems.push(`${at}: 'as' must be the name of one of 'people'.`);
    if (!Array.isArray(task.calls) || task.calls.length === 0) problems.push(`${at}: 'calls' must be a list of calls.`);
    for (const [callIndex, call] of (Array.isArray(task.calls) ? task.calls : []).entries()) {
      const where = `${at}, call ${callIndex + 1}`;
      if (!check(call, where, callKeys)) continue;
      if (typeof call.tool !== 'string') problems.push(`${where}: 'tool' must be the name of a tool.`);
      if (!isObject(call.arguments)) problems.push(`${where}: 'arguments' must be an object.`);
      if (call.expect !== undefined) check(call.expect, `${where}, expect`, expectationKeys);
    }
  }
  return problems;
}
