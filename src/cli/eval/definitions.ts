// The form of an evaluation: tasks as people put them to an assistant, each with the calls that answer it, written down
// once, and what the answers must say. The same file judges the server after every change of tools, texts or permissions,
// and counts what a model pays. docs/eval.md is for those who write one.

/**
 * Any JSON, and in the place of any value in it:
 * `{ $ref: 'name.path' }`, what a former answer says at a path; `{ $sql: 'SELECT ...', with: [...] }`, rows as lists, and
 * `{ $value: 'SELECT ...', with: [...] }`, the first cell, asked of the demo shop's database itself, past the server.
 */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

export interface Evaluation {
  readonly title: string;
  /** Beside the one who may do everything, by the names that tasks say in `as`. In the demo shop only. */
  readonly people?: Readonly<Record<string, Person>>;
  readonly tasks: readonly Task[];
}

export interface Person {
  /** By collection, as `Permissions.setRole` takes them; `*` stands for those that are not named. */
  readonly permissions: Readonly<Record<string, Partial<Readonly<Record<Permission, boolean>>>>>;
  /** By collection, the filter of the rows that are seen; all where it is absent. */
  readonly rows?: Readonly<Record<string, Value>>;
  /** OAuth scopes. Default: all three. */
  readonly scopes?: readonly string[];
}

export const permissions = ['browse', 'read', 'edit', 'add', 'delete', 'export'] as const;
export type Permission = (typeof permissions)[number];

export interface Task {
  /** What is asked of the assistant. */
  readonly says: string;
  /** Default: one who may do everything. */
  readonly as?: string;
  /** Of the address, such as `readonly=true`. */
  readonly query?: string;
  /** The most that calls and answers may cost together. */
  readonly tokens?: number;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly tool: string;
  readonly arguments: { readonly [name: string]: Value };
  /** By which later calls refer to the answer. */
  readonly name?: string;
  /** Without it, that the answer is no error. */
  readonly expect?: Expectation;
}

/**
 * Paths are names and numbers with dots between them; in a row, the name of a column; `last` and `*` stand for the last
 * and for each of a list.
 */
export interface Expectation {
  /** The code of the error that it must be, such as UNKNOWN_FIELD. */
  readonly error?: string;
  /** The answer at paths. */
  readonly equals?: { readonly [path: string]: Value };
  /** All rows, in their order. */
  readonly rows?: Value;
  /** How many rows. */
  readonly count?: Value;
  /** Texts that the answer must hold; the names of `equals` are not enough for errors. */
  readonly contains?: readonly Value[];
  readonly lacks?: readonly Value[];
  /** Statements on the demo shop's database after the call, each with what it must give. */
  readonly database?: readonly { readonly is: Value; readonly was: Value }[];
}

const evaluationKeys = ['title', 'people', 'tasks'];
const taskKeys = ['says', 'as', 'query', 'tokens', 'calls'];
const callKeys = ['tool', 'arguments', 'name', 'expect'];
const expectationKeys = ['error', 'equals', 'rows', 'count', 'contains', 'lacks', 'database'];

/** What is wrong with a file, one line each; a misspelt matcher that is passed over would be a test that cannot fail. */
export function findProblems(given: unknown): string[] {
  const problems: string[] = [];
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const check = (value: unknown, at: string, known: readonly string[]): value is Record<string, unknown> => {
    if (!isObject(value)) {
      problems.push(`${at}: expected an object.`);
      return false;
    }
    for (const name of Object.keys(value))
      if (!known.includes(name)) problems.push(`${at}: unknown '${name}'. There are ${known.join(', ')}.`);
    return true;
  };
  if (!check(given, 'the file', evaluationKeys)) return problems;
  if (!Array.isArray(given.tasks) || given.tasks.length === 0) problems.push('tasks: expected a list of tasks.');
  const people = isObject(given.people) ? Object.keys(given.people) : [];
  for (const [index, task] of (Array.isArray(given.tasks) ? given.tasks : []).entries()) {
    const at = `task ${index + 1}`;
    if (!check(task, at, taskKeys)) continue;
    if (typeof task.says !== 'string') problems.push(`${at}: 'says' must be a text.`);
    if (task.as !== undefined && !people.includes(String(task.as)))
      problems.push(`${at}: 'as' names nobody of 'people'.`);
    if (!Array.isArray(task.calls) || task.calls.length === 0) problems.push(`${at}: 'calls' must be a list of calls.`);
    for (const [place, call] of (Array.isArray(task.calls) ? task.calls : []).entries()) {
      const where = `${at}, call ${place + 1}`;
      if (!check(call, where, callKeys)) continue;
      if (typeof call.tool !== 'string') problems.push(`${where}: 'tool' must be the name of a tool.`);
      if (!isObject(call.arguments)) problems.push(`${where}: 'arguments' must be an object.`);
      if (call.expect !== undefined) check(call.expect, `${where}, expect`, expectationKeys);
    }
  }
  return problems;
}
