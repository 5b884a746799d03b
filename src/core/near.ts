/** Up to `limit` of the known names that look like `name`, nearest first: what an error offers instead of a shrug. */
export function nearNames(name: string, known: Iterable<string>, limit = 5): string[] {
  const wanted = fold(name);
  const scored: [string, number][] = [];
  for (const candidate of known) {
    const other = fold(candidate);
    const distance =
      other.includes(wanted) || wanted.includes(other)
        ? Math.abs(other.length - wanted.length) / 4
        : editDistance(wanted, other);
    if (distance <= Math.max(2, wanted.length / 2)) scored.push([candidate, distance]);
  }
  return scored
    .sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, limit)
    .map(([candidate]) => candidate);
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Levenshtein with a single row; names are cut at 64 characters, since user text must not cost quadratic time. */
function editDistance(a: string, b: string): number {
  const left = a.slice(0, 64);
  const right = b.slice(0, 64);
  let row = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1;
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + cost));
    }
    row = next;
  }
  return row[right.length]!;
}
