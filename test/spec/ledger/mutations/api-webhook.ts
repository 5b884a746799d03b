// Mutations for the webhook of workflows, its settings and its limits.
import type { Points } from '../mutations.ts';

export const apiWebhook: Points = {
  'src/api/workflows/webhook.ts': {
    'api 2.4 · runId': ['body: { runId: created.runId }', 'body: { runId: recordId }'],
    'api 3.1 · an editor disables the trigger': ['if (!trigger.isEnabled) {', 'if (trigger.isEnabled === undefined) {'],
    'api 3.1 · an editor regenerates the URL': ['trigger.version !== reference.version || ', ''],
    'api 4.2 · authority': [
      'limiter.consume(client);\n    throw error;',
      'limiter.consume(client);\n    return fail("NOT_FOUND", { path: "" });',
    ],
    'api 4.2 · 202': ['{ status: 202,', '{ status: 200,'],
    'api 4.2 · 409': ["if (created.state === 'ongoing') fail('RUN_ONGOING', { run: created.runId });", ''],
    'api 5 · webhook': ["scope === 'workflows:trigger' || scope === 'all'", "scope !== ''"],
    'api 7.3 · 400': ["?? fail('INVALID_WEBHOOK_ADDRESS', {})", "?? fail('NOT_FOUND', { path: '' })"],
    'api 7.3 · 401': [
      'limiter.consume(client);\n    throw error;',
      'limiter.consume(client);\n    return fail("NOT_FOUND", { path: "" });',
    ],
    'api 7.3 · 403': ['if (canSeeWorkflow(access, workflow)) return;', 'if (workflow.id) return;'],
    'api 7.3 · 404': ['if (!found.isActive)', 'if (found.isActive === undefined)'],
    'api 7.3 · 409': ["if (created.state === 'ongoing') fail('RUN_ONGOING', { run: created.runId });", ''],
    'api 7.3 · 429': ['await calls.consume(workflow.id);', ''],
    'api 8 · webhook rate': ['points: config.webhookPerMinute, seconds: 60', 'points: 59, seconds: 60'],
  },
  'src/api/workflows/webhook-description.ts': {
    'api 4.2 · record_id': [
      '.min(1)\n    .max(MAX_RECORD_ID_LENGTH)',
      '.max(MAX_RECORD_ID_LENGTH).or(z.coerce.string())',
    ],
    'api 4.2 · unknown fields': ['const webhookBodySchema = z.object(', 'const webhookBodySchema = z.strictObject('],
  },
  'src/workflows/triggers/trigger-address.ts': {
    'api 4.2 · {webhook_url}': [
      'key === undefined || !timingSafeEqualText(signature, sign(unsigned, key))',
      'key === undefined',
    ],
  },
  'src/store/workflows/run-writes.ts': {
    'api 3.2 · fresh run': ['active_key: null,', ''],
  },
  'src/store/workflows/runs.ts': {
    'api 3.2 · queued': ['due_at: now,\n    fence: 0,', 'due_at: null,\n    fence: 0,'],
    'api 3.2 · active run': ['activeKey(workflow.id, recordId)', 'activeKey(workflow.id, recordId + now)'],
    'api 8 · active runs': ['active_key: activeKey(workflow.id, recordId)', 'active_key: hashToken(randomId())'],
  },
  'src/store/workflows/workflows.ts': {
    'api 4.2 · latest': ['version: row.version,', 'version: 1,'],
    'api 9 · webhook URL': ['trigger_version: row.trigger_version + 1', 'trigger_version: row.trigger_version'],
  },
  'src/workflows/workflows.ts': {
    'api 4.2 · not verified': ["if (recordId === '' ||", 'if (Number(recordId) > 999 ||'],
    "api 4.2 · the token's user": ['userId: caller.id,\n        origin,', 'userId: 1,\n        origin,'],
  },
};
