// Who may decide on a call, and what he is shown of it. He may who could make the call himself, now: so it is foreseen as
// his, under his own Access. That asks everything that the call would be asked (the right, the fields, the row scope of every
// record) and answers with what he may see of it, before and after. What the one who asked saw is never shown to him in its
// place.
import type { FormFile } from '../agent/actions/definitions.ts';
import type { Access } from '../core/caller.ts';
import { Stop, type StopSignal } from '../core/clock/stop.ts';
import { isAppError } from '../core/errors.ts';
import type { Tool, ToolCall } from '../mcp/tools.ts';
import type { Approval, ApprovalPreview } from '../store/approval-types.ts';

export type Changes = ApprovalPreview['changes'];

export interface Review {
  readonly approval: Approval;
  /** `other`: one may, but another person must. `no`: one may not do it oneself, and sees the request as the one who asked. */
  readonly may: 'decide' | 'other' | 'no';
  /** How many records would be touched; null where it is not about chosen ones. */
  readonly count: number | null;
  /** What it would do now, as far as the one who looks may see it; of the first records. Empty for an action. */
  readonly changes: Changes;
  /** What an action, or code that writes in place of the database, is given: what it does with it nobody can foresee. */
  readonly values: Readonly<Record<string, unknown>>;
  /** By field: those of the values that are files. */
  readonly files: ReadonlyMap<string, readonly FormFile[]>;
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

type Foreseen = Awaited<ReturnType<NonNullable<Tool['approval']>['foresee']>>;

export interface ReviewParts {
  /** All of them, enabled or not. */
  readonly tools: readonly Tool[];
  readonly callAs: (access: Access, signal: StopSignal) => ToolCall;
}

export function createReviewer({ tools, callAs }: ReviewParts): Reviewer {
  const foresee = async (approval: Approval, access: Access): Promise<Foreseen | undefined> => {
    const tool = tools.find(({ name }) => name === approval.tool);
    // Files that the call sends were uploaded by the one who asks.
    const call = { ...callAs(access, new Stop()), uploaderId: approval.userId };
    return tool?.approval?.foresee(tool.parse(approval.content.arguments), call);
  };

  return {
    async review(approval, access) {
      const isOwn = approval.userId === access.caller.id;
      const foreseen = await foresee(approval, access).catch(refusedOr);
      if (!foreseen) return isOwn ? { approval, may: 'no', ...nothing } : undefined;
      const { preview: seen, files = nothing.files } = foreseen;
      return {
        approval,
        may: isOwn && approval.policy.secondPerson ? 'other' : 'decide',
        count: seen.count,
        changes: seen.changes,
        values: seen.values ?? {},
        files,
        hasChanged: differ(approval.content.preview.changes, seen.changes),
      };
    },
  };
}

const nothing = {
  count: null,
  changes: [],
  values: {},
  files: new Map<string, readonly FormFile[]>(),
  hasChanged: false,
} as const;

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
