// Display texts for states and reasons of runs.
import { type Html, html } from '../../../http/html.ts';
import type { AwaitReason, Run, RunOrigin, RunState } from '../../../store/workflows/types.ts';

export const stateWords: Readonly<Record<RunState, string>> = {
  queued: 'Queued',
  running: 'Running',
  'awaiting-input': 'Waits for a person',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export const reasonWords: Readonly<Record<AwaitReason, string>> = {
  guidance: 'Somebody is to do something, and to say that it is done.',
  choice: 'Somebody is to choose how it goes on.',
  confirmation: 'Somebody is to confirm what would be done.',
  form: 'Somebody is to fill in what is missing.',
  approval: 'It may be done only when somebody approves it.',
  uncertain: 'The step was begun and cut off: whether it was done is not known. Look at the record, and say so.',
  reconnect: 'The remote server must be connected again.',
};

export const originWords: Readonly<Record<RunOrigin, string>> = {
  webhook: 'Webhook',
  mcp: 'Assistant',
  console: 'Console',
  api: 'Public API',
};

const calm: ReadonlySet<RunState> = new Set(['succeeded', 'running', 'queued']);
export const stateBadge = ({ state }: Pick<Run, 'state'>): Html =>
  html`<span class="badge${!calm.has(state) && ' unsure'}">${stateWords[state]}</span>`;
