// The steps of a workflow as text: the same content as the drawing, for reading, searching and screen readers.
import { type Html, html } from '../../../http/html.ts';
import {
  stepOf,
  transitionsOf,
  type WorkflowDefinition,
  type WorkflowStep,
} from '../../../workflows/definition/definition.ts';
import { modeOf, type StepStates, stateWord, titleOf, typeName } from './graph.ts';

export function outline(definition: WorkflowDefinition, states: StepStates = new Map()): Html {
  const lines = definition.steps.map((step) => {
    const state = states.get(step.id);
    const about = [typeName(step), modeOf(step), aboutOf(step)].filter(Boolean).join(', ');
    return html`<li><b>${titleOf(step)}</b>${state && html` <span class="badge${state !== 'done' && ' unsure'}">${stateWord(state)}</span>`}<span>${about}. ${edgesText(definition, step)}</span></li>`;
  });
  return html`<details class="more"><summary>Steps as text</summary><ol class="outline">${lines}</ol></details>`;
}

function aboutOf(step: WorkflowStep): string {
  switch (step.type) {
    case 'read-record':
      return step.fields.join(', ');
    case 'update-record':
      return Object.keys(step.values).join(', ');
    case 'trigger-action':
      return step.action;
    case 'load-related-record':
      return step.relation;
    case 'mcp':
      return `${step.tool} of ${step.server}`;
    default:
      return '';
  }
}

function edgesText(definition: WorkflowDefinition, step: WorkflowStep): string {
  const to = (id: string | null) => (id === null ? 'the end' : titleOf(stepOf(definition, id)!));
  const edges = transitionsOf(step).map((edge) =>
    edge.label === undefined ? to(edge.to) : `${edge.label}: ${to(edge.to)}`,
  );
  return `Then ${edges.join('; ')}.`;
}
