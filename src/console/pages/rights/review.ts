// The review step between a permission form and the change. It explains the effect in words and marks newly granted
// rights as warnings. Only its form saves the change. If the rights have changed meanwhile, a page shows both versions.
import { verbs } from '../../../core/caller.ts';
import type { PlainFilter } from '../../../core/filter.ts';
import { type Html, html } from '../../../http/html.ts';
import { diffRights } from '../../../store/permissions/rights.ts';
import { describeEffects, describeFilter, type SignedDescription } from '../../../store/permissions/rights-words.ts';
import type { CollectionPermission, Right, RightChange } from '../../../store/permissions/types.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { readModel } from './model.ts';
import { rolePage, teamPage } from './places.ts';
import { applyProposal, applyTo, baseOf, type Proposal, propose, readProposal } from './proposal.ts';
import { findReadOnlyScopes } from './read-only.ts';

const reviewed = '/rights';

/** Page to return to after the change. */
function targetPage({ about, wanted }: Proposal, served: string): string {
  const { kind, path } = about;
  const [name, environment] = path as [string, string?];
  const isRole = kind === 'role' || kind === 'permission';
  const isRemoved = wanted.some((one) => (one.kind === 'role' || one.kind === 'team') && one.value === undefined);
  if (isRemoved) return isRole ? '/roles' : '/teams';
  const page = isRole ? rolePage(name) : teamPage(name);
  const more = environment === undefined || environment === served ? '' : `?in=${encodeURIComponent(environment)}`;
  return page + more;
}

const underOf = ({ about: { kind } }: Proposal): string =>
  kind === 'role' || kind === 'permission' ? '/roles' : '/teams';

export async function reviewProposal(
  request: SignedInRequest,
  parts: Parts,
  proposal: Proposal,
  rights: readonly Right[],
): Promise<Answer> {
  if (baseOf(rights, proposal.about) !== proposal.base) return conflictPage(request, parts, proposal, rights);
  const after = applyTo(rights, proposal);
  const effects = describeEffects(rights, after);
  const readOnly = newReadOnly(rights, after, request, parts);
  const back = parts.paths.path(targetPage(proposal, request.place.environment));
  const concerned = countConcerned(diffRights(rights, after), await parts.store.identity.listUsers());
  const content =
    effects.length === 0
      ? html`<h1>No changes</h1>${empty('These settings are already saved', html`<a href="${back}">Go back</a>`)}`
      : html`<h1>Save these changes?</h1>
<p class="lead">${concerned} Takes effect immediately.</p>
${effectList(effects)}
${readOnly.map((text) => html`<p class="warning">${text}</p>`)}
${openForm(request, parts, reviewed)}${carried(proposal)}
<div class="pair"><a class="button plain" href="${back}">Back</a><button class="primary" name="action" value="apply">Save</button></div></form>`;
  const title = effects.length === 0 ? 'No changes' : 'Save these changes?';
  return { page: createFramedPage(request, parts, { title, under: underOf(proposal), content }) };
}

/**
 * Row scopes that become read-only with the change. Checks only the served environment, because other models are
 * unknown.
 */
function newReadOnly(
  before: readonly Right[],
  after: readonly Right[],
  { access, place }: SignedInRequest,
  { engine }: Parts,
): readonly string[] {
  const model = readModel(engine, access.caller);
  const textsOf = (rights: readonly Right[]) =>
    findReadOnlyScopes(rights, place.environment, model).map(({ text }) => text);
  const previousTexts = new Set(textsOf(before));
  return textsOf(after).filter((text) => !previousTexts.has(text));
}

const carried = (proposal: Proposal): Html =>
  html`<input type="hidden" name="proposal" value="${JSON.stringify(proposal)}">`;

function effectList(effects: readonly SignedDescription[]): Html {
  const [opening, others] = [effects.filter(({ opens }) => opens), effects.filter(({ opens }) => !opens)];
  const list = (some: readonly SignedDescription[]) => html`<ul>${some.map(({ text }) => html`<li>${text}</li>`)}</ul>`;
  return html`${opening.length > 0 && html`<section class="effects opens" aria-labelledby="opens"><h2 id="opens">Allows more than before</h2>${list(opening)}</section>`}
${others.length > 0 && html`<section class="effects" aria-labelledby="others"><h2 id="others">${opening.length > 0 ? 'Other changes' : 'Changes'}</h2>${list(others)}</section>`}`;
}

function countConcerned(changes: readonly RightChange[], users: readonly User[]): string {
  const owners = new Set(
    changes.flatMap(({ kind, path }) => {
      if (kind === 'permission' || kind === 'role') return [`role ${path[0]}`];
      return kind === 'scope' || kind === 'team' ? [`team ${path[0]}`] : [];
    }),
  );
  const count = users.filter(
    ({ role, team, disabled }) => !disabled && (owners.has(`role ${role}`) || owners.has(`team ${team}`)),
  ).length;
  if (count === 0) return 'Affects no users yet.';
  return `Affects ${count === 1 ? 'one user' : `${count} users`}.`;
}

/** Handles the form of the review page and of the conflict page. */
export async function answerReview(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const proposal = readProposal(request.form.get('proposal') ?? '');
  if (request.form.get('action') !== 'apply') {
    // Propose the change again on top of the current rights.
    const rights = await parts.store.rights.read();
    return reviewProposal(request, parts, propose(rights, proposal.about, proposal.wanted), rights);
  }
  const applied = await applyProposal(parts.store, proposal, request.access.caller.id);
  const pageAfter = targetPage(proposal, request.place.environment);
  if (applied.state === 'done') return { to: `${pageAfter}${pageAfter.includes('?') ? '&' : '?'}done=saved` };
  if (applied.state === 'conflict') return conflictPage(request, parts, proposal, applied.rights);
  return refusal(request, parts, { under: underOf(proposal), problem: applied.problem, back: pageAfter });
}

/** Shows both: the current rights, and the result of the proposal on top of them. */
function conflictPage(request: SignedInRequest, parts: Parts, proposal: Proposal, rights: readonly Right[]): Answer {
  const { about } = proposal;
  const after = applyTo(rights, proposal);
  const changes = diffRights(rights, after);
  const title = 'Another administrator changed this in the meantime';
  const content = html`<h1>${title}</h1>
<p class="state bad" role="alert"><span><b>Your changes are not saved</b>Another administrator changed ${about.path[0]} after you opened the page. Compare the two versions.</span></p>
${
  changes.length > 0
    ? table({
        caption: 'Current settings and your changes',
        heads: ['Setting', 'Current', 'Yours'],
        rows: changes.map(({ kind, path, before, after }) => [
          path[2] === '*' ? 'every other collection' : (path[2] ?? path[0]),
          describeValue(kind, before),
          describeValue(kind, after),
        ]),
      })
    : empty('The other administrator made the same change', 'You have no changes left to save.')
}
${changes.length > 0 && html`<h2 class="plainly">Effect of your changes now</h2>${effectList(describeEffects(rights, after))}`}
${openForm(request, parts, reviewed)}${carried(proposal)}
<div class="pair"><a class="button primary" href="${parts.paths.path(targetPage(proposal, request.place.environment))}">Keep the current settings</a>${changes.length > 0 && html`<button class="plain" name="action" value="review">Continue with mine</button>`}</div></form>`;
  return { status: 409, page: createFramedPage(request, parts, { title, under: underOf(proposal), content }) };
}

/** Short summary of a permission or filter, for comparison. */
function describeValue(kind: Right['kind'], value: unknown): Html | string {
  if (value === undefined) return html`<span class="quietly">not set</span>`;
  if (kind === 'scope') return `records where ${describeFilter(value as PlainFilter)}`;
  if (kind !== 'permission') return String(value);
  const permission = value as CollectionPermission;
  const may = verbs.filter((verb) => permission[verb]).join(', ') || 'nothing';
  const { fields, actions, approval } = permission;
  const rest = { ...(fields && { fields }), ...(approval && { approval }), ...(actions && { actions }) };
  return html`may ${may}${Object.keys(rest).length > 0 && html`<small><code>${JSON.stringify(rest)}</code></small>`}`;
}

/** Error page with the reason. Status 409, because the stored rights prevent the change, not the form. */
export function refusal(
  request: SignedInRequest,
  parts: Parts,
  { under, problem, back }: { readonly under: string; readonly problem: string; readonly back: string },
): Answer {
  const title = 'Your changes are not saved';
  const text = `${problem[0]?.toUpperCase() ?? ''}${problem.slice(1)}`;
  const content = html`<h1>${title}</h1><p class="lead" role="alert">${text}</p>
<p><a class="button plain" href="${parts.paths.path(back)}">Back</a></p>`;
  return { status: 409, page: createFramedPage(request, parts, { title, under, content }) };
}
