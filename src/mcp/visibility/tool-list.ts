// The tools that a caller is shown: the enabled ones within the OAuth scopes of the token, if the permissions allow
// some use of them. The result is a mask with one bit per tool, which lets tools/list be serialized once per set of
// tools instead of once per caller. It is cached per rights, engine and active workflows. The workflows are in the
// storage: `look` reads them before tools are shown, and between two reads the mask uses the last result.
import type { Engine } from '../../agent/engine.ts';
import type { Authenticated } from '../../oauth/tokens/verify.ts';
import type { Tool } from '../tool.ts';
import { toolNames } from '../tools.ts';
import { type OfferedWorkflow, offers } from './visibility.ts';

export interface Menu {
  /** Reads the workflows. Call it before tools are shown. */
  look(): Promise<void>;
  /** How often `look` has found changed workflows. */
  changes(): number;
  /** Bit n is the n-th tool. */
  maskFor(auth: Authenticated): number;
  /** Names of all tools that the caller is not shown, enabled or not. */
  absentFor(auth: Authenticated): ReadonlySet<string>;
  /** The tools of a mask, in the order of the table. */
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
  const known = new WeakMap<Authenticated, Known>();
  const isLookedFor = tools.some(
    ({ isOffered }) => isOffered === offers.workflow || isOffered === offers.startWorkflow,
  );
  let workflows: readonly OfferedWorkflow[] = [];
  let shown = '[]';
  let changes = 0;
  const toolsOf: Menu['toolsOf'] = (mask) => tools.filter((_, at) => (mask & (1 << at)) !== 0);
  const menu: Menu = {
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
        if (auth.scopes.has(tool.scope) && tool.isOffered(auth.access, engine, workflows)) mask |= 1 << at;
      }
      known.set(auth, { build, workflows, mask });
      return mask;
    },
    absentFor(auth) {
      const shownNames = new Set(toolsOf(menu.maskFor(auth)).map(({ name }) => name));
      return new Set(toolNames.filter((name) => !shownNames.has(name)));
    },
    toolsOf,
  };
  return menu;
}
