// An engine that can be replaced during use. Callers hold the same object throughout. New calls go to the new engine
// after a swap, and pending calls finish on the old one. The old engine is released after its last call.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { OpenForm } from './actions/actions.ts';
import type { Engine } from './engine.ts';
import type { Explained } from './operations/explain.ts';

export interface LiveEngine {
  readonly engine: Engine;
  /** Calls `retire` after the last pending call on the old engine has ended, then resolves. */
  swap(next: Engine, retire: () => Promise<unknown>): Promise<void>;
}

interface Held {
  readonly engine: Engine;
  calls: number;
  /** Set by a swap; called when no calls are pending. */
  onIdle?: () => void;
  isGone: boolean;
}

const hold = (engine: Engine): Held => ({ engine, calls: 0, isGone: false });

export function createLiveEngine(first: Engine): LiveEngine {
  let current = hold(first);

  function counted<T>(held: Held, call: (engine: Engine) => Promise<T>): Promise<T> {
    const end = () => {
      held.calls--;
      if (held.calls === 0) held.onIdle?.();
    };
    held.calls++;
    let working: Promise<T>;
    try {
      working = call(held.engine);
    } catch (error) {
      end();
      return Promise.reject(error);
    }
    working.then(end, end);
    return working;
  }
  const on = <T>(call: (engine: Engine) => Promise<T>): Promise<T> => counted(current, call);

  /** A form stays with the engine that created it. After that engine is released, NOT_READY: load the form again. */
  async function openForm(held: Held, call: (engine: Engine) => Promise<OpenForm>): Promise<OpenForm> {
    const form = await counted(held, call);
    return {
      answer: form.answer,
      fill: (values) => (held.isGone ? fail('NOT_READY', {}) : counted(held, () => form.fill(values))),
    };
  }

  const engine: Engine = {
    list: (...given) => on((it) => it.list(...given)),
    count: (...given) => on((it) => it.count(...given)),
    get: (...given) => on((it) => it.get(...given)),
    aggregate: (...given) => on((it) => it.aggregate(...given)),
    listRelated: (...given) => on((it) => it.listRelated(...given)),
    countRelated: (...given) => on((it) => it.countRelated(...given)),
    aggregateRelated: (...given) => on((it) => it.aggregateRelated(...given)),
    index: (...given) => current.engine.index(...given),
    describe: (...given) => current.engine.describe(...given),
    names: (...given) => current.engine.names(...given),
    create: (...given) => on((it) => it.create(...given)),
    update: (...given) => on((it) => it.update(...given)),
    delete: (...given) => on((it) => it.delete(...given)),
    associate: (...given) => on((it) => it.associate(...given)),
    dissociate: (...given) => on((it) => it.dissociate(...given)),
    point: (...given) => on((it) => it.point(...given)),
    pointers: (...given) => on((it) => it.pointers(...given)),
    wayBack: (...given) => current.engine.wayBack(...given),
    explain: <O extends keyof Explained>(access: Access, request: Explained[O], operation?: O) =>
      on((it) => it.explain(access, request, operation ?? ('list' as O))),
    structure: (...given) => on((it) => it.structure(...given)),
    actions: {
      describe: (...given) => current.engine.actions.describe(...given),
      loadForm: (...given) => on((it) => it.actions.loadForm(...given)),
      openForm: (...given) => openForm(current, (it) => it.actions.openForm(...given)),
      searchOptions: (...given) => on((it) => it.actions.searchOptions(...given)),
      execute: (...given) => on((it) => it.actions.execute(...given)),
      check: (...given) => on((it) => it.actions.check(...given)),
      foresee: (...given) => on((it) => it.actions.foresee(...given)),
    },
    charts: {
      names: (...given) => current.engine.charts.names(...given),
      render: (...given) => on((it) => it.charts.render(...given)),
    },
    storedFilters: {
      findAmbiguities: (...given) => current.engine.storedFilters.findAmbiguities(...given),
      keepMeaning: (...given) => current.engine.storedFilters.keepMeaning(...given),
      findUndecided: (...given) => current.engine.storedFilters.findUndecided(...given),
      unclearSegments: (...given) => current.engine.storedFilters.unclearSegments(...given),
    },
    get workflows() {
      return current.engine.workflows;
    },
    get ai() {
      return current.engine.ai;
    },
    get build() {
      return current.engine.build;
    },
    close: () => current.engine.close(),
  };

  return {
    engine,
    async swap(next, retire) {
      const old = current;
      current = hold(next);
      await new Promise<void>((resolve) => {
        old.onIdle = resolve;
        if (old.calls === 0) resolve();
      });
      old.isGone = true;
      await retire();
    },
  };
}
