import { filesOf, isFormFile } from '../../agent/actions/form-file.ts';
import { describeEffects } from '../../agent/write/effects.ts';
import { allowPolicy, type Policy, strictestPolicy } from '../../core/caller.ts';
import { clipRecord } from '../approvals/preview.ts';
import { collectionRights } from '../idempotency.ts';
import {
  type ActionArguments,
  actionArgumentNames,
  actionProperties,
  checkAction,
  readActionArguments,
  toActionRequest,
} from '../input/action-arguments.ts';
import { checkNames, type JsonObject, readFlag, readIdempotencyKey } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { formatId } from '../input/record-ids.ts';
import { formatActionResult } from '../results/action-result.ts';
import { addEffects } from '../results/write-result.ts';
import type { PreviewedCall, Tool, ToolCall } from '../tool.ts';
import { findUploadKeys, readUploads, useUploads } from '../uploads/file-values.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface ExecuteArguments extends ActionArguments {
  readonly dryRun: boolean;
  readonly idempotencyKey: string | undefined;
}

export const executeAction: Tool<ExecuteArguments> = {
  name: 'executeAction',
  title: 'Execute an action',
  description: 'Run an action; getActionForm lists the values to send. dryRun only checks.',
  scope: 'mcp:action',
  isVisible: toolVisibility.trigger,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  inputSchema: {
    type: 'object',
    properties: { ...actionProperties, dryRun: { type: 'boolean' }, idempotencyKey: { type: 'string' } },
    required: ['collectionName', 'actionName'],
  },
  parse(input: JsonObject) {
    checkNames(input, [...actionArgumentNames, 'dryRun', 'idempotencyKey']);
    return {
      ...readActionArguments(input),
      dryRun: readFlag(input, 'dryRun'),
      idempotencyKey: readIdempotencyKey(input),
    };
  },
  subject: ({ collection, recordIds }) => ({ collection, ...(recordIds && { recordIds: recordIds.map(formatId) }) }),
  writes: ({ dryRun }) => !dryRun,
  idempotency: {
    key: ({ idempotencyKey }) => idempotencyKey,
    rights: ({ collection, action }, call) => [
      call.access.canTrigger(collection, action),
      call.access.triggerCondition(collection, action),
      collectionRights(call, collection),
    ],
  },
  approval: {
    mayNeedApproval: (args, call) => policyOf(args, call).policy !== 'allow',
    uploadKeys: ({ values }) => findUploadKeys(values),
    preview: (args, call) => withToolNames({ collection: 'collectionName' }, () => previewAction(args, call)),
  },
  run: (args, call) => withToolNames({ collection: 'collectionName' }, () => run(args, call)),
};

/** The stricter policy of the role and the action's code. For an unknown action the later lookup throws the error. */
function policyOf({ collection, action }: ActionArguments, { access, engine }: ToolCall): Policy {
  if (!access.can('browse', collection)) return allowPolicy;
  const described = engine.actions.describe(access, collection).find(({ name }) => name === action);
  return described
    ? strictestPolicy(access.actionPolicy(collection, action), described.policy ?? allowPolicy)
    : allowPolicy;
}

async function previewAction(args: ExecuteArguments, call: ToolCall): Promise<PreviewedCall> {
  const { access, engine, signal, files } = call;
  checkAction(call, args);
  const policy = policyOf(args, call);
  const withUploads = await readUploads(files, call.uploaderId ?? access.caller.id, args.values);
  const request = { ...toActionRequest(args), searches: args.searches, values: withUploads };
  const { records, values, found } = await engine.actions.preview(access, request, { signal });
  const entries = Object.entries(values);
  const described = entries.map(([name, value]) => [name, describeFiles(value)]);
  const preview = { count: records, changes: [], values: clipRecord(Object.fromEntries(described)) };
  const sentFiles = entries.map(([name, value]) => [name, filesOf(value)] as const).filter(([, all]) => all.length > 0);
  return { policy, preview, files: new Map(sentFiles), found };
}

/** Replaces files by their name and type. */
function describeFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(describeFiles);
  if (!isFormFile(value)) return value;
  const { content, ...rest } = value;
  return { ...rest, bytes: content.length };
}

async function run(args: ExecuteArguments, call: ToolCall): Promise<string> {
  const { access, engine, signal, progress, files, written = [] } = call;
  const userId = access.caller.id;
  checkAction(call, args);
  const request = { ...toActionRequest(args), searches: args.searches };
  if (!args.dryRun) {
    const result = await useUploads(files, userId, args.values, (values) =>
      engine.actions.execute(access, { ...request, values }, { signal, written, ...(progress && { progress }) }),
    );
    const formatted = await formatActionResult(result, call, args.collection);
    return addEffects(formatted, describeEffects(access, written, false), call.config.answerTokens);
  }
  const values = await readUploads(files, userId, args.values);
  const { records } = await engine.actions.check(access, { ...request, values }, { signal });
  return JSON.stringify({
    dryRun: true,
    ...(records !== null && { records }),
    note: 'The action can run with these records and values. It was not run: the effects of its code are unknown before it runs.',
  });
}
