// An engine that can be replaced during use. Callers hold the same object throughout. New calls go to the new engine
// after a swap, and pending calls finish on the old one. The old engine is released after its last call.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { OpenForm } from './actions/actions.ts';
import type { Engine } from './engine.ts';
import type { ExplainRequests } from './operations/explain.ts';

export interface EngineHandle {
  readonly engine: Engine;
  /** Calls `retire` after the last pending call on the old engine has ended, then resolves. */
  swap(next: Engine, retire: () => Promise<unknown>): Promise<void>;
}

interface EngineState {
  readonly engine: Engine;
  calls: number;
  /** Set by a swap; called when no calls are pending. */
  onIdle?: () => void;
  isReplaced: boolean;
}

const createState = (engine: Engine): EngineState => ({ engine, calls: 0, isReplaced: false });

/** `own`: what the handle does itself. Default: it cannot be reloaded, and closes the current engine. */
export function createEngineHandle(
  first: Engine,
  own: Partial<Pick<Engine, 'catalogue' | 'close'>> = {},
): EngineHandle {
  let current = createState(first);

  function countCall<T>(state: EngineState, call: (engine: Engine) => Promise<T>): Promise<T> {
    const end = () => {
      state.calls--;
      if (state.calls === 0) state.onIdle?.();
    };
    state.calls++;
    let working: Promise<T>;
    try {
      working = call(state.engine);
    } catch (error) {
      end();
      return Promise.reject(error);
    }
    working.then(end, end);
    return working;
  }
  const onCurrent = <T>(call: (engine: Engine) => Promise<T>): Promise<T> => countCall(current, call);

  /** A form stays with the engine that created it. After that engine is released, NOT_READY: load the form again. */
  async function openForm(held: EngineState, call: (engine: Engine) => Promise<OpenForm>): Promise<OpenForm> {
    const form = await countCall(held, call);
    return {
      answer: form.answer,
      fill: (values) => (held.isReplaced ? fail('NOT_READY', {}) : countCall(held, () => form.fill(values))),
    };
  }

  const engine: Engine = {
    list: (...given) => onCurrent((it) => it.list(...given)),
    count: (...given) => onCurrent((it) => it.count(...given)),
    get: (...given) => onCurrent((it) => it.get(...given)),
    aggregate: (...given) => onCurrent((it) => it.aggregate(...given)),
    listRelated: (...given) => onCurrent((it) => it.listRelated(...given)),
    countRelated: (...given) => onCurrent((it) => it.countRelated(...given)),
    aggregateRelated: (...given) => onCurrent((it) => it.aggregateRelated(...given)),
    index: (...given) => current.engine.index(...given),
    describe: (...given) => current.engine.describe(...given),
    names: (...given) => current.engine.names(...given),
    create: (...given) => onCurrent((it) => it.create(...given)),
    update: (...given) => onCurrent((it) => it.update(...given)),
    delete: (...given) => onCurrent((it) => it.delete(...given)),
    associate: (...given) => onCurrent((it) => it.associate(...given)),
    dissociate: (...given) => onCurrent((it) => it.dissociate(...given)),
    setRelation: (...given) => onCurrent((it) => it.setRelation(...given)),
    foreignKeyValues: (...given) => onCurrent((it) => it.foreignKeyValues(...given)),
    inverseOf: (...given) => current.engine.inverseOf(...given),
    explain: <O extends keyof ExplainRequests>(access: Access, request: ExplainRequests[O], operation?: O) =>
      onCurrent((it) => it.explain(access, request, operation ?? ('list' as O))),
    structure: (...given) => onCurrent((it) => it.structure(...given)),
    missingIndexes: (...given) => onCurrent((it) => it.missingIndexes(...given)),
    health: () => current.engine.health(),
    actions: {
      describe: (...given) => current.engine.actions.describe(...given),
      loadForm: (...given) => onCurrent((it) => it.actions.loadForm(...given)),
      openForm: (...given) => openForm(current, (it) => it.actions.openForm(...given)),
      searchOptions: (...given) => onCurrent((it) => it.actions.searchOptions(...given)),
      execute: (...given) => onCurrent((it) => it.actions.execute(...given)),
      check: (...given) => onCurrent((it) => it.actions.check(...given)),
      preview: (...given) => onCurrent((it) => it.actions.preview(...given)),
    },
    charts: {
      names: (...given) => current.engine.charts.names(...given),
      render: (...given) => onCurrent((it) => it.charts.render(...given)),
      draw: (...given) => onCurrent((it) => it.charts.draw(...given)),
    },
    storedFilters: {
      findAmbiguities: (...given) => current.engine.storedFilters.findAmbiguities(...given),
      disambiguate: (...given) => current.engine.storedFilters.disambiguate(...given),
      findResidualField: (...given) => current.engine.storedFilters.findResidualField(...given),
      findUnscopedQueries: () => current.engine.storedFilters.findUnscopedQueries(),
      findAmbiguousSegments: (...given) => current.engine.storedFilters.findAmbiguousSegments(...given),
    },
    storedMeanings: {
      codeMeanings: (...given) => current.engine.storedMeanings.codeMeanings(...given),
      checkMetric: (...given) => current.engine.storedMeanings.checkMetric(...given),
      checkSegment: (...given) => current.engine.storedMeanings.checkSegment(...given),
    },
    get workflows() {
      return current.engine.workflows;
    },
    get instructions() {
      return current.engine.instructions;
    },
    get ai() {
      return current.engine.ai;
    },
    get build() {
      return current.engine.build;
    },
    catalogue: own.catalogue ?? null,
    close: own.close ?? (() => current.engine.close()),
  };

  return {
    engine,
    async swap(next, retire) {
      const old = current;
      current = createState(next);
      await new Promise<void>((resolve) => {
        old.onIdle = resolve;
        if (old.calls === 0) resolve();
      });
      old.isReplaced = true;
      await retire();
    },
  };
}
