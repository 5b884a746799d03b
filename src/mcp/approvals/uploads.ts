// Uploads of calls that wait for approval. They are stored until the decision. A denial deletes them at once, because
// the call will not run and denied data must not stay until it expires.
import type { Approval, Approvals } from '../../store/approvals/types.ts';
import type { Tool } from '../tool.ts';
import type { Files } from '../uploads/files.ts';

type Asked = Pick<Approval, 'tool' | 'content'>;

/** Keys of the uploads that the call names. */
function uploadsOf(tools: readonly Tool[], { tool: name, content }: Asked): readonly string[] {
  const tool = tools.find((each) => each.name === name);
  return tool?.approval?.uploads?.(tool.parse(content.arguments)) ?? [];
}

export interface DropParts {
  /** All tools, enabled or not. */
  readonly tools: readonly Tool[];
  readonly approvals: Pick<Approvals, 'openOfUser'>;
  readonly files: Pick<Files, 'dropUpload'>;
}

/** Deletes the uploads of a denied request. An upload that another open request of the same user names stays. */
export async function dropUploads(
  { tools, approvals, files }: DropParts,
  denied: Asked & Pick<Approval, 'userId'>,
): Promise<void> {
  const keys = uploadsOf(tools, denied);
  if (keys.length === 0) return;
  const others = await approvals.openOfUser(denied.userId);
  const needed = new Set(others.flatMap((other) => uploadsOf(tools, other)));
  for (const key of keys) if (!needed.has(key)) await files.dropUpload(denied.userId, key);
}
