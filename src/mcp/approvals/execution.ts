// Executes calls that were approved in the console, at once and on behalf of the user who made the call. The call uses
// the approved arguments, and the current rights and scopes of its user and its grant or token. It runs through
// mcp/tool-call.ts like every other call, so all checks, the binding and the activity log apply. Its answer or error
// is stored for the assistant's repeat.
import { createRestrictions, restrictAccess } from '../../core/caller/restrictions.ts';
import { Stop } from '../../core/clock/stop.ts';
import { type AppError, fail, toAppError } from '../../core/errors.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import { randomId } from '../../core/secret.ts';
import type { Paths } from '../../oauth/server/paths.ts';
import { resourceScopes } from '../../oauth/server/scopes.ts';
import { createGrantCheck } from '../../oauth/tokens/access-token.ts';
import { createApplicationTokenCheck } from '../../oauth/tokens/application-token.ts';
import type { Authenticated } from '../../oauth/tokens/verify.ts';
import type { Approval } from '../../store/approvals/types.ts';
import { outcomeOfCode } from '../../store/audit/activity.ts';
import type { Store } from '../../store/store.ts';
import { sameRights } from '../../store/versions.ts';
import { wroteNothing } from '../idempotency.ts';
import { isConsoleClient } from '../playground.ts';
import { type CallParts, createCallTool } from '../tool-call.ts';
import { selectTools } from '../tools.ts';
import { createToolList } from '../visibility/tool-list.ts';
import { serializeRights } from './approval.ts';

interface ExecutionParts extends Omit<CallParts, 'authenticator' | 'activity' | 'toolList'> {
  readonly store: Pick<
    Store,
    'activity' | 'approvals' | 'connections' | 'oauth' | 'permissions' | 'tokens' | 'versions'
  >;
  readonly paths: Paths;
  /** Whether users sign in through an OpenID provider. */
  readonly sso: boolean;
}

export interface ApprovalExecution {
  /** Runs an approved call, once across all processes. Never throws: the approval stores the outcome. */
  run(approval: Approval): Promise<void>;
  /** Resolves when no execution is in progress. */
  whenIdle(): Promise<void>;
}

export function createApprovalExecution({ store, paths, sso, ...parts }: ExecutionParts): ApprovalExecution {
  const { clock, engine, observe } = parts;
  const tools = selectTools(parts.config.enabledTools, () => undefined);
  const toolList = createToolList(tools, engine, parts.workflows?.service.listActive);
  const findGrant = createGrantCheck({ store, paths, clock });
  const findToken = createApplicationTokenCheck({ store, clock, sso });
  const inProgress = new Set<Promise<void>>();

  const findHolder = async (approval: Approval): Promise<Pick<Authenticated, 'access' | 'scopes'>> => {
    const { userId, clientId, content } = approval;
    const { grantId, tokenId } = content.credential ?? {};
    if (grantId !== undefined) return findGrant({ userId, clientId, grantId });
    if (tokenId !== undefined) return findToken(tokenId);
    const access = await store.permissions.accessOf(userId);
    if (!access) return fail('UNAUTHENTICATED', { problem: 'The account is disabled or gone.' });
    // A console user calls without a token and gets every scope, limited by their rights.
    if (isConsoleClient(clientId)) return { access, scopes: new Set<string>(resourceScopes) };
    return fail('UNAUTHENTICATED', { problem: 'The credential of the original call is no longer known.' });
  };

  /** Reads the versions first: a change during the reads then invalidates the result, never the other way round. */
  const identify = async (approval: Approval): Promise<Authenticated> => {
    const { userId, clientId, clientName, content } = approval;
    const versions = await store.versions();
    const { scopes, access: unrestricted } = await findHolder(approval);
    const { credential, address } = content;
    // CWE-863: the execution has the same narrowing as the original call.
    const restrictions = address && createRestrictions(address.readOnly, address.collections);
    const access = restrictions ? restrictAccess(unrestricted, restrictions) : unrestricted;
    return {
      ...{ access, scopes, userId, clientId, clientName, ...credential, tokenHash: '', versions },
      ...(restrictions && { restrictions }),
    };
  };

  const execute = async (approval: Approval): Promise<void> => {
    // An earlier version filed this request without its credential, so the assistant's next call runs it.
    if (!approval.content.credential) return;
    const tool = tools.find(({ name }) => name === approval.tool);
    if (!tool) return fail('UNKNOWN_TOOL', { tool: approval.tool, near: [] });
    const auth = await identify(approval).catch((error: unknown) => logRefusal(approval, error));
    const authenticator: CallParts['authenticator'] = {
      isCurrent: async ({ versions }, marked) => sameRights(versions, marked ?? (await store.versions())),
      renew: () => identify(approval),
    };
    const callTool = createCallTool({ ...parts, authenticator, toolList, activity: store.activity });
    const transport = { signal: new Stop(), executedApproval: approval.id };
    const outcome = await callTool(tool, approval.content.arguments, { auth }, transport);
    if ('question' in outcome) throw new Error('an approved call asked for approval again');
    const rights = serializeRights({ access: auth.access, engine }, approval.collection);
    if ('text' in outcome) return store.approvals.settle(approval.id, { text: outcome.text, rights });
    const { failure, committedText } = outcome;
    const { code, details, message } = failure;
    if (committedText === '') return settleFailure(approval, failure);
    await store.approvals.settle(approval.id, {
      code,
      details,
      message,
      wroteNothing: false,
      kept: committedText,
      rights,
    });
  };

  /** Logs a refusal before the call; the call itself would log its own entry. */
  const logRefusal = (approval: Approval, error: unknown): never => {
    const { userId, clientId, clientName, renderingId, tool, collection, recordIds, id } = approval;
    store.activity.record({
      ...{ userId, clientId, clientName, renderingId, action: tool, type: 'write', collection },
      ...(recordIds && { recordIds }),
      ...{ approvalId: id, startedAt: clock.now(), durationMs: 0 },
      ...outcomeOfCode(toAppError(error, randomId()).code),
    });
    throw error;
  };

  const run = async (approval: Approval): Promise<void> => {
    try {
      await execute(approval);
    } catch (error) {
      await settleFailure(approval, reportFailure(observe, 'approved call', error));
    }
  };

  const settleFailure = ({ id }: Approval, { code, details, message }: AppError): Promise<void> =>
    store.approvals.settle(id, { code, details, message, wroteNothing: wroteNothing(code) });

  return {
    run(approval) {
      const running = run(approval).catch((cause: unknown) => {
        observe({ type: 'warning', message: 'Failed to store the result of an approved call.', cause });
      });
      inProgress.add(running);
      void running.then(() => inProgress.delete(running));
      return running;
    },
    async whenIdle() {
      while (inProgress.size > 0) await Promise.all(inProgress);
    },
  };
}
