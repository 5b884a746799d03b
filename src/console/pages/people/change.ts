// Form handlers of the page about one person. The storage validates the changes and checks again who may make them
// (store/users/administrators.ts).
import type { PermissionLevel } from '../../../core/caller.ts';
import { isAppError } from '../../../core/errors.ts';
import type { User, UserChange } from '../../../store/users/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { personPage } from '../rights/places.ts';
import { refusal } from '../rights/review.ts';
import { linkAnswer } from './link.ts';
import { under } from './list.ts';
import { type Problem, personAnswer, requirePerson } from './person.ts';
import { type Provider, providerOf } from './provider.ts';

interface Change {
  readonly user: User;
  readonly visit: MemberVisit;
  readonly parts: Parts;
  /** Id of the user who makes the change. */
  readonly by: number;
}

/** Returns the key of the confirmation message, or a page. */
type Do = (change: Change) => Promise<string | Answer>;

const deeds: Readonly<Record<string, Do>> = {
  rights: (change) => save(change, 'rights', readRights),
  profile: (change) => save(change, 'profile', readProfile),
  tags: (change) => save(change, 'tags', readTags),
  link: ({ user, visit, parts }) => linkAnswer(user, visit, parts),
  async disable({ user, parts, by }) {
    await parts.store.identity.setDisabled(user.id, true, by);
    return 'disabled';
  },
  async enable({ user, parts, by }) {
    await parts.store.identity.setDisabled(user.id, false, by);
    return 'enabled';
  },
  async 'end-sessions'({ user, visit, parts, by }) {
    const grants = visit.form.get('assistants') === 'yes';
    await parts.store.sessions.endAll(user.id, { grants, by });
    return grants ? 'disconnected' : 'signed-out';
  },
  async 'totp-off'({ user, visit, parts, by }) {
    if (user.id === by) {
      const problem = 'your own is switched off under Account, with your password.';
      return refusal(visit, parts, { under, problem, back: personPage(user.id) });
    }
    return (await parts.store.secondFactors.switchOff(user.id, by)) ? 'totp-off' : 'same';
  },
};

export async function changePerson(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const user = await requirePerson({ id: visit.id, visit, parts });
  const by = visit.access.caller.id;
  const action = visit.form.get('action') ?? '';
  const deed = Object.hasOwn(deeds, action) ? deeds[action] : undefined;
  if (!deed) return { to: personPage(user.id) };
  try {
    const done = await deed({ user, visit, parts, by });
    if (typeof done !== 'string') return done;
    if (done !== 'same') tell(`user.${action}`, user, visit, parts);
    return { to: `${personPage(user.id)}?done=${done}` };
  } catch (error) {
    if (!isAppError(error, 'DENIED') && !isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { problem } = error.details;
    return refusal(visit, parts, { under, problem, back: personPage(user.id) });
  }
}

function tell(event: string, user: User, { access, address }: MemberVisit, { observe }: Parts): void {
  observe({ type: 'security', event, userId: access.caller.id, address, detail: `${user.id}` });
}

type ReadChange = (form: URLSearchParams, user: User, provider: Provider) => UserChange | string;

/** On a validation error, returns to the form with the typed values. */
async function save(
  { user, visit, parts, by }: Change,
  section: Problem['section'],
  read: ReadChange,
): Promise<string | Answer> {
  const problem = (text: string): Promise<Answer> => personAnswer(user, visit, parts, { section, text, status: 400 });
  const change = read(visit.form, user, await providerOf(user, parts));
  if (typeof change === 'string') return problem(change);
  try {
    const changed = await parts.store.members.change(user.id, change, by);
    return Object.keys(changed).length > 0 ? 'saved' : 'same';
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { argument, problem: text } = error.details;
    return problem(`${argument}: ${text}`);
  }
}

/** Form values that the identity provider does not control. It would overwrite the others at the next sign-in. */
const given = <K extends string>(form: URLSearchParams, keys: readonly K[]): Partial<Record<K, string>> =>
  Object.fromEntries(keys.flatMap((key) => (form.has(key) ? [[key, form.get(key)!]] : []))) as Partial<
    Record<K, string>
  >;

const readRights: ReadChange = (form, user, { says, name }) => {
  const { team, role, level } = given(form, ['team', 'role', 'level'] as const);
  const wanted = {
    ...(team !== undefined && { team }),
    ...(role !== undefined && { role }),
    ...(level !== undefined && { level }),
  };
  const said = (Object.keys(wanted) as (keyof typeof wanted)[]).find(
    (key) => says.has(key) && wanted[key] !== user[key],
  );
  if (said) return `${name} says the ${said}. Change it there.`;
  return { ...wanted, ...(level !== undefined && { level: level as PermissionLevel }) } as UserChange;
};

const readProfile: ReadChange = (form, user, { says, name }) => {
  const { firstName, lastName, timezone } = given(form, ['firstName', 'lastName', 'timezone'] as const);
  const renamed = (firstName ?? user.firstName) !== user.firstName || (lastName ?? user.lastName) !== user.lastName;
  if (says.has('names') && renamed) return `${name} says the names. Change them there.`;
  return {
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(timezone !== undefined && { timezone }),
  };
};

/** Parses `key=value` lines. Removes tags that are absent from the form, except those that the provider controls. */
const readTags: ReadChange = (form, user, { tags: said, name }) => {
  const tags: Record<string, string | null> = Object.fromEntries(
    Object.keys(user.tags).flatMap((key) => (said.includes(key) ? [] : [[key, null]])),
  );
  const seen = new Set<string>();
  for (const [at, line] of (form.get('tags') ?? '').split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const [, key, value] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined)
      return `Line ${at + 1}: expected key=value, got '${line.trim().slice(0, 100)}'.`;
    if (seen.has(key)) return `Line ${at + 1}: '${key}' stands here twice.`;
    if (said.includes(key)) return `Line ${at + 1}: ${name} says '${key}'. Change it there.`;
    seen.add(key);
    tags[key] = value;
  }
  return { tags };
};
