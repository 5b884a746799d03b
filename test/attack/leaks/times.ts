// Decides whether two series of times differ: the test of Mann and Whitney, with the normal approximation and the
// correction for ties. Both series have hundreds of values.

/** The probability of a difference at least as large, if both have one distribution. */
export function mannWhitney(ones: readonly number[], others: readonly number[]): number {
  const all = [...ones.map((value) => ({ value, isOne: true })), ...others.map((value) => ({ value, isOne: false }))];
  all.sort((a, b) => a.value - b.value);
  let ranks = 0;
  let ties = 0;
  for (let from = 0; from < all.length; ) {
    let to = from;
    while (to < all.length && all[to]!.value === all[from]!.value) to++;
    const rank = (from + 1 + to) / 2;
    ranks += rank * all.slice(from, to).filter(({ isOne }) => isOne).length;
    ties += (to - from) ** 3 - (to - from);
    from = to;
  }
  const [m, n, total] = [ones.length, others.length, all.length];
  const u = ranks - (m * (m + 1)) / 2;
  const variance = ((m * n) / 12) * (total + 1 - ties / (total * (total - 1)));
  if (variance === 0) return 1;
  const z = Math.max(0, Math.abs(u - (m * n) / 2) - 0.5) / Math.sqrt(variance);
  return 2 * upperTail(z);
}

/** Of the normal distribution: Abramowitz and Stegun 26.2.17, with an error below 1e-7. */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const terms = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153];
  const polynomial = terms.reduce((sum, term) => sum * t + term, 0) * t;
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
