import type { Engine } from '../../agent/engine.ts';
import { readModel } from '../../console/pages/rights/model.ts';
import { findReadOnlyScopes } from '../../console/pages/rights/read-only.ts';
import type { Caller } from '../../core/caller.ts';
import type { Observe } from '../../core/observe.ts';
import type { Store } from '../../store/store.ts';

/** Warns about row scopes that block every write although a role allows it. */
export async function warnAboutReadOnlyScopes(
  store: Pick<Store, 'rights' | 'identity'>,
  engine: Engine,
  observe: Observe,
): Promise<void> {
  const [rights, { environment }] = await Promise.all([store.rights.read(), store.identity.place()]);
  const model = readModel(engine, { id: 0, timezone: 'UTC', tags: {} } as unknown as Caller);
  for (const { text } of findReadOnlyScopes(rights, environment, model)) observe({ type: 'warning', message: text });
}
