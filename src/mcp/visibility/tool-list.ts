// The tools that a caller is shown: the enabled ones within the OAuth scopes of the token, if the permissions allow
// some use of them. The result is a mask with one bit per tool, which lets tools/list be serialized once per set of
// tools instead of once per caller. It is cached per rights, engine and active workflows. `refresh` asks for the
// workflows before tools are shown, and in between the mask uses the last result.
import type { Engine } from '../../agent/engine.ts';
import type { Authenticated } from '../../oauth/tokens/verify.ts';
import type { ActiveWorkflows, WorkflowService } from '../../workflows/workflows.ts';
import type { Tool } from '../tool.ts';
import { toolNames } from '../tools.ts';
import { toolVisibility } from './visibility.ts';

export interface ToolList {
  /** Gets the active workflows, without a promise if it can. Call it before tools are shown. */
  refresh(): void | Promise<void>;
  /** How often `refresh` has found changed workflows. */
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
  readonly workflows: ActiveWorkflows;
  readonly mask: number;
}

export function createToolList(
  tools: readonly Tool[],
  engine: Engine,
  listWorkflows?: WorkflowService['listActive'],
): ToolList {
  const cache = new WeakMap<Authenticated, CachedMask>();
  const needsWorkflows = tools.some(
    ({ isVisible }) => isVisible === toolVisibility.workflow || isVisible === toolVisibility.startWorkflow,
  );
  let workflows: ActiveWorkflows = [];
  let changes = 0;
  const use = (current: ActiveWorkflows): void => {
    if (current === workflows) return;
    if (JSON.stringify(current) !== JSON.stringify(workflows)) changes++;
    workflows = current;
  };
  const toolsOf: ToolList['toolsOf'] = (mask) => tools.filter((_, index) => (mask & (1 << index)) !== 0);
  const toolList: ToolList = {
    refresh() {
      if (!listWorkflows || !needsWorkflows) return;
      const current = listWorkflows();
      return current instanceof Promise ? current.then(use) : use(current);
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
