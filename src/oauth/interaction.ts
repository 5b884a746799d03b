// Signing in and consenting. The checks of an answer, in order: the interaction exists and its cookie is the one of the
// address (oidc-provider), same site, CSRF token, not answered before; then what the answer itself needs.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import type { Clock } from '../core/clock.ts';
import { isAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { sameText, sign } from '../core/secret.ts';
import type { User } from '../store/identity-types.ts';
import type { Store } from '../store/store.ts';
import { describeRedirect, isDocumentClient, terminal } from './clients.ts';
import { createConsent, type ListCollections, shownName } from './consent.ts';
import { createDeviceConsent } from './device-consent.ts';
import { type DeviceCookie, readDevice, writeDevice } from './devices.ts';
import { createFederation } from './federation.ts';
import { completeSignIn, forgetSession } from './login.ts';
import { messagePage, sendPage } from './page.ts';
import type { Paths } from './paths.ts';
import { originalOf } from './request.ts';
import type { SignIn, SignInAnswer } from './sign-in.ts';
import { readCode, readCredentials, throttledText, wrongCode, wrongPassword } from './sign-in-form.ts';
import type { SignInWays } from './sign-in-ways.ts';
import { codePage, type ShownClient, signInPage } from './views.ts';

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

export interface InteractionOptions {
  readonly provider: Provider;
  /** Newest first. */
  readonly cookieKeys: readonly string[];
  readonly store: Store;
  readonly signIn: SignIn;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
  readonly addressOf: (req: object) => string;
  readonly listCollections: ListCollections;
  readonly ways: SignInWays;
  /** Resource of the command line; absent where it may not sign in. */
  readonly cloud?: string | undefined;
}

export interface Interaction {
  show(req: IncomingMessage, res: ServerResponse, uid: string): Promise<void>;
  answer(req: IncomingMessage, res: ServerResponse, uid: string, form: URLSearchParams): Promise<void>;
  /** Somebody comes back from the OpenID provider. */
  finishSso(req: IncomingMessage, res: ServerResponse, query: URLSearchParams): Promise<void>;
}

export interface Step {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly details: Details;
  readonly client: ShownClient;
  readonly clientId: string;
  readonly csrf: string;
  readonly action: string;
}

/** Tells the operator. */
export type Note = (step: Step, event: string, userId?: number, detail?: string) => void;

export const expiredPage = messagePage({
  title: 'This sign-in has expired',
  text: 'It was not finished in time, or was finished already. Go back to your assistant and connect again.',
});

export const blockedPage = messagePage({
  title: 'This app is blocked here',
  text: 'An administrator does not let it connect. Nothing was sent to it.',
});

export function createInteraction(options: InteractionOptions): Interaction {
  const { provider, cookieKeys, store, paths, observe, ways } = options;
  const federation = createFederation(options);
  const device = deviceCookie(paths);

  const begin = async (req: IncomingMessage, res: ServerResponse, uid: string): Promise<Step | undefined> => {
    const details = await provider.interactionDetails(req, res).catch((error: unknown) => {
      if ((error as Error).name === 'SessionNotFound') return undefined;
      throw error;
    });
    // OWASP session management: the page is the one that this browser was sent to.
    if (!details || details.uid !== uid) {
      sendPage(res, details ? 404 : 400, expiredPage);
      return undefined;
    }
    const clientId = `${details.params.client_id}`;
    const client = await provider.Client.find(clientId).catch((error: unknown) => {
      if ((error as { error?: unknown }).error === 'unauthorized_client') return 'blocked' as const;
      throw error;
    });
    if (!client || client === 'blocked') {
      sendPage(res, 400, client ? blockedPage : expiredPage);
      return undefined;
    }
    const verified = isDocumentClient(clientId) ? { verifiedHost: new URL(clientId).host } : {};
    return {
      req,
      res,
      details,
      clientId,
      client: { name: shownName(client.clientName), ...verified },
      csrf: makeCsrf(details, cookieKeys[0] ?? ''),
      action: paths.interaction(uid),
    };
  };

  const note: Note = (step, event, userId, detail) =>
    observe({
      type: 'security',
      event,
      clientId: step.clientId,
      address: options.addressOf(step.req),
      ...(userId === undefined ? {} : { userId }),
      ...(detail === undefined ? {} : { detail }),
    });

  const consent = createConsent({ ...options, note });
  const deviceConsent = createDeviceConsent({ ...options, resource: options.cloud ?? '', note });

  const finish = (step: Step, result: InteractionResults, merge: boolean) =>
    provider.interactionFinished(step.req, step.res, result, { mergeWithLastSubmission: merge });

  const showSignIn = async (step: Step, email: string, problem?: string, status?: number): Promise<void> => {
    const { deviceCode, params } = step.details;
    const destination = deviceCode === undefined ? describeRedirect(`${params.redirect_uri}`) : terminal;
    const page = signInPage({
      place: await store.identity.place(),
      // Only an answer to the web goes to the host that was verified.
      client: destination.kind === 'web' ? step.client : { name: step.client.name },
      action: step.action,
      csrf: step.csrf,
      email,
      problem,
      ways,
      hostUrl: ways.host?.signInUrl(paths.origin + step.action),
    });
    const closed = ways.host !== undefined && !ways.passwords && ways.host.signInUrl('') === undefined;
    sendPage(step.res, status ?? (problem === undefined ? (closed ? 401 : 200) : 400), page);
  };

  const showCode = async (step: Step, ticket: string, problem?: string): Promise<void> => {
    const { action, csrf, client } = step;
    const page = codePage({ place: await store.identity.place(), client, action, csrf, ticket, problem });
    sendPage(step.res, problem === undefined ? 200 : 400, page);
  };

  const showConsent = async (step: Step): Promise<void> => {
    const user = await findUser(step);
    if (!user) return sendPage(step.res, 400, expiredPage);
    if (step.details.deviceCode !== undefined) return deviceConsent.show(step, user);
    await consent.show(step, user);
  };

  const findUser = async (step: Step): Promise<User | undefined> => {
    const user = await store.identity.findUser(Number(step.details.session?.accountId));
    return user?.disabled ? undefined : user;
  };

  const signIn = async (step: Step, form: URLSearchParams): Promise<void> => {
    const credentials = readCredentials(form);
    const answer = await options.signIn.password({ ...credentials, ...guesserOf(step) });
    if (answer.state === 'failed') {
      note(step, 'sign-in.failed');
      return showSignIn(step, credentials.email, wrongPassword);
    }
    if (answer.state === 'code') {
      note(step, 'sign-in.half', answer.user.id);
      return showCode(step, answer.ticket);
    }
    await settle(step, answer);
  };

  const secondStep = async (step: Step, form: URLSearchParams): Promise<void> => {
    const sent = readCode(form);
    const answer = await options.signIn.code({ ...sent, ...guesserOf(step) });
    if (answer.state === 'failed') {
      note(step, 'totp.failed', answer.userId);
      return showCode(step, sent.ticket, wrongCode);
    }
    if (answer.state === 'ok') note(step, `totp.${answer.by}`, answer.user.id);
    await settle(step, answer);
  };

  // The second step is held to the interaction, of which the browser alone has the cookie.
  const guesserOf = (step: Step) => ({
    address: options.addressOf(step.req),
    device: readDevice(step.req, device.name),
    binding: `interaction ${step.details.uid}`,
  });

  const settle = async (step: Step, answer: SignInAnswer): Promise<void> => {
    note(step, `sign-in.${answer.state}`, answer.state === 'ok' ? answer.user.id : undefined);
    if (answer.state === 'throttled') return sendThrottled(step.res, answer.retryAfterSeconds);
    if (answer.state !== 'ok') return showSignIn(step, '', 'That took too long. Sign in again.');
    step.res.appendHeader('Set-Cookie', writeDevice(device, answer.device));
    const { user, since } = answer;
    redirect(step.res, await completeSignIn(options, step.details, { userId: user.id, issuer: null, since }));
  };

  /** Whoever the host application says is there, without a page of ours; consent is asked for after it. */
  const signInByHost = async (step: Step): Promise<boolean> => {
    const { host } = ways;
    if (!host) return false;
    const answer = await host.ask(originalOf(step.req));
    if (answer.state === 'nobody') return false;
    note(
      step,
      `sign-in.${answer.state}`,
      answer.state === 'ok' ? answer.user.id : undefined,
      answer.state === 'refused' ? answer.why : undefined,
    );
    if (answer.state === 'refused') {
      await showSignIn(step, '', 'Your account cannot be used here. Ask an administrator to let you in.', 403);
      return true;
    }
    redirect(step.res, await completeSignIn(options, step.details, { userId: answer.user.id, issuer: host.issuer }));
    return true;
  };

  /** What is consented to is consented to by whoever the host says is there now. */
  const isStillThere = async (step: Step): Promise<boolean> => {
    const { accountId, acr } = step.details.session ?? {};
    if (!ways.host || accountId === undefined) return true;
    const still = await ways.host.isStill(originalOf(step.req), Number(accountId), acr === ways.host.issuer);
    if (!still) note(step, 'sign-in.changed', Number(accountId));
    return still;
  };

  const beginSso = async (step: Step, again: boolean): Promise<void> => {
    const loginHint = step.details.params.login_hint;
    const hint = typeof loginHint === 'string' ? loginHint.slice(0, 254) : undefined;
    try {
      await federation.begin(step.req, step.res, { uid: step.details.uid, again, hint });
    } catch (error) {
      if (!isAppError(error, 'SSO_UNAVAILABLE')) throw error;
      await showSignIn(step, '', error.message, error.status);
    }
  };

  const look = async (step: Step, form: URLSearchParams): Promise<void> => {
    const user = await findUser(step);
    if (!user || step.details.deviceCode !== undefined) return sendPage(step.res, 400, expiredPage);
    await consent.look(step, user, form);
  };

  const allow = async (step: Step, form: URLSearchParams): Promise<void> => {
    const user = await findUser(step);
    if (!user) return sendPage(step.res, 400, expiredPage);
    const isDevice = step.details.deviceCode !== undefined;
    const grantId = await (isDevice ? deviceConsent.allow(step, user) : consent.allow(step, user, form));
    if (grantId !== undefined) await finish(step, { consent: { grantId } }, true);
  };

  const deny = async (step: Step): Promise<void> => {
    const accountId = step.details.session?.accountId;
    note(step, 'consent.denied', accountId === undefined ? undefined : Number(accountId));
    // RFC 6749 section 4.1.2.1, RFC 9207 section 2: the client is told, with state and iss.
    await finish(step, { error: 'access_denied', error_description: 'The user did not allow it.' }, false);
  };

  const switchAccount = async (step: Step): Promise<void> => {
    await forgetSession(provider, step.details);
    await step.details.destroy();
    if (step.details.deviceCode !== undefined) return redirect(step.res, await deviceConsent.release(step));
    const again = new URLSearchParams();
    for (const [name, value] of Object.entries(step.details.params)) {
      for (const one of [value].flat()) if (typeof one === 'string') again.append(name, one);
    }
    redirect(step.res, `${paths.url('authorize')}?${again}`);
  };

  return {
    async show(req, res, uid) {
      const step = await begin(req, res, uid);
      if (!step) return;
      if (step.details.result) return redirect(res, step.details.returnTo);
      if (step.details.prompt.name === 'consent') {
        return (await isStillThere(step)) ? showConsent(step) : switchAccount(step);
      }
      if (await signInByHost(step)) return;
      await showSignIn(step, `${step.details.params.login_hint ?? ''}`.slice(0, 254));
    },
    async answer(req, res, uid, form) {
      const step = await begin(req, res, uid);
      if (!step) return;
      // Fetch Metadata: a browser that says where the form came from must say that it was ours.
      const site = req.headers['sec-fetch-site'];
      const sameSite = site === undefined || site === 'same-origin';
      // RFC 6749 section 10.12: the form was made by us, for this interaction, step and session.
      const sent = form.get('csrf') ?? '';
      if (!sameSite || !cookieKeys.some((key) => sameText(sent, makeCsrf(step.details, key)))) {
        note(step, 'interaction.forged');
        return sendPage(res, 400, expiredPage);
      }
      // Single use: a second press of the button leads where the first one did, and changes nothing.
      if (step.details.result) return redirect(res, step.details.returnTo);
      const action = form.get('action');
      const consenting = step.details.prompt.name === 'consent';
      if (action === 'sign-in' && !consenting && ways.passwords) return signIn(step, form);
      if (action === 'code' && !consenting && ways.passwords) return secondStep(step, form);
      if ((action === 'sso' || action === 'sso-again') && !consenting && ways.sso) {
        return beginSso(step, action === 'sso-again');
      }
      if ((action === 'allow' || action === 'find') && consenting) {
        if (!(await isStillThere(step))) return switchAccount(step);
        return action === 'allow' ? allow(step, form) : look(step, form);
      }
      if (action === 'switch' && consenting) return switchAccount(step);
      if (action === 'deny' || action === 'cancel') return deny(step);
      sendPage(res, 400, expiredPage);
    },
    finishSso: federation.finish,
  };
}

/** Beside the cookies of the provider, with names of the same kind. */
function deviceCookie({ secure, origin, prefix }: Paths): DeviceCookie {
  const { port } = new URL(origin);
  return { name: `${secure ? '__Secure-' : ''}portico_device${port && `_${port}`}`, path: `${prefix}/oauth`, secure };
}

function makeCsrf(details: Details, key: string): string {
  return sign(['csrf', details.uid, details.prompt.name, details.session?.cookie ?? ''].join(' '), key);
}

function sendThrottled(res: ServerResponse, seconds: number): void {
  res.setHeader('Retry-After', `${seconds}`);
  const text = throttledText(seconds, 'go back to your assistant and connect again.');
  sendPage(res, 429, messagePage({ title: 'Please wait', text }));
}

/** RFC 9700 section 4.12: 303, so that no browser repeats the form with the password in it. */
function redirect(res: ServerResponse, location: string): void {
  res.writeHead(303, { Location: location, 'Content-Length': '0' }).end();
}
