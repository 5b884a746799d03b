// What a tool does, in words.
import type { Approval } from '../../../store/approvals/types.ts';

/** Description of each tool's effect; `some` is a phrase such as `2 records` or `record 17`. */
export const summaries: Readonly<Record<string, (some: string, collection: string) => string>> = {
  create: (some, collection) => `Add ${some} to ${collection}`,
  update: (some, collection) => `Change ${some} of ${collection}`,
  delete: (some, collection) => `Delete ${some} of ${collection}`,
  associate: (some, collection) => `Link records to ${some} of ${collection}`,
  dissociate: (some, collection) => `Unlink records from ${some} of ${collection}`,
};

/** Such as `Change records of orders`, for people who may not see which. */
export const summarizeTool = ({
  tool,
  action,
  collection,
}: Pick<Approval, 'tool' | 'action' | 'collection'>): string =>
  action === undefined
    ? (summaries[tool]?.('records', collection) ?? `${tool} on ${collection}`)
    : `Run ‘${action}’ on ${collection}`;
