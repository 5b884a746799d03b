// Maps the claims of an OpenID provider to a user's rights. The mapping is data: for team, role, level and each tag, it
// has a claim, the meaning of its values, and a default. Each sign-in applies the mapped rights, so rights that the
// provider no longer sends are removed. Administrators manage everything that is not mapped.
import { type PermissionLevel, permissionLevels } from '../../core/caller.ts';
import type { ExternalRights } from '../../store/users/types.ts';

export type Claims = Readonly<Record<string, unknown>>;

interface ClaimRule {
  /** Name of a claim, or the path to a nested one. */
  readonly claim: readonly string[];
  /** Meaning of each value; the first entry that matches counts. Absent: the value is the name itself. */
  readonly values?: Readonly<Record<string, string>>;
  /** Default if the claim has no usable value. Null: the sign-in is refused (for a tag: it is not set). */
  readonly otherwise: string | null;
}

export interface ClaimMapping {
  readonly team?: ClaimRule;
  readonly role?: ClaimRule;
  readonly level?: ClaimRule;
  readonly tags: Readonly<Record<string, ClaimRule>>;
}

const MAX_NAME_LENGTH = 191;
/** Maximum number of values read from a claim. Users can be in many groups, but not in more than this. */
const MAX_VALUES = 1000;
/** Defaults where the mapping has no other. */
export const defaultRights = { team: 'Operations', role: 'Member', level: 'user' } as const;

/** Parses a mapping. Throws a plain Error with the expected form and its position. */
export function parseMapping(text: string | null): ClaimMapping {
  if (text === null) return { tags: {} };
  const { tags, ...rest } = readObject(parseMappingJson(text), 'it', ['team', 'role', 'level', 'tags']);
  const mapping: Record<string, ClaimRule> = {};
  for (const [name, rule] of Object.entries(rest)) {
    mapping[name] = parseRule(rule, name, defaultRights[name as keyof typeof defaultRights]);
  }
  const { level } = mapping;
  // A value that a provider happens to use must not make a user an administrator.
  if (level && !level.values) throw new Error("level: 'values' must map values of the claim to levels");
  for (const levelName of [...Object.values(level?.values ?? {}), level?.otherwise ?? 'user']) {
    if (!isLevel(levelName))
      throw new Error(`level: expected one of ${permissionLevels.join(', ')}, got '${levelName}'`);
  }
  const tagEntries = Object.entries(tags === undefined ? {} : readObject(tags, 'tags'));
  return {
    ...mapping,
    tags: Object.fromEntries(tagEntries.map(([tag, rule]) => [tag, parseRule(rule, `tags.${tag}`, null)])),
  };
}

export function applyMapping(mapping: ClaimMapping, claims: Claims): ExternalRights {
  const { team, role, level, tags } = mapping;
  const first = (rule: ClaimRule) => namesFromClaim(rule, claims)[0] ?? null;
  return {
    team: team && namesFromClaim(team, claims),
    role: role && namesFromClaim(role, claims),
    level: level && (first(level) as PermissionLevel | null),
    tags: Object.fromEntries(Object.entries(tags).map(([tag, rule]) => [tag, first(rule)])),
  };
}

/** Names that the claim stands for, best match first. */
function namesFromClaim({ claim, values, otherwise }: ClaimRule, claims: Claims): readonly string[] {
  const claimed = readValues(claims, claim);
  const names = values
    ? Object.keys(values)
        .filter((value) => claimed.includes(value))
        .map((value) => values[value]!)
    : claimed;
  return [...new Set(otherwise === null ? names : [...names, otherwise])];
}

/** Accepts a string, a number or a list of them; any other value is ignored. */
function readValues(claims: Claims, path: readonly string[]): readonly string[] {
  let current: unknown = claims;
  for (const name of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return [];
    current = (current as Record<string, unknown>)[name];
  }
  return [current]
    .flat()
    .slice(0, MAX_VALUES)
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .map((value) => `${value}`.trim())
    .filter((value) => value !== '' && value.length <= MAX_NAME_LENGTH);
}

function parseMappingJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('expected JSON such as {"role":{"claim":"groups","values":{"clerks":"Clerk"}}}');
  }
}

function readObject(value: unknown, at: string, known?: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${at}: expected an object`);
  const unknownMember = known && Object.keys(value).find((name) => !known.includes(name));
  if (unknownMember !== undefined)
    throw new Error(`${at}: unknown member '${unknownMember}'; expected ${known!.join(', ')}`);
  return value as Record<string, unknown>;
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= MAX_NAME_LENGTH;

function parseRule(input: unknown, at: string, fallback: string | null): ClaimRule {
  // A plain claim name is short for a rule with only that claim.
  const rule = isText(input) ? { claim: input } : readObject(input, at, ['claim', 'values', 'default']);
  const claim = [rule.claim].flat();
  if (claim.length === 0 || !claim.every(isText)) {
    throw new Error(`${at}.claim: expected the name of a claim, or a list of names that lead to it`);
  }
  const values = rule.values === undefined ? undefined : readObject(rule.values, `${at}.values`);
  if (values && !Object.values(values).every(isText)) throw new Error(`${at}.values: expected texts`);
  const otherwise = rule.default === undefined ? fallback : rule.default;
  if (otherwise !== null && !isText(otherwise)) throw new Error(`${at}.default: expected a string, or null`);
  return { claim, ...(values && { values: values as Record<string, string> }), otherwise };
}

function isLevel(name: string): name is PermissionLevel {
  return (permissionLevels as readonly string[]).includes(name);
}
