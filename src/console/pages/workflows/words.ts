// Display texts for states and reasons of runs.
import { type Html, html } from '../../../http/html.ts';
import type { AwaitReason, CallbackFailure, Run, RunOrigin, RunState } from '../../../store/workflows/types.ts';
import { showTime } from '../../ui/times.ts';

export const stateWords: Readonly<Record<RunState, string>> = {
  queued: 'Queued',
  running: 'Running',
  'awaiting-input': 'Waiting for a person',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export const reasonWords: Readonly<Record<AwaitReason, string>> = {
  guidance: 'Waiting for someone to complete this task.',
  choice: 'Waiting for a choice.',
  confirmation: 'Waiting for confirmation.',
  form: 'Waiting for missing values.',
  approval: 'Waiting for approval.',
  uncertain: 'The step was interrupted, and its outcome is unknown. Check the record and answer.',
  reconnect: 'Waiting for a new connection to the remote server.',
};

export const originWords: Readonly<Record<RunOrigin, string>> = {
  webhook: 'Webhook',
  mcp: 'Assistant',
  console: 'Console',
  api: 'Public API',
  schedule: 'Schedule',
  change: 'Data change',
};

const tones: Readonly<Record<RunState, string>> = {
  queued: 'busy',
  running: 'busy',
  'awaiting-input': 'unsure',
  succeeded: '',
  failed: 'bad',
  cancelled: 'off',
};
export const stateBadge = ({ state }: Pick<Run, 'state'>): Html =>
  html`<span class="badge ${tones[state]}">${stateWords[state]}</span>`;

/** Only for editors: users do not see integration details. */
export const describeCallback = ({ problem, retryAt }: CallbackFailure, timezone: string): Html =>
  html`not delivered (${problem}). ${retryAt === null ? 'It is not sent again.' : html`Next attempt: ${showTime(retryAt, timezone)}.`}`;
