// The request and response of a workflow's webhook, for validation and the OpenAPI document. It is not in the route
// table, because it has its own order of checks (webhook.ts), a signed URL and a limit per workflow.
import { z } from 'zod';
import { WEBHOOK_PATH } from '../../workflows/triggers/trigger-address.ts';
import { MAX_RECORD_ID_LENGTH } from '../../workflows/workflows.ts';
import type { Route } from '../route.ts';

/** Behaviour api 4.2: unknown fields are ignored. */
export const webhookBodySchema = z.object({
  record_id: z
    .string(`expected a string: the id of a record; separate the parts of a composite key with '|'`)
    .min(1)
    .max(MAX_RECORD_ID_LENGTH),
});

/** An operation of the document: a route or the webhook. */
export interface Documented extends Omit<Route, 'handle'> {
  /** Optional request headers. */
  readonly headers?: Readonly<Record<string, { readonly about: string; readonly example: string }>>;
  /** Headers that a successful response can have. */
  readonly answerHeaders?: Readonly<Record<string, { readonly about: string; readonly example: string }>>;
  /** By status: errors that differ from the other routes. Their requests do not count against the token's limits. */
  readonly errors?: Readonly<
    Record<string, { readonly about: string; readonly code: string; readonly message: string }>
  >;
}

export const webhookDescription: Documented = {
  method: 'POST',
  path: `${WEBHOOK_PATH}{signedId}`,
  id: 'triggerWorkflow',
  summary: 'Starts a run of a workflow on one record',
  about:
    'Starts a run of a workflow on one record, with the permissions of the user of the token. The run is queued and executed later. Copy the complete URL from the settings of the trigger, or from `url` of the trigger. Unknown parameters and members of the body are ignored. Calls are counted for each webhook, separately from other calls of the token.',
  scopes: ['workflows:trigger'],
  admin: false,
  body: webhookBodySchema,
  status: 202,
  answers: z.strictObject({ runId: z.string() }),
  also: [409],
  headers: {
    'Idempotency-Key': {
      about: 'A repeat with the same key within a day returns the run that the first call started',
      example: 'order-17-paid',
    },
    'webhook-id': { about: 'For a signed call (Standard Webhooks); also its idempotency key', example: 'msg_1' },
    'webhook-timestamp': {
      about: 'For a signed call: seconds since 1970, within the last five minutes',
      example: '1769860800',
    },
    'webhook-signature': { about: 'For a signed call: `v1,` and HMAC-SHA-256 in base64', example: 'v1,c2lnbmF0dXJl' },
  },
  answerHeaders: { 'Idempotency-Replayed': { about: '`true` if no new run was started', example: 'true' } },
  errors: {
    400: {
      about:
        'The URL is incomplete, modified or has been regenerated (`INVALID_WEBHOOK_ADDRESS`), or the body is invalid (`INVALID_ARGUMENT`, `MALFORMED_JSON`)',
      code: 'INVALID_ARGUMENT',
      message: "record_id: expected a string: the id of a record; separate the parts of a composite key with '|'.",
    },
    404: {
      about: 'The workflow was removed or is not active, or its trigger is disabled: `UNKNOWN_WEBHOOK`',
      code: 'UNKNOWN_WEBHOOK',
      message: 'The workflow of this webhook is not active.',
    },
    409: {
      about:
        'A run of the workflow on this record is still in progress (`RUN_ONGOING`), or the idempotency key was used before for another record (`TRIGGER_KEY_REUSED`)',
      code: 'RUN_ONGOING',
      message: 'A run of this workflow on this record is still in progress. Start another when it is over.',
    },
    429: {
      about:
        'Too many calls of this webhook, or too many refused tokens from this address: `RATE_LIMITED`. No run was started',
      code: 'RATE_LIMITED',
      message: 'Too many requests. Try again in 12 seconds.',
    },
  },
};
