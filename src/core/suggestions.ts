// Compares names that people and models write with the known names. A name with different case, separators or number
// (singular or plural) can match exactly one known name. If several match, the name counts as unknown. Other similar
// names are only suggestions.

/** Up to `limit` known names similar to `name`, nearest first. Errors use them as suggestions. */
export function suggestNames(name: string, candidates: Iterable<string>, limit = 5): string[] {
  const folded = foldName(name);
  const scored: [string, number][] = [];
  for (const candidate of candidates) {
    const other = foldName(candidate);
    const distance =
      other.includes(folded) || folded.includes(other)
        ? Math.abs(other.length - folded.length) / 4
        : editDistance(folded, other);
    if (distance <= Math.max(2, folded.length / 2)) scored.push([candidate, distance]);
  }
  return scored
    .sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, limit)
    .map(([candidate]) => candidate);
}

/** Levenshtein with a single row. Names are cut at 64 characters, because user text must not cost quadratic time. */
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

/** Whether `text` is the current or the former name. */
export function hasName(named: { readonly name: string; readonly formerly?: string }, text: string): boolean {
  return named.name === text || named.formerly === text;
}

/** Lower case, letters and digits only: `unit_price`, `UnitPrice` and `unit price` are equal. */
export function foldName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** The only known name that matches `text`; undefined if there is no match or several. An exact name always wins. */
export function matchName(text: string, candidates: Iterable<string>): string | undefined {
  return createNameMatcher(candidates)(text);
}

/** Like `matchName`, for many texts: folds the known names only once. */
export function createNameMatcher(candidates: Iterable<string>): (text: string) => string | undefined {
  const names = new Set(candidates);
  const byFolded = new Map<string, Set<string>>();
  const byNumber = new Map<string, Set<string>>();
  for (const name of names) {
    const folded = foldName(name);
    add(byFolded, folded, name);
    for (const form of singularForms(folded)) add(byNumber, form, name);
  }
  return (text) => {
    if (names.has(text)) return text;
    const folded = foldName(text);
    if (folded === '') return undefined;
    const same = byFolded.get(folded);
    if (same) return onlyOf(same);
    const forms = singularForms(folded).flatMap((form) => [...(byFolded.get(form) ?? [])]);
    return onlyOf(new Set([...forms, ...(byNumber.get(folded) ?? [])]));
  };
}

function add(groups: Map<string, Set<string>>, key: string, name: string): void {
  const group = groups.get(key);
  if (group) group.add(name);
  else groups.set(key, new Set([name]));
}

const onlyOf = (names: ReadonlySet<string>): string | undefined => (names.size === 1 ? [...names][0] : undefined);

/** The folded word and the singular forms that it may be the plural of. */
function singularForms(word: string): string[] {
  if (word.length < 3 || !word.endsWith('s') || word.endsWith('ss')) return [word];
  const forms = [word, word.slice(0, -1)];
  if (word.endsWith('es')) forms.push(word.slice(0, -2));
  if (word.endsWith('ies')) forms.push(`${word.slice(0, -3)}y`);
  return forms;
}
