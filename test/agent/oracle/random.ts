// Pseudo-random numbers from a seed, to repeat failed runs.
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  number(below: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Between `least` and `most` different items, in random order. */
  some<T>(items: readonly T[], least: number, most: number): T[];
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const random: Random = {
    number: (below) => Math.floor(next() * below),
    chance: (probability) => next() < probability,
    pick: (items) => items[random.number(items.length)]!,
    some(items, least, most) {
      const left = [...items];
      const count = Math.min(left.length, least + random.number(most - least + 1));
      return Array.from({ length: count }, () => left.splice(random.number(left.length), 1)[0]!);
    },
  };
  return random;
}
