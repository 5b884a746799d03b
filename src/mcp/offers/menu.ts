// Which tools a caller is shown: those that are enabled, whose OAuth scope the token holds, and with which the permissions
// let the caller do something. An OAuth scope that no sign-in is offered (defaultScopes) is had by step-up alone, and a
// client steps up when it calls: the tools of such a scope are shown without it, but not to an application token, which
// holds what it was made with. The answer is a mask, one bit a tool, so
// that the bytes of tools/list are made once for each set of tools and not for each caller. It is kept for as long as the
// same rights meet the same engine and the same workflows. Which workflows there are the storage knows: who shows the
// menu looks there first, and between two looks the mask is that of the last.
import type { Engine } from '../../agent/engine.ts';
import type { Authenticated } from '../../oauth/bearer.ts';
import { defaultScopes } from '../../oauth/scopes.ts';
import type { Tool } from '../tools.ts';
import { type OfferedWorkflow, offers } from './offers.ts';

export interface Menu {
  /** Before tools are shown. */
  look(): Promise<void>;
  /** How often looking has found others. */
  changes(): number;
  /** Bit n stands for the n-th tool. */
  maskFor(auth: Authenticated): number;
  /** In the order of the table, whoever asks. */
  toolsOf(mask: number): readonly Tool[];
}

interface Known {
  readonly build: object;
  readonly workflows: readonly OfferedWorkflow[];
  readonly mask: number;
}

export function createMenu(
  tools: readonly Tool[],
  engine: Engine,
  listWorkflows?: () => Promise<readonly OfferedWorkflow[]>,
): Menu {
  const offered: ReadonlySet<string> = new Set(defaultScopes(tools.map(({ scope }) => scope)));
  const known = new WeakMap<Authenticated, Known>();
  const isLookedFor = tools.some(
    ({ isOffered }) => isOffered === offers.workflow || isOffered === offers.startWorkflow,
  );
  let workflows: readonly OfferedWorkflow[] = [];
  let shown = '[]';
  let changes = 0;
  return {
    async look() {
      if (!listWorkflows || !isLookedFor) return;
      const found = (await listWorkflows()).map(({ renderingId, collection }) => ({ renderingId, collection }));
      const text = JSON.stringify(found);
      if (text === shown) return;
      shown = text;
      workflows = found;
      changes++;
    },
    changes: () => changes,
    maskFor(auth) {
      const { build } = engine;
      const found = known.get(auth);
      if (found?.build === build && found.workflows === workflows) return found.mask;
      let mask = 0;
      for (const [at, tool] of tools.entries()) {
        const stepsUp = auth.tokenId === undefined && !offered.has(tool.scope);
        const isInReach = auth.scopes.has(tool.scope) || stepsUp;
        if (isInReach && tool.isOffered(auth.access, engine, workflows)) mask |= 1 << at;
      }
      known.set(auth, { build, workflows, mask });
      return mask;
    },
    toolsOf: (mask) => tools.filter((_, at) => (mask & (1 << at)) !== 0),
  };
}
