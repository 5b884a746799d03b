// For every row, one place in src/ and what to put there instead, so that what the row promises no longer holds. The text
// stands once in its file: where it moves or changes, the ledger's test asks for the point to be named anew.
import { actions } from './mutations/actions.ts';
import { agent } from './mutations/agent.ts';
import { apiNotes } from './mutations/api-notes.ts';
import { apiTokens } from './mutations/api-tokens.ts';
import { apiWebhook } from './mutations/api-webhook.ts';
import { charts } from './mutations/charts.ts';
import { conditions } from './mutations/conditions.ts';
import { customizer } from './mutations/customizer.ts';
import { mcpActions } from './mutations/mcp-actions.ts';
import { mcpMounts } from './mutations/mcp-mounts.ts';
import { mcpReads } from './mutations/mcp-reads.ts';
import { mcpWrites } from './mutations/mcp-writes.ts';
import { plugins } from './mutations/plugins.ts';
import { rest } from './mutations/rest.ts';
import { testing } from './mutations/testing.ts';
import { types } from './mutations/types.ts';
import { writes } from './mutations/writes.ts';
import type { Mutation } from './runner.ts';

/** By file, then by row. */
export type Points = Readonly<Record<string, Readonly<Record<string, readonly [text: string, into: string]>>>>;

/** One for each row. */
export const points: readonly (readonly [row: string, mutation: Mutation])[] = [
  actions,
  agent,
  apiNotes,
  apiTokens,
  apiWebhook,
  charts,
  conditions,
  customizer,
  mcpActions,
  mcpMounts,
  mcpReads,
  mcpWrites,
  plugins,
  rest,
  testing,
  types,
  writes,
].flatMap((points) =>
  Object.entries(points).flatMap(([file, rows]) =>
    Object.entries(rows).map(([id, [text, into]]) => [id, { file, text, into }] as const),
  ),
);

export const mutations: ReadonlyMap<string, Mutation> = new Map(points);
