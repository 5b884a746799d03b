// The tools that a caller is shown: the enabled ones within the OAuth scopes of the token, if the permissions allow
// some use of them. The result is a mask with one bit per tool, which lets tools/list be serialized once per set of
// tools instead of once per caller. It is cached per rights, engine and active workflows. The workflows are in the
// storage: `look` reads them before tools are shown, and between two reads the mask uses the last result.
import type { Engine } from '../../agent/engine.ts';
import type { Authenticated } from '../../oauth/tokens/verify.ts';
import type { Tool } from '../tool.ts';
import { toolNames } from '../tools.ts';
import { toolVisibility, type VisibleWorkflow } from './visibility.ts';

export interface ToolList {
  /** Reads the workflows. Call it before tools are shown. */
  refresh(): Promise<void>;
  /** How often `look` has found changed workflows. */
  changeCount(): number;
  /** Bit n is the n-th tool. */
  maskFor(auth: Authenticated): number;
  /** Names of all tools that the caller is not shown, enabled or not. */
  hiddenToolsFor(auth: Authenticated): ReadonlySet<string>;
  /** The tools of a mask, in the order of the table. */
  toolsOf(mask: number): readonly Tool[];
}

interface CachedMask {
  readonly build: object;
  readonly workflows: readonly VisibleWorkflow[];
  readonly mask: number;
}

export function createToolList(
  tools: readonly Tool[],
  engine: Engine,
  listWorkflows?: () => Promise<readonly VisibleWorkflow[]>,
): ToolList {
  const cache = new WeakMap<Authenticated, CachedMask>();
  const needsWorkflows = tools.some(
    ({ isVisible }) => isVisible === toolVisibility.workflow || isVisible === toolVisibility.startWorkflow,
  );
  let workflows: readonly VisibleWorkflow[] = [];
  let previous = '[]';
  let changes = 0;
  const toolsOf: ToolList['toolsOf'] = (mask) => tools.filter((_, index) => (mask & (1 << index)) !== 0);
  const toolList: ToolList = {
    async refresh() {
      if (!listWorkflows || !needsWorkflows) return;
      const current = (await listWorkflows()).map(({ renderingId, collection }) => ({ renderingId, collection }));
      const text = JSON.stringify(current);
      if (text === previous) return;
      previous = text;
      workflows = current;
      changes++;
    },
    changeCount: () => changes,
    maskFor(auth) {
      const { build } = engine;
      const cached = cache.get(auth);
      if (cached?.build === build && cached.workflows === workflows) return cached.mask;
      let mask = 0;
      for (const [at, tool] of tools.entries()) {
        if (auth.scopes.has(tool.scope) && tool.isVisible(auth.access, engine, workflows)) mask |= 1 << at;
      }
      cache.set(auth, { build, workflows, mask });
      return mask;
    },
    hiddenToolsFor(auth) {
      const shownNames = new Set(toolsOf(toolList.maskFor(auth)).map(({ name }) => name));
      return new Set(toolNames.filter((name) => !shownNames.has(name)));
    },
    toolsOf,
  };
  return toolList;
}
