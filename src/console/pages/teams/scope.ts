// The row scope of one team on one collection: a filter as rows of the builder, or as JSON. An invalid filter is shown
// again with the location of the error. A filter can be tested before saving: the page counts the records that one person would see. The engine
// counts with that person's rights, and the page shows only numbers.
import type { Access } from '../../../core/caller.ts';
import { fail, isAppError } from '../../../core/errors.ts';
import type { PlainFilter } from '../../../core/filter.ts';
import { type Html, html } from '../../../http/html.ts';
import { fillScope } from '../../../store/permissions/scopes.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { filterBuilder } from '../../ui/filter/builder.ts';
import { hasRows, readRows } from '../../ui/filter/form.ts';
import { isUnfinished, type Rows, toFilter } from '../../ui/filter/state.ts';
import { filterWords } from '../../ui/filter/words.ts';
import { areaField, type Option, openForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { nameOf } from '../people/list.ts';
import { type ModelNames, readModel } from '../rights/model.ts';
import { collectionPage, rightOf, scopePage, teamPage } from '../rights/places.ts';
import { baseOf } from '../rights/proposal.ts';
import { findReadOnlyScopes } from '../rights/read-only.ts';
import { reviewProposal } from '../rights/review.ts';
import { readVariables, safeRows } from '../rights/rows.ts';
import { readFilter } from '../roles/permission.ts';
import { readTeamTarget, type TeamTarget } from './team.ts';

const under = '/teams';

interface ScopeTarget extends TeamTarget {
  readonly collection: string;
  readonly model: ModelNames;
}

async function readScopeTarget(request: SignedInRequest, parts: Parts): Promise<ScopeTarget> {
  const target = await readTeamTarget(request, parts);
  const model = readModel(parts.engine, request.access.caller);
  const collection = request.params.collection!;
  const { rights, team, environment } = target;
  const isThere =
    collection === '*' ||
    model.collections.includes(collection) ||
    rightOf(rights, 'scope', team, environment, collection) !== undefined;
  return isThere ? { ...target, collection, model } : fail('NOT_FOUND', { path: parts.paths.path(teamPage(team)) });
}

/** The rule as the person edits it: rows, or JSON. */
interface Edited {
  readonly rows: Rows | undefined;
  readonly typed: string;
}

interface Shown {
  readonly edited?: Edited;
  readonly problem?: string;
  readonly preview?: Html;
  readonly person?: string;
}

export async function showScope(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return scopeAnswer(request, parts, await readScopeTarget(request, parts), {});
}

async function scopeAnswer(request: SignedInRequest, parts: Parts, target: ScopeTarget, shown: Shown): Promise<Answer> {
  const { team, environment, served, collection, rights, suffix, model } = target;
  const { paths } = parts;
  const about = { kind: 'scope', path: [team, environment, collection] } as const;
  const is = rightOf(rights, 'scope', ...about.path);
  const rest = collection === '*' ? undefined : rightOf(rights, 'scope', team, environment, '*');
  const name = collection === '*' ? 'Every other collection' : collection;
  const base = request.form.get('base') ?? baseOf(rights, about);
  const edited = shown.edited ?? readStored(is as PlainFilter | undefined, target);
  const { problem } = shown;
  const seen = (filter: unknown) =>
    filter === undefined ? undefined : `those where ${filterWords(filter as PlainFilter)}`;
  const readOnly = environment !== served ? [] : findReadOnlyScopes(rights, environment, model);
  const [unclear] = is === undefined ? [] : model.findUnclear(collection, is as PlainFilter);
  const content = html`<h1>${name}</h1>
<p class="lead">In ${environment}, ${team} sees ${seen(is) ?? seen(rest) ?? 'every record'}${is === undefined && rest !== undefined && ', as for every other collection'}.${model.collections.includes(collection) && html` <a href="${paths.path(collectionPage(collection))}">View fields</a>`}</p>
${collection !== '*' && !model.collections.includes(collection) && html`<p class="warning">The model has no collection with this name. The rule has no effect until it has one.</p>`}
${unclear !== undefined && html`<p class="warning">This rule keeps its meaning, but cannot be saved again unchanged. ${unclear}</p>`}
${readOnly.filter(({ right: { path } }) => path[0] === team && path[2] === collection).map(({ text }) => html`<p class="warning">${text}</p>`)}
${openForm(request, parts, scopePage(team, collection))}<input type="hidden" name="in" value="${environment}"><input type="hidden" name="base" value="${base}">
${await ruleEditor(edited, problem, target, parts)}
${shown.preview}
${await previewSection(target, parts, shown.person)}
<div class="row-of-buttons"><button class="primary slim" name="action" value="review">Review changes</button></div></form>`;
  const title = `${name}, ${team}`;
  const page = createFramedPage(request, parts, {
    ...{ title: problem ? `Error: ${title}` : title, under, content, here: name },
    between: [html`<a href="${paths.path(teamPage(team))}${suffix}">${team}</a>`],
  });
  return { page, ...(problem !== undefined && { status: 400 }) };
}

/** The builder cannot show fields of every collection, so the rule for the other collections is JSON. */
function readStored(filter: PlainFilter | undefined, { collection, model }: ScopeTarget): Edited {
  const typed = filter === undefined ? '' : JSON.stringify(filter, null, 2);
  const isKnown = model.collections.includes(collection);
  return { rows: isKnown ? safeRows(filter, collection, model) : undefined, typed };
}

async function ruleEditor(
  { rows, typed }: Edited,
  problem: string | undefined,
  { collection, model }: ScopeTarget,
  { store }: Parts,
): Promise<Html> {
  const otherwise = collection === '*' ? 'every record' : 'as for every other collection';
  if (rows) {
    return html`<h2 class="plainly">Show only records that match</h2>
${problem !== undefined && html`<p class="alert" role="alert">${problem}</p>`}
${filterBuilder({ rows, describe: model.describe, collection, variables: await readVariables(store) })}
<p class="quietly">If a person lacks the value that a condition compares with, they see no records. Without conditions: ${otherwise}.</p>
<p><button class="plain slim" name="do" value="json">Advanced: JSON</button></p>`;
  }
  const isKnown = model.collections.includes(collection);
  return html`${areaField({
    id: 'filter',
    label: 'Show only records that match (JSON filter)',
    value: typed,
    rows: Math.min(20, Math.max(6, typed.split('\n').length + 1)),
    problem,
    hint: html`Such as <code>{"field":"country","operator":"Equal","value":"{{currentUser.tags.country}}"}</code>. User attributes: <code>id</code>, <code>email</code>, <code>team</code>, <code>role</code>, <code>timezone</code>, <code>permissionLevel</code> and <code>tags.&lt;key&gt;</code>; if a value is missing, no records are visible. Empty: ${otherwise}.`,
  })}${isKnown && html`<p><button class="plain slim" name="do" value="rows">Show as rows</button></p>`}`;
}

/** Maximum number of people in the selection; members come first. */
const PEOPLE = 200;

async function previewSection(target: ScopeTarget, { store }: Parts, chosen = ''): Promise<Html> {
  const { collection, environment, served, team } = target;
  if (collection === '*') return html`<p class="quietly">You can try the rule on the page of one collection.</p>`;
  if (environment !== served)
    return html`<p class="quietly">You cannot try the rule here: this process serves ${served}.</p>`;
  const users = (await store.identity.listUsers()).filter(({ disabled }) => !disabled);
  const isMember = (user: User) => user.team === team;
  const ordered = [...users.filter(isMember), ...users.filter((user) => !isMember(user))].slice(0, PEOPLE);
  const options = ordered.map(
    (user): Option => [`${user.id}`, `${nameOf(user)} (${user.email})${isMember(user) ? '' : `, ${user.team}`}`],
  );
  return html`<div class="try">${selectField({ id: 'person', label: 'Count visible records for', value: chosen, options })}<button class="plain slim" name="action" value="try">Count</button></div>`;
}

export async function changeScope(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await readScopeTarget(request, parts);
  const { team, environment, collection, rights, model } = target;
  const { form } = request;
  const rows = hasRows(form) ? readRows(form, model.describe, collection) : undefined;
  const built = rows && toFilter(rows, model.describe, collection);
  const typed = rows ? (built === undefined ? '' : JSON.stringify(built, null, 2)) : (form.get('filter') ?? '');
  const person = form.get('person') ?? '';
  const pressed = form.get('do');
  if (pressed === 'json') return scopeAnswer(request, parts, target, { edited: { rows: undefined, typed }, person });
  const read = typed.trim() === '' ? undefined : readFilter(typed, collection, model);
  const edited = { rows, typed };
  if (pressed !== null && pressed !== 'rows') return scopeAnswer(request, parts, target, { edited, person });
  if (read && 'problem' in read) return scopeAnswer(request, parts, target, { edited, person, problem: read.problem });
  const filter = read?.filter;
  if (pressed === 'rows') {
    const shown = model.collections.includes(collection) ? safeRows(filter, collection, model) : undefined;
    const problem = shown ? {} : { problem: 'The rows cannot show this filter. It stays JSON.' };
    return scopeAnswer(request, parts, target, { edited: { rows: shown, typed }, person, ...problem });
  }
  if (rows && isUnfinished(rows))
    return scopeAnswer(request, parts, target, {
      edited,
      person,
      problem: 'A condition has no value. Enter one, or remove the condition.',
    });
  if (form.get('action') === 'try') {
    const preview = await countFor(Number(person), filter, target, parts);
    return scopeAnswer(request, parts, target, { edited, person, preview });
  }
  const about = { kind: 'scope', path: [team, environment, collection] } as const;
  const isUnchanged = filter === undefined && rightOf(rights, 'scope', ...about.path) === undefined;
  const proposed = isUnchanged ? [] : [{ ...about, ...(filter !== undefined && { value: filter }) }];
  return reviewProposal(request, parts, { about, wanted: proposed, base: request.form.get('base') ?? '' }, rights);
}

async function countFor(
  userId: number,
  filter: PlainFilter | undefined,
  target: ScopeTarget,
  { store, engine }: Parts,
): Promise<Html> {
  const { collection, team, environment, served, rights } = target;
  const access = Number.isSafeInteger(userId) ? await store.permissions.accessOf(userId) : undefined;
  if (!access || environment !== served || collection === '*') return html`<p class="warning">Choose a person.</p>`;
  const { caller } = access;
  const name = `${caller.firstName} ${caller.lastName}`.trim() || caller.email;
  const effective = filter ?? (rightOf(rights, 'scope', team, environment, '*') as PlainFilter | undefined);
  // The person's rights with this row scope in place of the stored one. It only counts records and returns no data.
  const tried: Access = {
    ...access,
    scope: (of) =>
      of === collection ? (effective === undefined ? null : fillScope(effective, caller)) : access.scope(of),
  };
  const unlimited: Access = { ...access, scope: (of) => (of === collection ? null : access.scope(of)) };
  try {
    const [now, then, all] = [
      await engine.count(access, { collection }),
      await engine.count(tried, { collection }),
      await engine.count(unlimited, { collection }),
    ];
    const figures = new Intl.NumberFormat('en');
    return html`<div class="state${then > now ? ' wait' : ''}" role="status"><div><b>${name} would see ${figures.format(then)} of ${figures.format(all)} ${collection}</b><span>${figures.format(now)} now${caller.team !== team && html`, in the team ${caller.team}`}.</span></div></div>`;
  } catch (error) {
    if (isAppError(error, 'UNKNOWN_COLLECTION') || isAppError(error, 'FORBIDDEN'))
      return html`<p class="warning" role="status">${name} cannot browse '${collection}': the role ${caller.role} does not allow it.</p>`;
    if (isAppError(error) && error.code !== 'INTERNAL')
      return html`<p class="warning" role="status">The count failed: ${error.message}</p>`;
    throw error;
  }
}
