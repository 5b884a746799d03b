// The request and response of a workflow's webhook, for validation and the OpenAPI document. It is not in the route
// table, because it has its own order of checks (webhook.ts), a signed URL and a limit per workflow.
import { z } from 'zod';
import { WEBHOOKS } from '../../workflows/triggers/trigger-address.ts';
import { recordIdMost } from '../../workflows/workflows.ts';
import type { Route } from '../route.ts';

/** Spec public-http-api 4.2: unknown fields are ignored. */
export const webhookBodySchema = z.object({
  record_id: z
    .string(`expected a text: the id of a record; several columns of a key with '|' between`)
    .min(1)
    .max(recordIdMost),
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
  path: `${WEBHOOKS}{signedId}`,
  id: 'triggerWorkflow',
  summary: 'Starts a run of a workflow on one record',
  about:
    'Starts a run of a workflow on one record, as the user of the token; it is queued, and executed afterwards. The address is copied whole from the settings of the trigger, or taken from `url` of the trigger. Unknown members of the body and parameters are ignored. Calls are counted by webhook, not with the others of the token.',
  scopes: ['workflows:trigger'],
  admin: false,
  body: webhookBodySchema,
  status: 202,
  answers: z.strictObject({ runId: z.string() }),
  also: [409],
  headers: {
    'Idempotency-Key': {
      about: 'A repeat with the same key within a day answers the run that the first call started',
      example: 'order-17-paid',
    },
    'webhook-id': { about: 'Of a signed call (Standard Webhooks); also its idempotency key', example: 'msg_1' },
    'webhook-timestamp': {
      about: 'Of a signed call: seconds since 1970, of the last five minutes',
      example: '1769860800',
    },
    'webhook-signature': { about: 'Of a signed call: `v1,` and HMAC-SHA-256 in base64', example: 'v1,c2lnbmF0dXJl' },
  },
  answerHeaders: { 'Idempotency-Replayed': { about: '`true` where no new run was started', example: 'true' } },
  errors: {
    400: {
      about:
        'The address is not whole, was changed or was replaced (`INVALID_WEBHOOK_ADDRESS`), or the body is not as it should be (`INVALID_ARGUMENT`, `MALFORMED_JSON`)',
      code: 'INVALID_ARGUMENT',
      message: "Invalid 'record_id': expected a text.",
    },
    404: {
      about: 'The workflow is gone or not active, or its trigger is disabled: `UNKNOWN_WEBHOOK`',
      code: 'UNKNOWN_WEBHOOK',
      message: 'The workflow of this webhook is not active.',
    },
    409: {
      about:
        'A run of the workflow on the record is not over (`RUN_ONGOING`), or the idempotency key came before with another record (`TRIGGER_KEY_REUSED`)',
      code: 'RUN_ONGOING',
      message: 'A run of this workflow on this record is not over. Nothing was started.',
    },
    429: {
      about: 'Too many calls of this webhook, or of refused tokens from this address: `RATE_LIMITED`. Nothing was done',
      code: 'RATE_LIMITED',
      message: 'Too many requests. Try again in 12 seconds.',
    },
  },
};
