// Runs attacks against the product, which must withstand all of them, and against copies without their protection.
// There each must succeed, because an attack that always fails proves no protection.
import type { Dialect, TestServer } from '../databases.ts';
import { type Attack, type Place, type Verdict, verdict } from './attack.ts';
import { switchOff } from './root.ts';
import { openTarget, type Target } from './target.ts';

/** `failed`: the attack itself threw an error. */
export type State = 'held' | 'broken' | 'open' | 'not noticed' | 'failed';

export interface Result {
  readonly attack: Attack;
  readonly dialect: Dialect;
  readonly state: State;
  readonly evidence: string;
}

const isFor = (attack: Attack, { dialect }: TestServer): boolean => attack.on?.includes(dialect) ?? true;

/** Attacks with the same place share a server, unless they need their own. */
export async function* replayHeld(attacks: readonly Attack[], makers: readonly TestServer[]): AsyncGenerator<Result> {
  for (const maker of makers) {
    const mine = attacks.filter((attack) => isFor(attack, maker));
    const shared = mine.filter(({ alone }) => !alone);
    for (const place of new Set(shared.map((attack) => attack.place)))
      yield* replayAt(
        maker,
        place,
        shared.filter((attack) => attack.place === place),
      );
    for (const attack of mine.filter(({ alone }) => alone)) yield* replayAt(maker, attack.place, [attack]);
  }
}

async function* replayAt(maker: TestServer, place: Place, attacks: readonly Attack[]): AsyncGenerator<Result> {
  let target: Target | undefined;
  try {
    target = await openTarget(maker, place);
    for (const attack of attacks)
      yield await made(attack, maker.dialect, target, (broken) => (broken ? 'broken' : 'held'));
  } catch (error) {
    for (const attack of attacks) yield failed(attack, maker.dialect, error);
  } finally {
    await target?.stop();
  }
}

/** Runs each attack on the first of `makers` that it applies to. */
export async function* replaySwitchedOff(
  attacks: readonly Attack[],
  makers: readonly TestServer[],
): AsyncGenerator<Result> {
  for (const attack of attacks) {
    const maker = makers.find((one) => isFor(attack, one));
    if (!maker) continue;
    const root = await switchOff(attack.protection);
    let target: Target | undefined;
    try {
      target = await openTarget(maker, attack.place, root.path);
      yield await made(attack, maker.dialect, target, (broken) => (broken ? 'open' : 'not noticed'));
    } catch (error) {
      yield failed(attack, maker.dialect, error);
    } finally {
      await target?.stop();
      root.remove();
    }
  }
}

async function made(
  attack: Attack,
  dialect: Dialect,
  target: Target,
  stateOf: (broken: boolean) => State,
): Promise<Result> {
  let answer: Verdict;
  try {
    answer = await attack.attack(target);
  } catch (error) {
    return failed(attack, dialect, error);
  }
  return { attack, dialect, state: stateOf(answer.broken), evidence: answer.evidence };
}

function failed(attack: Attack, dialect: Dialect, error: unknown): Result {
  const { message, cause } = error as Error;
  const { evidence } = verdict(false, `${message}${cause ? ` (${cause})` : ''}`);
  return { attack, dialect, state: 'failed', evidence };
}

export const isWrong = ({ state }: Result): boolean => state !== 'held' && state !== 'open';
