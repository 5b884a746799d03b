// A workflow as a drawing: its steps from top to bottom and the ways between them, as SVG that is part of the page. It needs no
// script and takes its colours from the style sheet, so that it is dark where the page is. Everything that it shows is said in
// words beside it (outline.ts), which is why readers are told its title alone; a state is written in the box, never only a colour.
import { createRequire } from 'node:module';
import type * as dagre from '@dagrejs/dagre';
import { type Html, html } from '../../oauth/html.ts';
import type { RunStepState } from '../../store/workflow-types.ts';
import {
  firstStep,
  type modes,
  type WorkflowDefinition,
  type WorkflowStep,
  waysOf,
} from '../../workflow/definition.ts';

/** What became of a step in a run. */
export type StepStates = ReadonlyMap<string, RunStepState>;

const BOX = { width: 224, height: 60 };
const END = { width: 64, height: 32 };
const LABEL = { height: 20, letter: 7 };
const MOST_LETTERS = 27;
const end = ' end';

const stateWords: Readonly<Record<RunStepState, string>> = {
  begun: 'under way',
  waiting: 'waits',
  done: 'done',
  skipped: 'skipped',
  failed: 'failed',
};

const typeNames: Readonly<Record<WorkflowStep['type'], string>> = {
  condition: 'Choice',
  'read-record': 'Read',
  'update-record': 'Update',
  'trigger-action': 'Action',
  'load-related-record': 'Related record',
  mcp: 'Remote tool',
  guidance: 'Person',
  ai: 'Question to the model',
};

export const typeName = ({ type }: WorkflowStep): string => typeNames[type];
export const stateWord = (state: RunStepState): string => stateWords[state];
export const titleOf = ({ title, id }: Pick<WorkflowStep, 'title' | 'id'>): string => title ?? id;

/** What a step does by itself when its definition does not say; undefined where there is no choice. */
export function modeOf(step: WorkflowStep): (typeof modes)[number] | undefined {
  if (!('mode' in step))
    return step.type === 'guidance' || step.type === 'read-record' ? undefined : standardMode(step);
  return step.mode ?? standardMode(step);
}

const confirmed: ReadonlySet<WorkflowStep['type']> = new Set(['update-record', 'trigger-action', 'mcp']);
const standardMode = ({ type }: WorkflowStep): (typeof modes)[number] =>
  confirmed.has(type) ? 'confirm' : 'automatic';

interface Laid {
  readonly x: number;
  readonly y: number;
}

export function drawWorkflow(definition: WorkflowDefinition, states: StepStates = new Map()): Html {
  // Loaded by the first drawing.
  const { Graph, layout } = createRequire(import.meta.url)('@dagrejs/dagre') as typeof dagre;
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 36, ranksep: 44, edgesep: 16, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const { steps } = definition;
  for (const { id } of steps) graph.setNode(id, { ...BOX });
  const ways = steps.flatMap((step) =>
    waysOf(step).map(({ to, label }, at) => ({ from: step.id, to: to ?? end, label, name: `${at}` })),
  );
  if (ways.some(({ to }) => to === end)) graph.setNode(end, { ...END });
  for (const { from, to, label, name } of ways) {
    const width = label === undefined ? 0 : Math.min(label.length, MOST_LETTERS) * LABEL.letter + 8;
    graph.setEdge(from, to, { width, height: label === undefined ? 0 : LABEL.height, labelpos: 'c' }, name);
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { readonly width?: number; readonly height?: number };
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const start = firstStep(definition);
  return html`<div class="scroll flow" role="region" aria-label="Drawing of the workflow" tabindex="0"><svg class="graph" role="img" aria-label="Drawing of ${definition.name}: the list of steps says the same" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>
${ways.map(({ from, to, label, name }) => way(graph.edge(from, to, name) as unknown as Way, label))}
${steps.map((step) => box(step, graph.node(step.id) as unknown as Laid, { state: states.get(step.id), isFirst: step.id === start }))}
${graph.hasNode(end) && pill(graph.node(end) as unknown as Laid)}
</svg></div>`;
}

interface Way extends Laid {
  readonly points: readonly dagre.Point[];
}

/** Through the points, rounded at each. */
function way({ points, x, y }: Way, label: string | undefined): Html {
  const [first, ...rest] = points.map((point) => [round(point.x), round(point.y)] as const);
  const last = rest.at(-1)!;
  const bends = rest.slice(0, -1).map(([px, py], at) => {
    const [nx, ny] = rest[at + 1]!;
    const isLast = at === rest.length - 2;
    return `Q${px} ${py} ${isLast ? `${nx} ${ny}` : `${round((px + nx) / 2)} ${round((py + ny) / 2)}`}`;
  });
  const d = `M${first!.join(' ')}${bends.length > 0 ? bends.join('') : `L${last.join(' ')}`}`;
  return html`<path class="way" d="${d}" marker-end="url(#tip)"/>${label !== undefined && html`<text class="label" x="${round(x)}" y="${round(y) + 4}" text-anchor="middle">${clip(label)}</text>`}`;
}

function box(
  step: WorkflowStep,
  { x, y }: Laid,
  { state, isFirst }: { state: RunStepState | undefined; isFirst: boolean },
): Html {
  const [left, top] = [round(x - BOX.width / 2), round(y - BOX.height / 2)];
  const mode = modeOf(step);
  const said = [typeName(step), state ? stateWords[state] : mode].filter(Boolean).join(' · ');
  return html`<g class="step ${state ?? 'plain'}"><rect x="${left}" y="${top}" width="${BOX.width}" height="${BOX.height}" rx="10"${isFirst && html` class="first"`}/><text class="name" x="${left + 14}" y="${top + 26}">${clip(titleOf(step))}</text><text class="kind" x="${left + 14}" y="${top + 46}">${said}</text></g>`;
}

const pill = ({ x, y }: Laid): Html =>
  html`<g class="end"><rect x="${round(x - END.width / 2)}" y="${round(y - END.height / 2)}" width="${END.width}" height="${END.height}" rx="16"/><text x="${round(x)}" y="${round(y) + 5}" text-anchor="middle">End</text></g>`;

const round = (value: number): number => Math.round(value * 10) / 10;
const clip = (text: string): string => {
  const letters = [...text];
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join('')}…` : text;
};
