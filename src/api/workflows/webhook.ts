// The webhook of a workflow (behaviour api 4.2), which starts a run on one record. It checks in this order: the
// Host (403), the method (405), the signed URL (400, before anything is read), the token (401), the workflow (404, or
// 400 if its URL was replaced), scope, visibility and collection (403), the rate limit of the webhook (429), the
// signature if it is present or required (401), the body (400), and whether the record already has an active run (409).
// The run is queued.
import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Router } from 'express';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { type AddressLimiter, createAddressLimiter } from '../../core/limit/addresses.ts';
import { createSharedLimiter, sharedLimiters } from '../../core/limit.ts';
import type { Observe } from '../../core/observe.ts';
import { parseJson, readBody } from '../../http/body.ts';
import { createAddressReader } from '../../http/client-address.ts';
import { hostCheck } from '../../http/host-check.ts';
import { pathOf } from '../../http/request-target.ts';
import { allowMethods, createRouter } from '../../http/router.ts';
import type { Store } from '../../store/store.ts';
import type { Versions } from '../../store/version-types.ts';
import { sameWorkflows } from '../../store/versions.ts';
import type { Workflow } from '../../store/workflows/types.ts';
import type { TriggerAddresses, TriggerReference } from '../../workflows/triggers/trigger-address.ts';
import { hasValidSignature, signatureHeaders } from '../../workflows/triggers/webhook-signature.ts';
import { canSeeWorkflow, type WorkflowService } from '../../workflows/workflows.ts';
import { apiErrorReply, sendAnswer } from '../answer.ts';
import { createHolderCheck, type TokenHolder } from '../authentication.ts';
import type { ApiPaths } from '../paths.ts';
import { webhookBodySchema } from './webhook-description.ts';

interface WebhookRouterParts {
  readonly config: Pick<
    Config,
    'trustedProxies' | 'allowedHosts' | 'host' | 'ssoIssuer' | 'ssoProviders' | 'webhookPerMinute'
  >;
  readonly paths: ApiPaths;
  readonly store: Store;
  readonly workflows: WorkflowService;
  readonly addresses: TriggerAddresses;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** The body has one known member. */
const bodyLimits = { bytes: 65_536, depth: 20 };
/** The maximum number of invalid tokens per client address in 15 minutes. */
const failureLimit = { points: 100, seconds: 900 } as const;

/** Mount it at `/v1/webhooks/workflows`. */
export function createWebhookRouter(parts: WebhookRouterParts): Router {
  const { config, paths, store, workflows, addresses, clock, observe } = parts;
  const readAddress = createAddressReader(config.trustedProxies);
  const checkHolder = createHolderCheck({ store, clock, config });
  const shared = { windows: store.windows, clock };
  const failureLimiter = createAddressLimiter(sharedLimiters(shared), 'webhook-token', failureLimit);
  const calls = createSharedLimiter('webhook', { points: config.webhookPerMinute, seconds: 60 }, shared);

  const readWorkflow = createWorkflowReader(parts);

  const start: RequestHandler = async (req, res) => {
    const client = readAddress(req);
    const signed = pathOf(req.url).slice(1);
    const reference = (await addresses.verify(signed, client)) ?? fail('INVALID_WEBHOOK_ADDRESS', {});
    const holder = await countFailures(failureLimiter, client, () => checkHolder(req.headers.authorization));
    const workflow = await findWorkflow(reference, holder, addresses, readWorkflow);
    checkRights(holder, workflow);
    await calls.consume(workflow.id);
    const body = await readBody(req, bodyLimits.bytes);
    const isSigned = await checkSignature(req, body, workflow, store);
    const { record_id: recordId } = readMembers(parseJson(body, bodyLimits.depth));
    const { token, access } = holder;
    const key = parseIdempotencyKey(req, isSigned);
    const created = await workflows.start(
      { access, origin: 'webhook', clientId: `token ${token.name}`, clientName: `token ${token.name}` },
      { workflow, recordId, ...(key !== undefined && { idempotencyKey: key }) },
    );
    if (created.state === 'ongoing') fail('RUN_ONGOING', { run: created.runId });
    if (created.state === 'mismatch') return fail('TRIGGER_KEY_REUSED', {});
    if (created.state === 'repeated') res.setHeader('Idempotency-Replayed', 'true');
    return sendAnswer(req, res, { status: 202, body: { runId: created.runId } });
  };

  const router = createRouter();
  router.use(hostCheck(paths.host, config), allowMethods('POST'));
  // Not a parameter: whatever follows, also several segments, is an address to verify.
  router.use(start);
  router.use(apiErrorReply({ observe, readAddress, where: 'webhook' }));
  return router;
}

type ReadWorkflow = (id: string, versions: Versions) => Promise<Workflow | undefined>;

/** Limits the effect of processes of an earlier version, where a change of a trigger raised no version. */
const CACHE_MS = 5000;

/** Reads a workflow again when a version differs. `versions`: those read by this request. */
function createWorkflowReader({ store, clock }: Pick<WebhookRouterParts, 'store' | 'clock'>): ReadWorkflow {
  const cache = new LRUCache<string, { readonly versions: Versions; readonly at: number; readonly workflow: Workflow }>(
    { max: 1000 },
  );
  return async (id, versions) => {
    const at = clock.monotonic();
    const cached = cache.get(id);
    if (cached && sameWorkflows(cached.versions, versions) && at - cached.at < CACHE_MS) return cached.workflow;
    const workflow = await store.workflows.find(id);
    if (workflow) cache.set(id, { versions, at, workflow });
    return workflow;
  };
}

/**
 * Behaviour api 7.3: 401. Too many invalid tokens from one address return 429. This limit never blocks a valid
 * token, because an attacker can share its address.
 */
async function countFailures(
  limiter: AddressLimiter,
  client: string,
  check: () => Promise<TokenHolder>,
): Promise<TokenHolder> {
  try {
    return await check();
  } catch (error) {
    if (isAppError(error, 'UNAUTHENTICATED')) await limiter.consume(client);
    throw error;
  }
}

/**
 * Behaviour api 7.3: 404 for a missing or inactive workflow, and 400 for a replaced URL, even if the trigger is
 * disabled.
 */
async function findWorkflow(
  reference: TriggerReference,
  { versions }: TokenHolder,
  addresses: TriggerAddresses,
  readWorkflow: ReadWorkflow,
): Promise<Workflow> {
  const isKeyValid = await addresses.isKeyValid(reference, versions);
  const found = await readWorkflow(reference.workflowId, versions);
  if (!found || found.renderingId !== reference.renderingId) {
    return fail('UNKNOWN_WEBHOOK', { problem: 'The workflow of this webhook no longer exists.' });
  }
  const { trigger } = found;
  if (!isKeyValid || trigger.version !== reference.version || trigger.keyId !== reference.keyId) {
    return fail('INVALID_WEBHOOK_ADDRESS', {});
  }
  if (!found.isActive) return fail('UNKNOWN_WEBHOOK', { problem: 'The workflow of this webhook is not active.' });
  if (!trigger.isEnabled) {
    const problem = 'The trigger of this webhook is disabled. An editor can enable it in the settings of the workflow.';
    return fail('UNKNOWN_WEBHOOK', { problem });
  }
  return found;
}

/** Behaviour api 5, 7: checks the token's scope and the user's visibility. */
function checkRights({ token, access }: TokenHolder, workflow: Workflow): void {
  if (!token.scopes.some((scope) => scope === 'workflows:trigger' || scope === 'all')) {
    fail('DENIED', { problem: 'The token needs write access and the scope workflows:trigger or all.' });
  }
  if (canSeeWorkflow(access, workflow)) return;
  fail('DENIED', {
    problem:
      'The user of the token may not start this workflow: it belongs to another team, or they may not see its collection.',
  });
}

/**
 * https://www.standardwebhooks.com: a signature is checked if present. The trigger can require it. Returns whether the
 * request is signed.
 */
async function checkSignature(
  req: IncomingMessage,
  body: Buffer,
  { id, trigger }: Workflow,
  { workflows }: Pick<Store, 'workflows'>,
): Promise<boolean> {
  const presentHeaders = signatureHeaders.flatMap((name): [string, string][] => {
    const value = req.headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  if (presentHeaders.length === 0 && !trigger.needsSignature) return false;
  const secret = await workflows.signingSecret(id);
  if (secret !== undefined && hasValidSignature(secret, Object.fromEntries(presentHeaders), body)) return true;
  return fail('UNAUTHENTICATED', {
    problem:
      'The signature is missing or wrong: send webhook-id, webhook-timestamp (within the last five minutes) and webhook-signature, computed with the secret of the trigger over the bytes of the body.',
  });
}

function readMembers(body: unknown): z.infer<typeof webhookBodySchema> {
  const { success, data, error } = webhookBodySchema.safeParse(body);
  if (success) return data;
  const [{ path, message }] = error.issues as [z.core.$ZodIssue];
  return fail('INVALID_ARGUMENT', { argument: path.length > 0 ? path.join('.') : 'body', problem: `${message}.` });
}

/**
 * Returns `Idempotency-Key`, or `webhook-id` for a signed request. The signature covers `webhook-id`, which is the same
 * for every attempt. A different, unsigned key would let a copied request start a new run (Standard Webhooks, "Replay
 * attacks").
 */
function parseIdempotencyKey({ headers }: IncomingMessage, isSigned: boolean): string | undefined {
  const headerKey = headers['idempotency-key'];
  const key = isSigned ? headers['webhook-id'] : headerKey;
  if (isSigned && headerKey !== undefined && headerKey !== key) {
    const problem = 'leave it out, or send the webhook-id: it is the key of a signed call.';
    return fail('INVALID_ARGUMENT', { argument: 'Idempotency-Key', problem });
  }
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length >= 1 && key.length <= 255) return key;
  return fail('INVALID_ARGUMENT', { argument: 'Idempotency-Key', problem: 'expected 1 to 255 characters.' });
}
