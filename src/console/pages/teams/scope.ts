// The row scope of one team on one collection: a filter as JSON. An invalid filter is shown again with the location of
// the error. A filter can be tested before saving: the page counts the records that one person would see. The engine
// counts with that person's rights, and the page shows only numbers.
import type { Access } from '../../../core/caller.ts';
import { fail, isAppError } from '../../../core/errors.ts';
import type { PlainFilter } from '../../../core/filter.ts';
import { type Html, html } from '../../../http/html.ts';
import { fillScope } from '../../../store/permissions/scopes.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { areaField, formOf, type Option, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { nameOf } from '../people/list.ts';
import { type ModelNames, readModel } from '../rights/model.ts';
import { collectionPage, factOf, scopePage, teamPage } from '../rights/places.ts';
import { baseOf } from '../rights/proposal.ts';
import { findReadOnlyScopes } from '../rights/read-only.ts';
import { reviewProposal } from '../rights/review.ts';
import { readFilter } from '../roles/permission.ts';
import { type AskedTeam, askTeam, scopeText } from './team.ts';

const under = '/teams';

interface AskedScope extends AskedTeam {
  readonly collection: string;
  readonly model: ModelNames;
}

async function askScope(visit: MemberVisit, parts: Parts): Promise<AskedScope> {
  const asked = await askTeam(visit, parts);
  const model = readModel(parts.engine, visit.access.caller);
  const collection = visit.params.collection!;
  const { rights, team, environment } = asked;
  const isThere =
    collection === '*' ||
    model.collections.includes(collection) ||
    factOf(rights, 'scope', team, environment, collection) !== undefined;
  return isThere ? { ...asked, collection, model } : fail('NOT_FOUND', { path: parts.paths.path(teamPage(team)) });
}

interface Shown {
  readonly typed?: string;
  readonly problem?: string;
  readonly preview?: Html;
  readonly person?: string;
}

export async function showScope(visit: MemberVisit, parts: Parts): Promise<Answer> {
  return scopeAnswer(visit, parts, await askScope(visit, parts), {});
}

async function scopeAnswer(visit: MemberVisit, parts: Parts, asked: AskedScope, shown: Shown): Promise<Answer> {
  const { team, environment, served, collection, rights, suffix, model } = asked;
  const { paths } = parts;
  const about = { kind: 'scope', path: [team, environment, collection] } as const;
  const is = factOf(rights, 'scope', ...about.path);
  const rest = collection === '*' ? undefined : factOf(rights, 'scope', team, environment, '*');
  const name = collection === '*' ? 'Every other collection' : collection;
  const base = visit.form.get('base') ?? baseOf(rights, about);
  const typed = shown.typed ?? (is === undefined ? '' : JSON.stringify(is, null, 2));
  const { problem } = shown;
  const readOnly = environment !== served ? [] : findReadOnlyScopes(rights, environment, model);
  const [unclear] = is === undefined ? [] : model.findUnclear(collection, is as PlainFilter);
  const content = html`<p class="quietly"><a href="${paths.path(under)}">Teams</a> / <a href="${paths.path(teamPage(team))}${suffix}">${team}</a></p><h1>${name}</h1>
<p class="lead">In ${environment}, ${team} sees ${scopeText(is) ?? scopeText(rest) ?? 'every record'}${is === undefined && rest !== undefined && ', as every other collection says'}.${model.collections.includes(collection) && html` <a href="${paths.path(collectionPage(collection))}">What is in it</a>`}</p>
${collection !== '*' && !model.collections.includes(collection) && html`<p class="warning">The model has no collection of this name. The rule does nothing until there is one.</p>`}
${unclear !== undefined && html`<p class="warning">This rule goes on meaning what it did, and cannot be saved again as it is. ${unclear}</p>`}
${readOnly.filter(({ right: { path } }) => path[0] === team && path[2] === collection).map(({ text }) => html`<p class="warning">${text}</p>`)}
${formOf(visit, parts, scopePage(team, collection))}<input type="hidden" name="in" value="${environment}"><input type="hidden" name="base" value="${base}">
${areaField({
  id: 'filter',
  label: 'Only records that satisfy, as JSON',
  value: typed,
  rows: Math.min(20, Math.max(6, typed.split('\n').length + 1)),
  problem,
  hint: html`Such as <code>{"field":"country","operator":"Equal","value":"{{currentUser.tags.country}}"}</code>. Of whoever asks there are <code>id</code>, <code>email</code>, <code>team</code>, <code>role</code>, <code>timezone</code>, <code>permissionLevel</code> and <code>tags.&lt;key&gt;</code>; where a value is missing, nothing is seen. Empty: ${collection === '*' ? 'every record' : 'as every other collection says'}.`,
})}
${shown.preview}
${await tryOut(asked, parts, shown.person)}
<div class="row-of-buttons"><button class="primary slim" name="action" value="review">Look at the changes</button></div></form>`;
  const title = `${name}, ${team}`;
  const page = createFramed(visit, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page, ...(problem !== undefined && { status: 400 }) };
}

/** Maximum number of people in the selection; members come first. */
const PEOPLE = 200;

async function tryOut(asked: AskedScope, { store }: Parts, chosen = ''): Promise<Html> {
  const { collection, environment, served, team } = asked;
  if (collection === '*') return html`<p class="quietly">It can be tried on the page of one collection.</p>`;
  if (environment !== served)
    return html`<p class="quietly">It cannot be tried here: this process serves ${served}.</p>`;
  const users = (await store.identity.listUsers()).filter(({ disabled }) => !disabled);
  const isMember = (user: User) => user.team === team;
  const ordered = [...users.filter(isMember), ...users.filter((user) => !isMember(user))].slice(0, PEOPLE);
  const options = ordered.map(
    (user): Option => [`${user.id}`, `${nameOf(user)} (${user.email})${isMember(user) ? '' : `, ${user.team}`}`],
  );
  return html`<div class="try">${selectField({ id: 'person', label: 'See how many records it shows to', value: chosen, options })}<button class="plain slim" name="action" value="try">Count</button></div>`;
}

export async function changeScope(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const asked = await askScope(visit, parts);
  const { team, environment, collection, rights, model } = asked;
  const typed = visit.form.get('filter') ?? '';
  const person = visit.form.get('person') ?? '';
  const read = typed.trim() === '' ? undefined : readFilter(typed, collection, model);
  if (read && 'problem' in read) return scopeAnswer(visit, parts, asked, { typed, person, problem: read.problem });
  const filter = read?.filter;
  if (visit.form.get('action') === 'try') {
    const preview = await countFor(Number(person), filter, asked, parts);
    return scopeAnswer(visit, parts, asked, { typed, person, preview });
  }
  const about = { kind: 'scope', path: [team, environment, collection] } as const;
  const isSo = filter === undefined && factOf(rights, 'scope', ...about.path) === undefined;
  const wanted = isSo ? [] : [{ ...about, ...(filter !== undefined && { value: filter }) }];
  return reviewProposal(visit, parts, { about, wanted, base: visit.form.get('base') ?? '' }, rights);
}

async function countFor(
  userId: number,
  filter: PlainFilter | undefined,
  asked: AskedScope,
  { store, engine }: Parts,
): Promise<Html> {
  const { collection, team, environment, served, rights } = asked;
  const access = Number.isSafeInteger(userId) ? await store.permissions.accessOf(userId) : undefined;
  if (!access || environment !== served || collection === '*') return html`<p class="warning">Choose a person.</p>`;
  const { caller } = access;
  const name = `${caller.firstName} ${caller.lastName}`.trim() || caller.email;
  const effective = filter ?? (factOf(rights, 'scope', team, environment, '*') as PlainFilter | undefined);
  // The person's rights with this row scope in place of the stored one. It only counts records and returns no data.
  const tried: Access = {
    ...access,
    scope: (of) =>
      of === collection ? (effective === undefined ? null : fillScope(effective, caller)) : access.scope(of),
  };
  try {
    const [now, then] = [await engine.count(access, { collection }), await engine.count(tried, { collection })];
    const figures = new Intl.NumberFormat('en');
    return html`<div class="state${then > now ? ' wait' : ''}" role="status"><div><b>${name} would see ${figures.format(then)} ${then === 1 ? 'record' : 'records'}</b><span>${figures.format(now)} now${caller.team !== team && html`, as one of ${caller.team}`}.</span></div></div>`;
  } catch (error) {
    if (isAppError(error, 'UNKNOWN_COLLECTION') || isAppError(error, 'FORBIDDEN'))
      return html`<p class="warning" role="status">${name} may not browse '${collection}' at all: the role ${caller.role} does not allow it.</p>`;
    if (isAppError(error) && error.code !== 'INTERNAL')
      return html`<p class="warning" role="status">It could not be counted: ${error.message}</p>`;
    throw error;
  }
}
