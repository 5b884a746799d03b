// Uploads of calls that wait for approval. They are stored until the decision. A denial deletes them at once, because
// the call will not run and denied data must not stay until it expires.
import type { Approval, Approvals } from '../../store/approvals/types.ts';
import type { Tool } from '../tool.ts';
import type { Files } from '../uploads/files.ts';

type StoredCall = Pick<Approval, 'tool' | 'content'>;

/** Keys of the uploads that the call names. */
function uploadKeysOf(tools: readonly Tool[], { tool: name, content }: StoredCall): readonly string[] {
  const tool = tools.find((each) => each.name === name);
  return tool?.approval?.uploadKeys?.(tool.parse(content.arguments)) ?? [];
}

interface DropUploadsParts {
  /** All tools, enabled or not. */
  readonly tools: readonly Tool[];
  readonly approvals: Pick<Approvals, 'openOfUser'>;
  readonly files: Pick<Files, 'deleteUpload'>;
}

/** Deletes the uploads of a denied request. An upload that another open request of the same user names stays. */
export async function dropUploads(
  { tools, approvals, files }: DropUploadsParts,
  denied: StoredCall & Pick<Approval, 'userId'>,
): Promise<void> {
  const keys = uploadKeysOf(tools, denied);
  if (keys.length === 0) return;
  const others = await approvals.openOfUser(denied.userId);
  const needed = new Set(others.flatMap((other) => uploadKeysOf(tools, other)));
  for (const key of keys) if (!needed.has(key)) await files.deleteUpload(denied.userId, key);
}
