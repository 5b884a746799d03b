// For every row, at least one mutation in src/ that breaks the behavior of the row. The text occurs exactly once in its
// file. If it moves or changes, the test of the ledger asks for a new one.
import { actions } from './mutations/actions.ts';
import { agent } from './mutations/agent.ts';
import { apiNotes } from './mutations/api-notes.ts';
import { apiTokens } from './mutations/api-tokens.ts';
import { apiWebhook } from './mutations/api-webhook.ts';
import { charts } from './mutations/charts.ts';
import { conditions } from './mutations/conditions.ts';
import { customizer } from './mutations/customizer.ts';
import { ofDecisions } from './mutations/decisions.ts';
import { edgesA } from './mutations/edges-a.ts';
import { edgesOfActions } from './mutations/edges-actions.ts';
import { edgesOfAgent } from './mutations/edges-agent.ts';
import { edgesOfApi } from './mutations/edges-api.ts';
import { edgesB } from './mutations/edges-b.ts';
import { edgesC } from './mutations/edges-c.ts';
import { edgesOfCustomizer } from './mutations/edges-customizer.ts';
import { edgesD } from './mutations/edges-d.ts';
import { edgesOfDecisionsA } from './mutations/edges-decisions-a.ts';
import { edgesOfDecisionsB } from './mutations/edges-decisions-b.ts';
import { edgesOfDecisionsC } from './mutations/edges-decisions-c.ts';
import { edgesDrawn } from './mutations/edges-drawn.ts';
import { edgesDrawnB } from './mutations/edges-drawn-b.ts';
import { edgesDrawnC } from './mutations/edges-drawn-c.ts';
import { edgesDrawnD } from './mutations/edges-drawn-d.ts';
import { edgesDrawnE } from './mutations/edges-drawn-e.ts';
import { edgesDrawnF } from './mutations/edges-drawn-f.ts';
import { edgesDrawnG } from './mutations/edges-drawn-g.ts';
import { edgesDrawnH } from './mutations/edges-drawn-h.ts';
import { edgesDrawnI } from './mutations/edges-drawn-i.ts';
import { edgesE } from './mutations/edges-e.ts';
import { edgesOfEngine } from './mutations/edges-engine.ts';
import { edgesOfAgentRows } from './mutations/edges-rows-agent.ts';
import { edgesOfApiRows } from './mutations/edges-rows-api.ts';
import { edgesOfTools } from './mutations/edges-tools.ts';
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

type Change = readonly [text: string, into: string];
/** By file, then by row. */
export type Points = Readonly<Record<string, Readonly<Record<string, Change | readonly Change[]>>>>;

const isOne = (changes: Change | readonly Change[]): changes is Change => typeof changes[0] === 'string';

/** At least one for each row. */
export const points: readonly (readonly [row: string, mutation: Mutation])[] = [
  actions,
  agent,
  apiNotes,
  apiTokens,
  apiWebhook,
  charts,
  conditions,
  customizer,
  edgesA,
  edgesB,
  edgesC,
  edgesD,
  edgesE,
  edgesDrawnB,
  edgesDrawnC,
  edgesDrawnD,
  edgesDrawnE,
  edgesDrawnF,
  edgesDrawnI,
  edgesDrawnH,
  edgesDrawnG,
  edgesOfActions,
  edgesOfAgent,
  edgesOfApi,
  edgesOfCustomizer,
  edgesOfDecisionsA,
  edgesOfDecisionsB,
  edgesOfDecisionsC,
  edgesDrawn,
  edgesOfAgentRows,
  edgesOfApiRows,
  edgesOfTools,
  ofDecisions,
  edgesOfEngine,
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
    Object.entries(rows).flatMap(([id, changes]) =>
      (isOne(changes) ? [changes] : changes).map(([text, into]) => [id, { file, text, into }] as const),
    ),
  ),
);

export const mutations: ReadonlyMap<string, readonly Mutation[]> = new Map(
  points.map(([row]) => [row, points.filter(([other]) => other === row).map(([, mutation]) => mutation)]),
);
