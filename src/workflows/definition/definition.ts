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
export const STEPS_MOST = 100;

const idSchema = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'expected small letters, digits and hyphens, beginning with a letter, at most 40')
  .describe('What other steps call it: small letters, digits, hyphens.');
const nameSchema = z.string().min(1).max(191);
const nextSchema = idSchema.nullable().describe('The step that follows; null, or nothing: the run ends well.');

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
const WAIT_SECONDS = 7 * 86_400;

const common = {
  id: idSchema,
  title: nameSchema.optional().describe('What people see; the id when absent.'),
  next: nextSchema.optional(),
};
/** Options of steps that may wait for a person. */
const waiting = {
  waitSeconds: z
    .int()
    .min(60)
    .max(30 * 86_400)
    .optional()
    .describe('How long a person has to answer before the run fails; seven days when absent.'),
};
/** Options of steps that use a record. */
const about = {
  record: idSchema.optional().describe('A load-related-record step; the record of the run when absent.'),
};
const modeOf = <const M extends readonly [StepMode, ...StepMode[]]>(some: M) =>
  z.enum(some).optional().describe(`Who does it; ${some[0]} when absent.`);

const optionSchema = z.strictObject({
  id: idSchema,
  label: nameSchema.optional(),
  when: filterSchema.optional().describe('What the record must satisfy, for the automatic form; absent: always.'),
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
  required: z.boolean().optional().describe('Default true.'),
  answer: answerSchema,
});

const stepSchema = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('condition'),
      ...common,
      ...waiting,
      ...about,
      mode: modeOf(['automatic', 'confirm', 'manual']),
      question: z.string().max(2000).optional().describe('What a person, or a model, is asked.'),
      options: z.array(optionSchema).min(2).max(20),
    })
    .describe(
      'Takes one of several ways: the first whose filter the record satisfies, what a model says, or a person.',
    ),
  z
    .strictObject({
      type: z.literal('read-record'),
      ...common,
      ...about,
      fields: z.array(nameSchema).min(1).max(50).describe('Fields, or relation:field; later steps use them.'),
    })
    .describe('Reads fields of the record, as the user of the run.'),
  z
    .strictObject({
      type: z.literal('update-record'),
      ...common,
      ...waiting,
      ...about,
      mode: modeOf(['confirm', 'automatic', 'manual']),
      values: valuesSchema.describe('Values by field. In manual mode what a person finds filled in.'),
    })
    .describe('Changes fields of the record.'),
  z
    .strictObject({
      type: z.literal('trigger-action'),
      ...common,
      ...waiting,
      ...about,
      mode: modeOf(['confirm', 'automatic', 'manual']),
      action: nameSchema,
      values: valuesSchema.optional().describe('Values of its form; a person is asked for what is missing.'),
    })
    .describe('Executes an action of the collection on the record.'),
  z
    .strictObject({
      type: z.literal('load-related-record'),
      ...common,
      ...waiting,
      ...about,
      mode: modeOf(['automatic', 'confirm', 'manual']),
      relation: nameSchema,
      filter: filterSchema.optional(),
      sort: sortSchema.optional().describe('The first record in this order is taken; that of the key when absent.'),
      otherwise: nextSchema.optional().describe('Where to go when there is none; next when absent.'),
    })
    .describe('Takes one record that a relation leads to; later steps can be about it.'),
  z
    .strictObject({
      type: z.literal('mcp'),
      ...common,
      ...waiting,
      mode: modeOf(['confirm', 'automatic']),
      server: nameSchema.describe('A remote MCP server that was connected in the console.'),
      tool: nameSchema,
      arguments: valuesSchema.optional(),
      onError: nextSchema
        .optional()
        .describe('Where to go when the tool answers with an error; absent: the run fails.'),
      allowChanges: z
        .boolean()
        .optional()
        .describe(
          'In automatic mode: call it also where the server does not say that it only reads, or destroys nothing.',
        ),
    })
    .describe('Calls a tool of a remote MCP server.'),
  z
    .strictObject({
      type: z.literal('guidance'),
      ...common,
      ...waiting,
      text: z.string().min(1).max(10_000).describe('What the person is to do; may hold {{...}}.'),
      inputs: z.array(inputSchema).max(20).optional(),
    })
    .describe('Waits until a person has read and done it, and told what is asked.'),
  z
    .strictObject({
      type: z.literal('ai'),
      ...common,
      ...waiting,
      mode: modeOf(['automatic', 'confirm', 'manual']),
      prompt: z.string().min(1).max(10_000).describe('May hold {{...}}.'),
      answer: answerSchema,
      otherwise: z.json().optional().describe('The answer where there is no model; a person is asked when absent.'),
    })
    .describe('Asks the language model a question with a typed answer; {{steps.<id>.answer}} later.'),
]);

export const definitionSchema = z.strictObject({
  name: z.string().min(1).max(100),
  collection: nameSchema,
  description: z.string().max(1000).optional(),
  start: idSchema.optional().describe('The first step that is executed; the first of the list when absent.'),
  concurrency: z.int().min(1).max(1000).optional().describe('The most runs that work at once; no limit when absent.'),
  steps: z.array(stepSchema).min(1).max(STEPS_MOST),
});

/** A workflow as written in code or in the console. */
export type WorkflowDefinition = z.infer<typeof definitionSchema>;
/** One step of a workflow, of any type. */
export type WorkflowStep = WorkflowDefinition['steps'][number];
export type StepOf<T extends WorkflowStep['type']> = Extract<WorkflowStep, { type: T }>;
export type TypedAnswer = z.infer<typeof answerSchema>;
export type StepInput = z.infer<typeof inputSchema>;

/** JSON Schema for the editor and for programs that write definitions. */
export const definitionJsonSchema = (): object => z.toJSONSchema(definitionSchema, { io: 'input' });

/** Step types that change data outside the run. The executor marks each one as begun before it runs. */
export const mutating: ReadonlySet<WorkflowStep['type']> = new Set(['update-record', 'trigger-action', 'mcp']);

/** Throws INVALID_ARGUMENT with the position of the problem and a correction. */
export function readDefinition(given: unknown): WorkflowDefinition {
  const { success, data, error } = definitionSchema.safeParse(given);
  if (!success) {
    // An unrecognized key comes first: it is often a misspelling of the missing one.
    const { path, message } = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0]!;
    return wrong(path.length > 0 ? path.join('.') : 'definition', `${message}.`);
  }
  checkSteps(data);
  return data;
}

export const firstStep = ({ start, steps }: WorkflowDefinition): string => start ?? steps[0]!.id;

export const stepOf = ({ steps }: WorkflowDefinition, id: string): WorkflowStep | undefined =>
  steps.find((step) => step.id === id);

/** A transition of a step, drawn as an arrow. `label`: the option, or the exceptional case. */
export interface Way {
  readonly to: string | null;
  readonly label?: string;
}

export function waysOf(step: WorkflowStep): readonly Way[] {
  if (step.type === 'condition') {
    return step.options.map(({ id, label = id, next = step.next ?? null }) => ({ to: next, label }));
  }
  const next: Way = { to: step.next ?? null };
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
    if (ids.has(id)) wrong(`steps.${at}.id`, `'${id}' is the id of two steps. Give each its own.`);
    ids.add(id);
  });
  const need = (where: string, id: string | null | undefined): void => {
    if (id != null && !ids.has(id)) wrong(where, `there is no step '${id}'. The steps are ${[...ids].join(', ')}.`);
  };
  need('start', start);
  steps.forEach((step, at) => {
    const where = `steps.${at}`;
    need(`${where}.next`, step.next);
    if (step.type === 'condition') checkOptions(step, where, need);
    if (step.type === 'load-related-record') need(`${where}.otherwise`, step.otherwise);
    if (step.type === 'mcp') need(`${where}.onError`, step.onError);
    if ('record' in step && step.record !== undefined) {
      need(`${where}.record`, step.record);
      if (stepOf(definition, step.record)?.type !== 'load-related-record') {
        wrong(`${where}.record`, `'${step.record}' loads no record. Name a load-related-record step, or leave it out.`);
      }
    }
    for (const { root, name } of referencesOf(step, where)) {
      if (root === 'steps') need(where, name);
    }
  });
  const reached = reachedFrom(definition);
  const lost = steps.find(({ id }) => !reached.has(id));
  if (lost) {
    wrong(
      `steps.${steps.indexOf(lost)}`,
      `no way leads to '${lost.id}'. Make it the next of another step, or remove it.`,
    );
  }
}

function checkOptions(
  { options }: StepOf<'condition'>,
  where: string,
  need: (where: string, id: string | null | undefined) => void,
): void {
  const seen = new Set<string>();
  options.forEach(({ id, next }, at) => {
    if (seen.has(id)) wrong(`${where}.options.${at}.id`, `'${id}' is the id of two options. Give each its own.`);
    seen.add(id);
    need(`${where}.options.${at}.next`, next);
  });
}

function reachedFrom(definition: WorkflowDefinition): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [firstStep(definition)];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    for (const { to } of waysOf(stepOf(definition, id)!)) if (to !== null) open.push(to);
  }
  return reached;
}

/** Seconds that a step waits for an answer. */
export const waitSecondsOf = (step: WorkflowStep): number =>
  ('waitSeconds' in step ? step.waitSeconds : undefined) ?? WAIT_SECONDS;

function wrong(argument: string, problem: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem });
}
