// Changes of the order of the steps: adding, moving and deleting a step, with the connections of the others. A change
// returns a new definition. The caller validates it.
import {
  findReachable,
  firstStep,
  parseDefinition,
  stepOf,
  transitionsOf,
  type WorkflowDefinition,
  type WorkflowStep,
} from '../../../../workflows/definition/definition.ts';

/** A place for a new step: between a step, or one outcome of it, and what follows. */
interface Slot {
  /** Such as `look`, `late:big` for an option, `buyer:none`, `far:error`, or `` for the start. */
  readonly key: string;
  /** Undefined for the start. */
  readonly after: WorkflowStep | undefined;
  /** The option, or the exceptional case. */
  readonly label?: string;
  readonly to: string | null;
}

export function slotsOf(definition: WorkflowDefinition): readonly Slot[] {
  const start: Slot = { key: '', after: undefined, to: definition.steps.length > 0 ? firstStep(definition) : null };
  return [start, ...definition.steps.flatMap(slotsAfter)];
}

function slotsAfter(step: WorkflowStep): readonly Slot[] {
  const { id, next = null } = step;
  const about = { key: id, after: step, to: next };
  if (step.type === 'condition') {
    return step.options.map((option) => ({
      ...{ key: `${id}:${option.id}`, after: step, label: option.label ?? option.id },
      to: option.next === undefined ? next : option.next,
    }));
  }
  if (step.type === 'load-related-record') {
    const { otherwise = next } = step;
    return [about, { key: `${id}:none`, after: step, label: 'if there is no record', to: otherwise }];
  }
  if (step.type === 'mcp')
    return [about, { key: `${id}:error`, after: step, label: 'if the tool fails', to: step.onError ?? null }];
  return [about];
}

type Steps = WorkflowDefinition['steps'];

const mapStep = (steps: Steps, id: string, change: (step: WorkflowStep) => WorkflowStep): Steps =>
  steps.map((step) => (step.id === id ? change(step) : step));

/** Without `next`, the run completes. */
const withNext = <S extends WorkflowStep>({ next: _, ...step }: S, next: string | null): S =>
  ({ ...step, ...(next !== null && { next }) }) as S;

function connect(steps: Steps, { key, after }: Slot, to: string): Steps {
  if (!after) return steps;
  const outcome = key.slice(after.id.length + 1);
  return mapStep(steps, after.id, (step) => {
    if (outcome === '') return withNext(step, to);
    if (step.type === 'load-related-record') return { ...step, otherwise: to };
    if (step.type === 'mcp') return { ...step, onError: to };
    if (step.type !== 'condition') return step;
    return { ...step, options: step.options.map((each) => (each.id === outcome ? { ...each, next: to } : each)) };
  });
}

/** `start` is left out if the run starts with the first step of the list. */
function withStart(definition: WorkflowDefinition, steps: Steps, first: string): WorkflowDefinition {
  const { start, ...rest } = definition;
  return { ...rest, ...((start !== undefined || steps[0]!.id !== first) && { start: first }), steps };
}

/** Inserts the step at the slot. Its own `next` stays as it is. */
export function insertStep(definition: WorkflowDefinition, key: string, step: WorkflowStep): WorkflowDefinition {
  const slot = slotsOf(definition).find((each) => each.key === key) ?? slotsOf(definition).at(-1)!;
  const { steps } = definition;
  const at = slot.after ? steps.findIndex(({ id }) => id === slot.after!.id) + 1 : 0;
  const connected = connect(steps, slot, step.id);
  const all = [...connected.slice(0, at), step, ...connected.slice(at)];
  return withStart(definition, all, slot.after ? firstStep(definition) : step.id);
}

/** Everything that led to `from` leads to `to`. */
function redirect(steps: Steps, from: string, to: string | null, except?: string): Steps {
  return steps.map((step): WorkflowStep => {
    if (step.id === except) return step;
    const turned = step.next === from ? withNext(step, to) : step;
    if (turned.type === 'load-related-record' && turned.otherwise === from) return { ...turned, otherwise: to };
    if (turned.type === 'mcp' && turned.onError === from) return { ...turned, onError: to };
    if (turned.type !== 'condition' || !turned.options.some(({ next }) => next === from)) return turned;
    return { ...turned, options: turned.options.map((each) => (each.next === from ? { ...each, next: to } : each)) };
  });
}

/** The steps that lead to a step. */
export const stepsBefore = ({ steps }: WorkflowDefinition, id: string): readonly WorkflowStep[] =>
  steps.filter((step) => step.id !== id && transitionsOf(step).some(({ to }) => to === id));

/** The steps that can follow a step, without the step itself. Null is the end. */
export const nextChoices = (step: WorkflowStep): readonly (string | null)[] =>
  [...new Set(transitionsOf(step).map(({ to }) => to))].filter((to) => to !== step.id);

interface Removal {
  readonly definition: WorkflowDefinition;
  /** Steps that no step leads to any more, which go with it. */
  readonly dropped: readonly WorkflowStep[];
}

/** Undefined for the only step of a workflow. */
export function removeStep(definition: WorkflowDefinition, id: string, to: string | null): Removal | undefined {
  const first = firstStep(definition) === id ? to : firstStep(definition);
  const rest = redirect(definition.steps, id, to).filter((step) => step.id !== id);
  if (first === null || rest.length === 0) return undefined;
  const reduced = withStart(definition, rest, first);
  const reached = findReachable(reduced);
  const steps = rest.filter((step) => reached.has(step.id));
  return { definition: withStart(definition, steps, first), dropped: rest.filter((step) => !reached.has(step.id)) };
}

/**
 * Moves a step before the one above it in the list, if that one leads to it. Undefined if the result is not clear: a
 * choice has several next steps, and other steps may lead to the step.
 */
export function moveUp(definition: WorkflowDefinition, id: string): WorkflowDefinition | undefined {
  const { steps } = definition;
  const at = steps.findIndex((step) => step.id === id);
  const [above, step] = [steps[at - 1], steps[at]];
  if (!above || !step || step.type === 'condition') return undefined;
  const before = stepsBefore(definition, id);
  const { next: rest = null } = step;
  if (before.length !== 1 || before[0] !== above || rest === above.id || rest === id) return undefined;
  const first = firstStep(definition);
  if (first === id) return undefined;
  const bypassed = redirect(steps, id, rest, id);
  const led = redirect(bypassed, above.id, id, id);
  const turned = mapStep(led, id, (each) => withNext(each, above.id));
  const moved = turned.filter((each) => each.id !== id);
  moved.splice(at - 1, 0, turned[at]!);
  return ifValid(withStart(definition, moved, first === above.id ? id : first));
}

/** As `moveUp` of the step below. */
export function moveDown(definition: WorkflowDefinition, id: string): WorkflowDefinition | undefined {
  const below = definition.steps[definition.steps.findIndex((step) => step.id === id) + 1];
  return below && moveUp(definition, below.id);
}

function ifValid(definition: WorkflowDefinition): WorkflowDefinition | undefined {
  try {
    return parseDefinition(definition);
  } catch {
    return undefined;
  }
}

export const replaceStep = (definition: WorkflowDefinition, step: WorkflowStep): WorkflowDefinition => ({
  ...definition,
  steps: mapStep(definition.steps, step.id, () => step),
});

const MAX_ID = 40;

/** An id from a title, that is not taken yet: lowercase letters, digits and hyphens. */
export function createId(title: string, taken: readonly string[], usual: string): string {
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  const trimmed = plain.replace(/^-+/, '');
  const named = /^[0-9]/.test(trimmed) ? `${usual}-${trimmed}` : trimmed || usual;
  const base = named.slice(0, MAX_ID - 4).replace(/-+$/, '');
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.includes(id)) return id;
  }
}

export const titleIn = (definition: WorkflowDefinition, id: string | null): string => {
  if (id === null) return 'the end';
  const step = stepOf(definition, id);
  return step?.title ?? id;
};
