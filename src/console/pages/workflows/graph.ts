// Draws a workflow as inline SVG: steps from top to bottom, connected by paths. The drawing needs no script and takes
// its colors from the style sheet, so it follows dark mode. A drawing too wide for a phone is rendered a second time
// with narrower boxes, and the style sheet hides one of the two. outline.ts gives the same content as text, so screen
// readers get only the title of the drawing. Boxes show a state as text, never by color only.
import { Graph, layout, type Point } from '@dagrejs/dagre';
import { type Html, html } from '../../../http/html.ts';
import type { RunStepState } from '../../../store/workflows/types.ts';
import {
  firstStep,
  type modes,
  transitionsOf,
  type WorkflowDefinition,
  type WorkflowStep,
} from '../../../workflows/definition/definition.ts';
import { type Font, widthOf, wrap } from './graph-text.ts';

/** State of each step in a run. */
export type StepStates = ReadonlyMap<string, ShownState>;

/**
 * Two states apply to steps that the end of the run interrupted: `unknown` (may have run) and `unanswered` (asked a
 * question).
 */
export type ShownState = RunStepState | 'unknown' | 'unanswered';

const end = ' end';

const stateWords: Readonly<Record<ShownState, string>> = {
  begun: 'running',
  waiting: 'waiting',
  done: 'done',
  skipped: 'skipped',
  failed: 'failed',
  unknown: 'unknown',
  unanswered: 'no answer',
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
export const stateWord = (state: ShownState): string => stateWords[state];
export const titleOf = ({ title, id }: Pick<WorkflowStep, 'title' | 'id'>): string => title ?? id;

/** Mode of a step: the defined one or the default; undefined for steps without modes. */
export function modeOf(step: WorkflowStep): (typeof modes)[number] | undefined {
  if (!('mode' in step))
    return step.type === 'guidance' || step.type === 'read-record' ? undefined : standardMode(step);
  return step.mode ?? standardMode(step);
}

const confirmed: ReadonlySet<WorkflowStep['type']> = new Set(['update-record', 'trigger-action', 'mcp']);
const standardMode = ({ type }: WorkflowStep): (typeof modes)[number] =>
  confirmed.has(type) ? 'confirm' : 'automatic';

/** Sizes in pixels. Font sizes must match the style sheet. */
interface Measure {
  readonly kind: 'wide' | 'narrow';
  readonly box: number;
  readonly padding: number;
  readonly name: Lines;
  readonly about: Lines;
  readonly label: Lines & { readonly width: number };
  readonly between: { readonly nodes: number; readonly ranks: number; readonly edges: number; readonly margin: number };
}

interface Lines extends Font {
  /** Height of one line. */
  readonly line: number;
  /** Maximum number of lines. */
  readonly lines: number;
}

const wide: Measure = {
  ...{ kind: 'wide', box: 224, padding: 14 },
  name: { size: 14.5, isBold: true, line: 19, lines: 2 },
  about: { size: 13, line: 17, lines: 2 },
  label: { size: 13, line: 17, lines: 2, width: 150 },
  between: { nodes: 36, ranks: 44, edges: 16, margin: 8 },
};
const narrow = (box: number): Measure => ({
  ...{ kind: 'narrow', box, padding: 9 },
  name: { size: 13, isBold: true, line: 16, lines: 4 },
  about: { size: 12, line: 15, lines: 3 },
  label: { size: 12, line: 15, lines: 3, width: box > 200 ? 120 : 76 },
  between: { nodes: 12, ranks: 30, edges: 8, margin: 3 },
});
const END = { width: 64, height: 32 };

/** Width available for a drawing on a screen 360 pixels wide. */
const PHONE = 306;
/** Box widths, tried in order until the drawing fits. Otherwise the narrowest drawing scrolls. */
const narrower = [224, 148, 128, 108].map(narrow);

export function drawWorkflow(definition: WorkflowDefinition, states: StepStates = new Map()): Html {
  const drawings = [draw(definition, states, wide)];
  if (drawings[0]!.width > PHONE) drawings.push(drawNarrow(definition, states));
  return html`<div class="scroll flow" role="region" aria-label="Diagram of the workflow" tabindex="0">${drawings.map(({ svg }) => svg)}</div>`;
}

interface Drawing {
  readonly svg: Html;
  readonly width: number;
}

function drawNarrow(definition: WorkflowDefinition, states: StepStates): Drawing {
  let best: Drawing | undefined;
  for (const measure of narrower) {
    const one = draw(definition, states, measure);
    if (!best || one.width < best.width) best = one;
    if (best.width <= PHONE) break;
  }
  return best!;
}

interface Laid {
  readonly x: number;
  readonly y: number;
}

interface Box {
  readonly name: readonly string[];
  readonly about: readonly string[];
  readonly width: number;
  readonly height: number;
}

function draw(definition: WorkflowDefinition, states: StepStates, measure: Measure): Drawing {
  // Load the layout library on first use.
  const graph = new Graph({ multigraph: true });
  const { nodes, ranks, edges: edgeSpacing, margin } = measure.between;
  graph.setGraph({
    rankdir: 'TB',
    nodesep: nodes,
    ranksep: ranks,
    edgesep: edgeSpacing,
    marginx: margin,
    marginy: margin,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const { steps } = definition;
  const boxes = new Map(steps.map((step) => [step.id, boxOf(step, states.get(step.id), measure)]));
  for (const [id, { width, height }] of boxes) graph.setNode(id, { width, height });
  const edges = steps.flatMap((step) =>
    transitionsOf(step).map(({ to, label = '' }, at) => {
      const lines = wrap(label, measure.label);
      return { from: step.id, to: to ?? end, lines, name: `${at}` };
    }),
  );
  if (edges.some(({ to }) => to === end)) graph.setNode(end, { ...END });
  for (const { from, to, lines, name } of edges) {
    const { line } = measure.label;
    const width = lines.length === 0 ? 0 : widestOf(lines, measure.label) + 8;
    graph.setEdge(from, to, { width, height: lines.length * line + (lines.length && 4), labelpos: 'c' }, name);
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { readonly width?: number; readonly height?: number };
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const start = firstStep(definition);
  const tip = `tip-${measure.kind}`;
  const svg = html`<svg class="graph ${measure.kind}" role="img" aria-label="Diagram of ${definition.name}. The list of steps has the same content." width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">
<defs><marker id="${tip}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>
${edges.map(({ from, to, lines, name }) => drawEdge(graph.edge(from, to, name) as unknown as Edge, lines, { measure, tip }))}
${steps.map(({ id }) => drawBox(boxes.get(id)!, graph.node(id) as unknown as Laid, { measure, state: states.get(id), isFirst: id === start }))}
${graph.hasNode(end) && pill(graph.node(end) as unknown as Laid)}
</svg>`;
  return { svg, width: w };
}

const widestOf = (lines: readonly string[], font: Font): number =>
  Math.max(...lines.map((each) => widthOf(each, font)));

interface Edge extends Laid {
  readonly points: readonly Point[];
}

/** Path through the points, with rounded corners. */
function drawEdge({ points, x, y }: Edge, lines: readonly string[], drawn: { measure: Measure; tip: string }): Html {
  const [first, ...rest] = points.map((point) => [round(point.x), round(point.y)] as const);
  const last = rest.at(-1)!;
  const bends = rest.slice(0, -1).map(([px, py], at) => {
    const [nx, ny] = rest[at + 1]!;
    const isLast = at === rest.length - 2;
    return `Q${px} ${py} ${isLast ? `${nx} ${ny}` : `${round((px + nx) / 2)} ${round((py + ny) / 2)}`}`;
  });
  const d = `M${first!.join(' ')}${bends.length > 0 ? bends.join('') : `L${last.join(' ')}`}`;
  const { line } = drawn.measure.label;
  const top = y - ((lines.length - 1) * line) / 2 + 4;
  const width = widestOf(lines, drawn.measure.label) + 6;
  const behind = html`<rect class="behind" x="${round(x - width / 2)}" y="${round(y - (lines.length * line) / 2)}" width="${round(width)}" height="${lines.length * line}"/>`;
  return html`<path class="way" d="${d}" marker-end="url(#${drawn.tip})"/>${lines.length > 0 && behind}${lines.map((text, at) => html`<text class="label" x="${round(x)}" y="${round(top + at * line)}" text-anchor="middle">${text}</text>`)}`;
}

function boxOf(step: WorkflowStep, state: ShownState | undefined, { box, padding, name, about }: Measure): Box {
  const mode = modeOf(step);
  const stateText = [typeName(step), state ? stateWords[state] : mode].filter(Boolean).join('\u00a0· ');
  const width = box - 2 * padding;
  const texts = { name: wrap(titleOf(step), { ...name, width }), about: wrap(stateText, { ...about, width }) };
  const height = texts.name.length * name.line + texts.about.length * about.line + 2 * padding - 4;
  return { ...texts, width: box, height };
}

function drawBox(
  { name, about, width, height }: Box,
  { x, y }: Laid,
  { measure, state, isFirst }: { measure: Measure; state: ShownState | undefined; isFirst: boolean },
): Html {
  const [left, top] = [round(x - width / 2), round(y - height / 2)];
  const inner = left + measure.padding;
  const nameTop = top + measure.padding + measure.name.size - 3;
  const aboutTop = nameTop + name.length * measure.name.line;
  const lines = (texts: readonly string[], kind: string, from: number, step: number) =>
    texts.map((text, at) => html`<text class="${kind}" x="${inner}" y="${round(from + at * step)}">${text}</text>`);
  return html`<g class="step ${state ?? 'plain'}"><rect x="${left}" y="${top}" width="${width}" height="${round(height)}" rx="10"${isFirst && html` class="first"`}/>${lines(name, 'name', nameTop, measure.name.line)}${lines(about, 'kind', aboutTop, measure.about.line)}</g>`;
}

const pill = ({ x, y }: Laid): Html =>
  html`<g class="end"><rect x="${round(x - END.width / 2)}" y="${round(y - END.height / 2)}" width="${END.width}" height="${END.height}" rx="16"/><text x="${round(x)}" y="${round(y) + 5}" text-anchor="middle">End</text></g>`;

const round = (value: number): number => Math.round(value * 10) / 10;
