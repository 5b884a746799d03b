// Consent: the person sees who asks for what, chooses how much of it, and what he chose becomes a grant with its limits. It is
// remembered by user, client and scopes: what was decided is asked again only when more is asked for, with what was chosen
// filled in.
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { User } from '../store/identity-types.ts';
import type { Store } from '../store/store.ts';
import {
  type Choice,
  covers,
  describeChoice,
  fillIn,
  limitsOf,
  limitsOfDecision,
  readChoice,
  scopesOf,
} from './choice.ts';
import { describeRedirect } from './clients.ts';
import { connectionProperty, type GrantedConnection, secondsLeft } from './connection.ts';
import { consentPage } from './consent-view.ts';
import type { Note, Step } from './interaction.ts';
import { sendPage } from './page.ts';
import type { Paths } from './paths.ts';
import { isResourceScope, offlineAccess, type ResourceScope, resourceScopes } from './scopes.ts';

/** Names of the collections that somebody may see, sorted as they are to be shown. */
export type ListCollections = (access: Access) => readonly string[];

export interface ConsentParts {
  readonly provider: Provider;
  readonly store: Store;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  readonly listCollections: ListCollections;
  readonly note: Note;
}

export interface Consent {
  show(step: Step, user: User): Promise<void>;
  /** The form again, with what is chosen so far and the collections that are looked for. */
  look(step: Step, user: User, form: URLSearchParams): Promise<void>;
  /** Answers the id of the grant; undefined when the form was shown again, since something was missing. */
  allow(step: Step, user: User, form: URLSearchParams): Promise<string | undefined>;
}

/** What a form shows of a choice beside the choice itself. */
interface Shown {
  readonly find?: string;
  readonly problem?: string;
}

export function createConsent({ provider, store, paths, clock, listCollections, note }: ConsentParts): Consent {
  const offeredTo = async (user: User): Promise<readonly string[]> => {
    const access = await store.permissions.accessOf(user.id);
    return access ? listCollections(access) : [];
  };

  const send = async (step: Step, user: User, choice: Choice | undefined, { find, problem }: Shown = {}) => {
    const asked = askedScopes(step.details.params.scope);
    const [offered, decision] = await Promise.all([
      offeredTo(user),
      store.connections.decisionOf(user.id, step.clientId),
    ]);
    const filled = choice ?? fillIn(decision, asked, offered);
    const before = decision ? asked.filter((scope) => decision.scopes.includes(scope)) : [];
    const page = consentPage({
      place: await store.identity.place(),
      client: step.client,
      destination: describeRedirect(`${step.details.params.redirect_uri}`),
      user: { name: `${user.firstName} ${user.lastName}`.trim(), email: user.email, team: user.team, role: user.role },
      scopes: asked,
      before,
      isKnown: decision !== undefined,
      offered,
      choice: filled,
      isSentAgain: choice !== undefined,
      find: find ?? '',
      problem,
      action: step.action,
      csrf: step.csrf,
    });
    sendPage(step.res, problem === undefined ? 200 : 400, page);
  };

  return {
    show: (step, user) => send(step, user, undefined),
    async look(step, user, form) {
      const find = (form.get('find') ?? '').trim().slice(0, 100);
      await send(step, user, readChoice(form, await offeredTo(user)), { find });
    },
    async allow(step, user, form) {
      const asked = askedScopes(step.details.params.scope);
      const choice = readChoice(form, await offeredTo(user));
      if (choice.collections?.length === 0) {
        await send(step, user, choice, { problem: 'Choose at least one collection, or all of them.' });
        return undefined;
      }
      const granted = scopesOf(choice, asked);
      const limits = limitsOf(choice, clock.now());
      const earlier = await store.connections.decisionOf(user.id, step.clientId);
      const grantId = await saveGrant(provider, clock, {
        accountId: `${user.id}`,
        clientId: step.clientId,
        resource: paths.resource,
        granted,
        refused: asked.filter((scope) => !granted.includes(scope)),
        offline: `${step.details.params.scope}`.split(' ').includes(offlineAccess),
        connection: {
          clientName: step.client.name,
          returnsTo: describeRedirect(`${step.details.params.redirect_uri}`),
          limits,
        },
      });
      const told = describeChoice(choice);
      await store.connections.decide({
        userId: user.id,
        clientId: step.clientId,
        clientName: step.client.name,
        asked,
        scopes: granted,
        choice,
        endsAt: limits.endsAt,
        told: { clientId: step.clientId, scopes: granted, ...limits },
      });
      const more = earlier && granted.some((scope) => !earlier.scopes.includes(scope));
      const detail = [granted.join(' '), told].filter(Boolean).join('; ');
      note(step, more ? 'consent.stepped-up' : 'consent.allowed', user.id, detail);
      return grantId;
    },
  };
}

export interface NewGrant {
  readonly accountId: string;
  readonly clientId: string;
  readonly resource: string;
  readonly granted: readonly string[];
  readonly refused: readonly string[];
  readonly offline: boolean;
  readonly connection: GrantedConnection;
}

export async function saveGrant(provider: Provider, clock: Pick<Clock, 'now'>, given: NewGrant): Promise<string> {
  const grant = makeGrant(provider, clock, given);
  return grant.save();
}

function makeGrant(provider: Provider, clock: Pick<Clock, 'now'>, given: NewGrant) {
  const { accountId, clientId, resource, granted, refused, offline, connection } = given;
  const seconds = secondsLeft(connection.limits, clock.now());
  // The types of the package do not know that a grant can be given a life of its own.
  const life = Number.isFinite(seconds) ? { expiresIn: seconds } : {};
  const grant = new provider.Grant({ accountId, clientId, ...life });
  Object.assign(grant, { [connectionProperty]: connection });
  grant.addOIDCScope([...granted, ...(offline ? [offlineAccess] : [])].join(' '));
  grant.addResourceScope(resource, granted.join(' '));
  if (refused.length > 0) {
    grant.rejectOIDCScope(refused.join(' '));
    grant.rejectResourceScope(resource, refused.join(' '));
  }
  return grant;
}

/** In a fixed order; the first is always granted when the user allows at all, the others can be left out. */
export function askedScopes(scope: unknown): readonly ResourceScope[] {
  const asked = new Set(`${scope ?? ''}`.split(' ').filter(isResourceScope));
  return resourceScopes.filter((name) => asked.has(name));
}

/**
 * Each authorization gets a grant of its own, so that revoking one connection leaves the user's others alone. When what is
 * asked for was decided before, the new one is made without asking, within the limits of that decision and until it ends.
 * Clients on a device are always asked for, since any program there can claim to be one (RFC 8252 section 8.6).
 */
export async function rememberConsent(
  ctx: KoaContextWithOIDC,
  { store, clock }: { readonly store: Pick<Store, 'connections'>; readonly clock: Pick<Clock, 'now'> },
) {
  const { provider, client, account, result, params } = ctx.oidc;
  const answered = result?.consent?.grantId;
  if (answered) return provider.Grant.find(answered);
  if (!client || !account || client.applicationType === 'native') return undefined;
  if (`${params?.prompt ?? ''}`.split(' ').includes('consent')) return undefined;
  const asked = askedScopes(params?.scope);
  const resource = Object.keys(ctx.oidc.resourceServers ?? {})[0];
  if (resource === undefined) return undefined;
  const decision = await store.connections.decisionOf(Number(account.accountId), client.clientId);
  if (!decision || !covers(decision, asked, clock.now())) return undefined;
  const limits = limitsOfDecision(decision);
  if (!limits) return undefined;
  const grant = makeGrant(provider, clock, {
    accountId: account.accountId,
    clientId: client.clientId,
    resource,
    granted: asked,
    refused: [],
    offline: false,
    connection: {
      clientName: shownName(client.clientName),
      returnsTo: describeRedirect(`${params?.redirect_uri}`),
      limits,
    },
  });
  await grant.save();
  return grant;
}

/** What a client calls itself. */
export function shownName(name: string | undefined): string {
  return name?.trim() || 'An unnamed app';
}
