// Who may decide on a call, and what he is shown of it. He may who could make the call himself, now: so it is tried as his,
// as a dry run of the same tool under his own Access. That asks everything that the call would be asked (the right, the
// fields, the row scope of every record) and answers with what he may see of it, before and after. What the assistant saw
// when it asked is never shown to him in its place.
//
// An action cannot be tried without running it: there its form is loaded for the same records, which asks for the right to
// trigger it and for every record.
import type { Access } from '../core/caller.ts';
import { isAppError } from '../core/errors.ts';
import type { Tool, ToolCall } from '../mcp/tools.ts';
import type { Approval, ApprovalPreview } from '../store/store.ts';

export type Changes = ApprovalPreview['changes'];

export interface Review {
  readonly approval: Approval;
  /** `other`: one may, but another person must. `no`: one may not do it oneself, and sees the request as the one who asked. */
  readonly may: 'decide' | 'other' | 'no';
  /** How many records would be touched; null where it is not about chosen ones. */
  readonly count: number | null;
  /** What it would do now, as far as the one who looks may see it; of the first records. Empty for an action. */
  readonly changes: Changes;
  /** Of an action: what its form is filled with. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether a record is no longer as it was when the assistant asked: then the call will be refused, approved or not. */
  readonly hasChanged: boolean;
}

export interface Reviewer {
  /**
   * Undefined for a request that the one who looks has no business with: it neither comes from him nor could he decide it.
   * SOURCE_UNAVAILABLE and the like when it cannot be known.
   */
  review(approval: Approval, access: Access): Promise<Review | undefined>;
}

export interface ReviewParts {
  /** All of them, enabled or not. */
  readonly tools: readonly Tool[];
  readonly callAs: (access: Access, signal: AbortSignal) => ToolCall;
}

interface Tried {
  readonly count: number | null;
  readonly changes: Changes;
}

export function createReviewer({ tools, callAs }: ReviewParts): Reviewer {
  const run = async (name: string, given: Readonly<Record<string, unknown>>, access: Access): Promise<unknown> => {
    const tool = tools.find((one) => one.name === name);
    if (!tool) return undefined;
    const answer = await tool.run(tool.parse(given), callAs(access, new AbortController().signal));
    return JSON.parse(typeof answer === 'string' ? answer : answer.text);
  };

  const attempt = async (approval: Approval, access: Access): Promise<Tried | undefined> => {
    const { idempotencyKey: _, ...given } = approval.content.arguments;
    if (approval.action === undefined) {
      return (await run(approval.tool, { ...given, dryRun: true }, access)) as Tried | undefined;
    }
    const { collectionName, actionName, recordIds } = given;
    const asked = { collectionName, actionName, ...(recordIds === undefined ? {} : { recordIds }) };
    const form = await run('getActionForm', asked, access);
    return form === undefined ? undefined : { count: approval.content.preview.count, changes: [] };
  };

  return {
    async review(approval, access) {
      const isOwn = approval.userId === access.caller.id;
      const tried = await attempt(approval, access).catch(refusedOr);
      if (!tried) return isOwn ? { approval, may: 'no', ...nothing } : undefined;
      return {
        approval,
        may: isOwn && approval.policy.secondPerson ? 'other' : 'decide',
        count: tried.count,
        changes: tried.changes,
        values: approval.content.preview.values ?? {},
        hasChanged: differ(approval.content.preview.changes, tried.changes),
      };
    },
  };
}

const nothing = { count: null, changes: [], values: {}, hasChanged: false } as const;

/** Whatever keeps him from making the call keeps him from deciding on it; what may pass is told. */
function refusedOr(error: unknown): undefined {
  if (isAppError(error) && error.status < 500 && error.code !== 'WRITE_CONFLICT') return undefined;
  throw error;
}

/** Of the fields that both saw, what was there before. */
function differ(asked: Changes, now: Changes): boolean {
  const known = new Map(asked.map(({ id, fields }) => [id, fields]));
  return now.some(({ id, fields }) =>
    Object.entries(fields).some(([name, { before }]) => {
      const was = known.get(id)?.[name];
      return was !== undefined && JSON.stringify(was.before) !== JSON.stringify(before);
    }),
  );
}
