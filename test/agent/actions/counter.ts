// Helpers for action tests: the small shop with one action, and the calls that tests make.

import type { ActionRequest } from '../../../src/agent/actions/actions.ts';
import type { ActionDefinition, FormElement } from '../../../src/agent/actions/definitions.ts';
import type { EngineOptions } from '../../../src/agent/engine.ts';
import type { Access } from '../../../src/core/caller.ts';
import { accessOf, type Seller, type Shop, sellers } from '../shop.ts';

export const memory: Seller = sellers[0]!;

const opened: Shop[] = [];

export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((shop) => shop.close()));
}

export function add(definition: ActionDefinition, name = 'Act', collection = 'orders') {
  return { collection, name, at: 'shop.ts:7', definition };
}

export async function openCounter(
  definition: ActionDefinition,
  {
    seller = memory,
    access = accessOf(),
    ...options
  }: Partial<EngineOptions> & { seller?: Seller; access?: Access } = {},
) {
  const shop = await seller.open({ actions: [add(definition)], ...options });
  opened.push(shop);
  const { actions } = shop.engine;
  const given = { collection: 'orders', action: 'Act' };
  return {
    shop,
    actions,
    describe: () => actions.describe(access, 'orders'),
    load: (request: Partial<ActionRequest> & { changed?: string } = {}) =>
      actions.loadForm(access, { ...given, ...request }),
    openForm: (request: Partial<ActionRequest> = {}) => actions.openForm(access, { ...given, ...request }),
    search: (field: string, search: string, request: Partial<ActionRequest> = {}) =>
      actions.searchOptions(access, { ...given, ...request, field, search }),
    execute: (request: Partial<ActionRequest> & { searches?: Record<string, string> } = {}) =>
      actions.execute(access, { ...given, ...request }),
  };
}

/** Opens a Global action with this form. The action returns its values. */
export async function openForm(form: readonly FormElement[], options: Parameters<typeof openCounter>[1] = {}) {
  const seen: unknown[] = [];
  const definition: ActionDefinition = {
    scope: 'Global',
    form,
    execute(context) {
      seen.push(context.formValues);
      return undefined;
    },
  };
  const counter = await openCounter(definition, options);
  return {
    ...counter,
    /** Returns the values that the action received, or the problems by field. */
    async submit(values: Record<string, unknown>, searches: Record<string, string> = {}): Promise<unknown> {
      try {
        await counter.execute({ values, searches });
        return seen.at(-1);
      } catch (error) {
        const { details } = error as { details?: { fields?: readonly { field: string; problem: string }[] } };
        if (!details?.fields) throw error;
        return Object.fromEntries(details.fields.map(({ field, problem }) => [field, problem]));
      }
    },
  };
}
