// The schema of a workflow definition. It validates definitions from code and from the console's editor, documents
// them, and types the executor. A definition is pure data: steps and the transitions between them. A run can therefore
// continue in any process with the version it started with.
import { z } from 'zod';
import { fail } from '../../core/errors.ts';
import type { PlainFilter, PlainSort } from '../../core/filter.ts';
import { operators } from '../../core/filter.ts';
import { referencesOf } from './template.ts';

/** How much of a step a person does: all of it, only the confirmation, or no part. */
export const modes = ['manual', 'confirm', 'automatic'] as const;
/** How much of a step a person does. */
export type StepMode = (typeof modes)[number];

/** Maximum number of steps in a definition. */
const MAX_STEPS = 100;

const idSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,39}$/,
    'expected lowercase letters, digits and hyphens, starting with a letter, at most 40 characters',
  )
  .describe('The id that other steps use: lowercase letters, digits and hyphens.');
const nameSchema = z.string().min(1).max(191);
const nextSchema = idSchema.nullable().describe('The next step; null or absent: the run completes.');

const leafSchema = z.strictObject({
  field: nameSchema,
  operator: z.enum(operators),
  value: z.unknown().optional(),
});
/** The filter format of tools and of the API. Values may contain `{{...}}`. */
const filterSchema: z.ZodType<PlainFilter> = z.union([
  leafSchema as unknown as z.ZodType<PlainFilter>,
  z.strictObject({
    aggregator: z.enum(['And', 'Or', 'Not']),
    get conditions() {
      return z.array(filterSchema).max(50);
    },
  }) as unknown as z.ZodType<PlainFilter>,
  z.strictObject({
    some: nameSchema,
    get where() {
      return filterSchema.optional();
    },
  }) as unknown as z.ZodType<PlainFilter>,
  z.strictObject({
    none: nameSchema,
    get where() {
      return filterSchema.optional();
    },
  }) as unknown as z.ZodType<PlainFilter>,
  z.strictObject({
    every: nameSchema,
    get where() {
      return filterSchema;
    },
  }) as unknown as z.ZodType<PlainFilter>,
]);
const sortSchema = z
  .array(z.strictObject({ field: nameSchema, ascending: z.boolean().optional() }) as unknown as z.ZodType<PlainSort>)
  .max(5);
/**
 * JSON. Strings may contain `{{record.field}}`, `{{steps.<id>.<name>}}`, `{{user.email}}` and `{{run.id}}`
 * (template.ts).
 */
const valuesSchema = z.record(nameSchema, z.json());

/** Default for `waitSeconds`. */
const DEFAULT_WAIT_SECONDS = 7 * 86_400;

const commonOptions = {
  id: idSchema,
  title: nameSchema.optional().describe('The title that people see; default: the id.'),
  next: nextSchema.optional(),
};
/** Options of steps that may wait for a person. */
const waitOptions = {
  waitSeconds: z
    .int()
    .min(60)
    .max(30 * 86_400)
    .optional()
    .describe('How long a person has to answer before the run fails; default: seven days.'),
};
/** Options of steps that use a record. */
const recordOptions = {
  record: idSchema.optional().describe('A load-related-record step; default: the record of the run.'),
};
const modeSchema = <const M extends readonly [StepMode, ...StepMode[]]>(allowed: M) =>
  z.enum(allowed).optional().describe(`How much of the step a person does; default: ${allowed[0]}.`);

const optionSchema = z.strictObject({
  id: idSchema,
  label: nameSchema.optional(),
  when: filterSchema
    .optional()
    .describe('The filter that the record must satisfy in automatic mode; absent: always satisfied.'),
  next: nextSchema.optional(),
});

/** The type of one value that a person or a model enters. */
const answerSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), maxLength: z.int().min(1).max(10_000).optional() }),
  z.strictObject({ type: z.literal('number'), min: z.number().optional(), max: z.number().optional() }),
  z.strictObject({ type: z.literal('boolean') }),
  z.strictObject({ type: z.literal('enum'), options: z.array(nameSchema).min(2).max(50) }),
]);

const inputSchema = z.strictObject({
  name: idSchema,
  label: nameSchema.optional(),
  required: z.boolean().optional().describe('Default: true.'),
  answer: answerSchema,
});

const stepSchema = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('condition'),
      ...commonOptions,
      ...waitOptions,
      ...recordOptions,
      mode: modeSchema(['automatic', 'confirm', 'manual']),
      question: z.string().max(2000).optional().describe('The question for a person or a model.'),
      options: z.array(optionSchema).min(2).max(20),
    })
    .describe(
      'Chooses one of several options: the first with a filter that the record satisfies, or the choice of a model or a person.',
    ),
  z
    .strictObject({
      type: z.literal('read-record'),
      ...commonOptions,
      ...recordOptions,
      fields: z.array(nameSchema).min(1).max(50).describe('Fields, or relation:field; later steps use them.'),
    })
    .describe('Reads fields of the record, as the user of the run.'),
  z
    .strictObject({
      type: z.literal('update-record'),
      ...commonOptions,
      ...waitOptions,
      ...recordOptions,
      mode: modeSchema(['confirm', 'automatic', 'manual']),
      values: valuesSchema.describe('Values by field. In manual mode, they prefill the form of the person.'),
    })
    .describe('Changes fields of the record.'),
  z
    .strictObject({
      type: z.literal('trigger-action'),
      ...commonOptions,
      ...waitOptions,
      ...recordOptions,
      mode: modeSchema(['confirm', 'automatic', 'manual']),
      action: nameSchema,
      values: valuesSchema.optional().describe('Values of its form; a person enters the missing ones.'),
    })
    .describe('Executes an action of the collection on the record.'),
  z
    .strictObject({
      type: z.literal('load-related-record'),
      ...commonOptions,
      ...waitOptions,
      ...recordOptions,
      mode: modeSchema(['automatic', 'confirm', 'manual']),
      relation: nameSchema,
      filter: filterSchema.optional(),
      sort: sortSchema.optional().describe('The order of the records; the step loads the first. Default: by key.'),
      otherwise: nextSchema.optional().describe('The next step if there is no such record; default: next.'),
    })
    .describe('Loads one record of a relation; later steps can use it.'),
  z
    .strictObject({
      type: z.literal('mcp'),
      ...commonOptions,
      ...waitOptions,
      mode: modeSchema(['confirm', 'automatic']),
      server: nameSchema.describe('A remote MCP server that was connected in the console.'),
      tool: nameSchema,
      arguments: valuesSchema.optional(),
      onError: nextSchema.optional().describe('The next step if the tool returns an error; absent: the run fails.'),
      allowChanges: z
        .boolean()
        .optional()
        .describe('In automatic mode: also call a tool that the server does not declare read-only or non-destructive.'),
    })
    .describe('Calls a tool of a remote MCP server.'),
  z
    .strictObject({
      type: z.literal('guidance'),
      ...commonOptions,
      ...waitOptions,
      text: z.string().min(1).max(10_000).describe('The task for the person; may contain {{...}}.'),
      inputs: z.array(inputSchema).max(20).optional(),
    })
    .describe('Waits until a person has completed the task and entered the inputs.'),
  z
    .strictObject({
      type: z.literal('ai'),
      ...commonOptions,
      ...waitOptions,
      mode: modeSchema(['automatic', 'confirm', 'manual']),
      prompt: z.string().min(1).max(10_000).describe('May contain {{...}}.'),
      answer: answerSchema,
      otherwise: z.json().optional().describe('The answer if there is no model; absent: a person answers.'),
    })
    .describe('Asks the language model a question with a typed answer; {{steps.<id>.answer}} later.'),
]);

const definitionSchema = z.strictObject({
  name: z.string().min(1).max(100),
  collection: nameSchema,
  description: z.string().max(1000).optional(),
  start: idSchema.optional().describe('The step to start with; default: the first of the list.'),
  concurrency: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe('The maximum number of runs at the same time; default: no limit.'),
  steps: z.array(stepSchema).min(1).max(MAX_STEPS),
});

/** A workflow as written in code or in the console. */
export type WorkflowDefinition = z.infer<typeof definitionSchema>;
/** One step of a workflow, of any type. */
export type WorkflowStep = WorkflowDefinition['steps'][number];
export type StepOf<T extends WorkflowStep['type']> = Extract<WorkflowStep, { type: T }>;
export type AnswerType = z.infer<typeof answerSchema>;

/** JSON Schema for the editor and for programs that write definitions. */
export const definitionJsonSchema = (): object => z.toJSONSchema(definitionSchema, { io: 'input' });

/** Throws INVALID_ARGUMENT with the position of the problem and a correction. */
export function parseDefinition(input: unknown): WorkflowDefinition {
  const { success, data, error } = definitionSchema.safeParse(input);
  if (!success) {
    // An unrecognized key comes first: it is often a misspelling of the missing one.
    const { path, message } = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0]!;
    return failDefinition(path.length > 0 ? path.join('.') : 'definition', `${message}.`);
  }
  checkSteps(data);
  return data;
}

export const firstStep = ({ start, steps }: WorkflowDefinition): string => start ?? steps[0]!.id;

export const stepOf = ({ steps }: WorkflowDefinition, id: string): WorkflowStep | undefined =>
  steps.find((step) => step.id === id);

/** A transition of a step, drawn as an arrow. `label`: the option, or the exceptional case. */
interface Transition {
  readonly to: string | null;
  readonly label?: string;
}

export function transitionsOf(step: WorkflowStep): readonly Transition[] {
  if (step.type === 'condition') {
    return step.options.map(({ id, label = id, next = step.next ?? null }) => ({ to: next, label }));
  }
  const next: Transition = { to: step.next ?? null };
  if (step.type === 'load-related-record' && step.otherwise !== undefined) {
    return [next, { to: step.otherwise, label: 'none' }];
  }
  if (step.type === 'mcp' && step.onError !== undefined) return [next, { to: step.onError, label: 'error' }];
  return [next];
}

function checkSteps(definition: WorkflowDefinition): void {
  const { steps, start } = definition;
  const ids = new Set<string>();
  steps.forEach(({ id }, at) => {
    if (ids.has(id)) failDefinition(`steps.${at}.id`, `two steps have the id '${id}'. Use a different id for each.`);
    ids.add(id);
  });
  const requireStep = (where: string, id: string | null | undefined): void => {
    if (id != null && !ids.has(id)) failDefinition(where, `unknown step '${id}'. Known: ${[...ids].join(', ')}.`);
  };
  requireStep('start', start);
  steps.forEach((step, at) => {
    const where = `steps.${at}`;
    requireStep(`${where}.next`, step.next);
    if (step.type === 'condition') checkOptions(step, where, requireStep);
    if (step.type === 'load-related-record') requireStep(`${where}.otherwise`, step.otherwise);
    if (step.type === 'mcp') requireStep(`${where}.onError`, step.onError);
    if ('record' in step && step.record !== undefined) {
      requireStep(`${where}.record`, step.record);
      if (stepOf(definition, step.record)?.type !== 'load-related-record') {
        failDefinition(
          `${where}.record`,
          `'${step.record}' does not load a record. Name a load-related-record step, or leave it out.`,
        );
      }
    }
    for (const { root, name } of referencesOf(step, where)) {
      if (root === 'steps') requireStep(where, name);
    }
  });
  const reached = findReachable(definition);
  const unreachable = steps.find(({ id }) => !reached.has(id));
  if (unreachable) {
    failDefinition(
      `steps.${steps.indexOf(unreachable)}`,
      `no step leads to '${unreachable.id}'. Make it the next step of another one, or remove it.`,
    );
  }
}

function checkOptions(
  { options }: StepOf<'condition'>,
  where: string,
  requireStep: (where: string, id: string | null | undefined) => void,
): void {
  const optionIds = new Set<string>();
  options.forEach(({ id, next }, at) => {
    if (optionIds.has(id))
      failDefinition(`${where}.options.${at}.id`, `two options have the id '${id}'. Use a different id for each.`);
    optionIds.add(id);
    requireStep(`${where}.options.${at}.next`, next);
  });
}

/** Ids of the steps that a run can reach. */
export function findReachable(definition: WorkflowDefinition): ReadonlySet<string> {
  const reached = new Set<string>();
  const pending = [firstStep(definition)];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    for (const { to } of transitionsOf(stepOf(definition, id)!)) if (to !== null) pending.push(to);
  }
  return reached;
}

/** Seconds that a step waits for an answer. */
export const waitSecondsOf = (step: WorkflowStep): number =>
  ('waitSeconds' in step ? step.waitSeconds : undefined) ?? DEFAULT_WAIT_SECONDS;

function failDefinition(argument: string, problem: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem });
}
