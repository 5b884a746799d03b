// Form handlers of the page about one person. The storage validates the changes and checks again who may make them
// (store/users/administrators.ts).
import type { PermissionLevel } from '../../../core/caller.ts';
import { isAppError } from '../../../core/errors.ts';
import type { User, UserChange } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { personPage } from '../rights/places.ts';
import { refusal } from '../rights/review.ts';
import { linkAnswer } from './link.ts';
import { under } from './list.ts';
import { type Problem, personAnswer, requirePerson } from './person.ts';
import { type Provider, providerOf } from './provider.ts';

interface Change {
  readonly user: User;
  readonly request: SignedInRequest;
  readonly parts: Parts;
  /** Id of the user who makes the change. */
  readonly by: number;
}

/** Returns the key of the confirmation message, or a page. */
type PersonAction = (change: Change) => Promise<string | Answer>;

const personActions: Readonly<Record<string, PersonAction>> = {
  rights: (change) => save(change, 'rights', readRights),
  profile: (change) => save(change, 'profile', readProfile),
  tags: (change) => save(change, 'tags', readTags),
  link: ({ user, request, parts }) => linkAnswer(user, request, parts),
  async disable({ user, parts, by }) {
    await parts.store.identity.setDisabled(user.id, true, by);
    return 'disabled';
  },
  async enable({ user, parts, by }) {
    await parts.store.identity.setDisabled(user.id, false, by);
    return 'enabled';
  },
  async delete({ user, request, parts, by }) {
    if (request.form.get('confirm')?.trim().toLowerCase() !== user.email) {
      const problem = `type the address ${user.email} to confirm the deletion.`;
      return refusal(request, parts, { under, problem, back: personPage(user.id) });
    }
    await parts.store.identity.deleteUser(user.id, by);
    reportSecurity('user.delete', user, request, parts);
    return { to: `${under}?done=deleted` };
  },
  async 'end-sessions'({ user, request, parts, by }) {
    const grants = request.form.get('assistants') === 'yes';
    await parts.store.sessions.endAll(user.id, { grants, by });
    return grants ? 'disconnected' : 'signed-out';
  },
  async 'totp-off'({ user, request, parts, by }) {
    if (user.id === by) {
      const problem = 'turn off your own on the page Account, with your password.';
      return refusal(request, parts, { under, problem, back: personPage(user.id) });
    }
    return (await parts.store.secondFactors.switchOff(user.id, by)) ? 'totp-off' : 'same';
  },
};

export async function changePerson(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const user = await requirePerson({ id: request.id, request, parts });
  const by = request.access.caller.id;
  const action = request.form.get('action') ?? '';
  const personAction = Object.hasOwn(personActions, action) ? personActions[action] : undefined;
  if (!personAction) return { to: personPage(user.id) };
  try {
    const done = await personAction({ user, request, parts, by });
    if (typeof done !== 'string') return done;
    if (done !== 'same') reportSecurity(`user.${action}`, user, request, parts);
    return { to: `${personPage(user.id)}?done=${done}` };
  } catch (error) {
    if (!isAppError(error, 'DENIED') && !isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { problem } = error.details;
    return refusal(request, parts, { under, problem, back: personPage(user.id) });
  }
}

function reportSecurity(event: string, user: User, { access, address }: SignedInRequest, { observe }: Parts): void {
  observe({ type: 'security', event, userId: access.caller.id, address, detail: `${user.id}` });
}

type ReadChange = (form: URLSearchParams, user: User, provider: Provider) => UserChange | string;

/** On a validation error, returns to the form with the typed values. */
async function save(
  { user, request, parts, by }: Change,
  section: Problem['section'],
  read: ReadChange,
): Promise<string | Answer> {
  const problem = (text: string): Promise<Answer> => personAnswer(user, request, parts, { section, text, status: 400 });
  const change = read(request.form, user, await providerOf(user, parts));
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
const readFields = <K extends string>(form: URLSearchParams, keys: readonly K[]): Partial<Record<K, string>> =>
  Object.fromEntries(keys.flatMap((key) => (form.has(key) ? [[key, form.get(key)!]] : []))) as Partial<
    Record<K, string>
  >;

const readRights: ReadChange = (form, user, { providedFields, name }) => {
  const { team, role, level } = readFields(form, ['team', 'role', 'level'] as const);
  const fields = {
    ...(team !== undefined && { team }),
    ...(role !== undefined && { role }),
    ...(level !== undefined && { level }),
  };
  const provided = (Object.keys(fields) as (keyof typeof fields)[]).find(
    (key) => providedFields.has(key) && fields[key] !== user[key],
  );
  if (provided) return `${name} manages the ${provided}. Change it there.`;
  return { ...fields, ...(level !== undefined && { level: level as PermissionLevel }) } as UserChange;
};

const readProfile: ReadChange = (form, user, { providedFields, name }) => {
  const { firstName, lastName, timezone } = readFields(form, ['firstName', 'lastName', 'timezone'] as const);
  const renamed = (firstName ?? user.firstName) !== user.firstName || (lastName ?? user.lastName) !== user.lastName;
  if (providedFields.has('names') && renamed) return `${name} manages the names. Change them there.`;
  return {
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(timezone !== undefined && { timezone }),
  };
};

/** Parses `key=value` lines. Removes tags that are absent from the form, except those that the provider controls. */
const readTags: ReadChange = (form, user, { tags: providedTags, name }) => {
  const tags: Record<string, string | null> = Object.fromEntries(
    Object.keys(user.tags).flatMap((key) => (providedTags.includes(key) ? [] : [[key, null]])),
  );
  const keys = new Set<string>();
  for (const [at, line] of (form.get('tags') ?? '').split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const [, key, value] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined)
      return `Line ${at + 1}: expected key=value, got '${line.trim().slice(0, 100)}'.`;
    if (keys.has(key)) return `Line ${at + 1}: '${key}' is listed twice.`;
    if (providedTags.includes(key)) return `Line ${at + 1}: ${name} manages '${key}'. Change it there.`;
    keys.add(key);
    tags[key] = value;
  }
  return { tags };
};
