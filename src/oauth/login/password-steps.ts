// The steps of a sign-in with a password on the pages for assistants: the password, then a code of the authenticator
// app, or the setup of one where the operator requires it.
import type { ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import { messagePage, sendPage } from '../../http/page.ts';
import type { Store } from '../../store/store.ts';
import { type Destination, describeRedirect, terminalDestination } from '../clients/normalize.ts';
import type { Paths } from '../server/paths.ts';
import { completeSignIn, redirect } from './completion.ts';
import type { LogEvent, Step } from './interaction-step.ts';
import { codePage, newCodesPage, setUpPage } from './page.ts';
import { readSetUp, wrongAppCodeText } from './set-up-form.ts';
import type { SignIn, SignInAnswer } from './sign-in.ts';
import { readCode, readCredentials, throttledText, wrongCodeText, wrongPasswordText } from './sign-in-form.ts';
import { formatTrustedBrowserCookie, readTrustedBrowserCookie, type TrustedBrowserCookie } from './trusted-browsers.ts';

interface PasswordStepOptions {
  readonly provider: Provider;
  readonly store: Pick<Store, 'identity' | 'secondFactors'>;
  readonly signIn: SignIn;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  readonly addressOf: (req: object) => string;
  readonly logEvent: LogEvent;
  readonly showSignIn: (step: Step, email: string, problem?: string) => Promise<void>;
}

type PasswordStep = (step: Step, form: URLSearchParams) => Promise<void>;

export function createPasswordSteps(
  options: PasswordStepOptions,
): Readonly<Record<'signIn' | 'code' | 'setUp', PasswordStep>> {
  const { store, paths, logEvent, showSignIn } = options;
  const browserCookie = trustedBrowserCookie(paths);

  // The second step is bound to the interaction: only this browser has its cookie.
  const bindingOf = (step: Step) => `interaction ${step.details.uid}`;
  const attemptContextOf = (step: Step) => ({
    address: options.addressOf(step.req),
    device: readTrustedBrowserCookie(step.req, browserCookie.name),
    binding: bindingOf(step),
  });

  const parts = async (step: Step, ticket: string, problem?: string) => ({
    environment: await store.identity.place(),
    client: step.client,
    destination: destinationOf(step),
    action: step.action,
    csrf: step.csrf,
    ticket,
    problem,
  });

  async function showCode(step: Step, ticket: string, problem?: string): Promise<void> {
    sendPage(step.res, problem === undefined ? 200 : 400, codePage(await parts(step, ticket, problem)));
  }

  async function showSetUp(step: Step, ticket: string, email = '', secret?: string, problem?: string): Promise<void> {
    const page = await parts(step, ticket, problem);
    const app = await store.secondFactors.propose(email, page.environment.organization, secret);
    sendPage(step.res, problem === undefined ? 200 : 400, setUpPage({ ...page, app }));
  }

  async function finish(step: Step, answer: SignInAnswer): Promise<void> {
    logEvent(step, `sign-in.${answer.state}`, answer.state === 'ok' ? answer.user.id : undefined);
    if (answer.state === 'throttled') return sendThrottled(step.res, answer.retryAfterSeconds);
    if (answer.state !== 'ok') return showSignIn(step, '', 'That took too long. Sign in again.');
    step.res.appendHeader('Set-Cookie', formatTrustedBrowserCookie(browserCookie, answer.device));
    const { user, since, recoveryCodes } = answer;
    const next = await completeSignIn(options, step.details, { userId: user.id, issuer: null, since });
    if (!recoveryCodes) return redirect(step.res, next);
    sendPage(step.res, 200, newCodesPage(await store.identity.place(), recoveryCodes, next));
  }

  return {
    async signIn(step, form) {
      const credentials = readCredentials(form);
      const answer = await options.signIn.password({ ...credentials, ...attemptContextOf(step) });
      if (answer.state === 'failed') {
        logEvent(step, 'sign-in.failed');
        return showSignIn(step, credentials.email, wrongPasswordText);
      }
      if (answer.state === 'code' || answer.state === 'set-up') {
        logEvent(step, 'sign-in.half', answer.user.id);
        return answer.state === 'code'
          ? showCode(step, answer.ticket)
          : showSetUp(step, answer.ticket, answer.user.email);
      }
      await finish(step, answer);
    },
    async code(step, form) {
      const submitted = readCode(form);
      const answer = await options.signIn.code({ ...submitted, ...attemptContextOf(step) });
      if (answer.state === 'failed') {
        logEvent(step, 'totp.failed', answer.user?.id);
        return showCode(step, submitted.ticket, wrongCodeText);
      }
      if (answer.state === 'ok') logEvent(step, `totp.${answer.by}`, answer.user.id);
      await finish(step, answer);
    },
    async setUp(step, form) {
      const submitted = readSetUp(form);
      const answer = await options.signIn.setUp({ ...submitted, binding: bindingOf(step) });
      if (answer.state === 'failed')
        return showSetUp(step, submitted.ticket, answer.user?.email, submitted.secret, wrongAppCodeText);
      if (answer.state === 'ok') logEvent(step, 'totp.on', answer.user.id);
      await finish(step, answer);
    },
  };
}

export function destinationOf({ details: { deviceCode, params } }: Step): Destination {
  return deviceCode === undefined ? describeRedirect(`${params.redirect_uri}`) : terminalDestination;
}

/** Cookie of a trusted browser. Its name follows the pattern of the provider's cookies. */
function trustedBrowserCookie({ secure, origin, prefix }: Paths): TrustedBrowserCookie {
  const { port } = new URL(origin);
  return { name: `${secure ? '__Secure-' : ''}portico_device${port && `_${port}`}`, path: `${prefix}/oauth`, secure };
}

function sendThrottled(res: ServerResponse, seconds: number): void {
  res.setHeader('Retry-After', `${seconds}`);
  const text = throttledText(seconds, 'go back to your assistant and connect again.');
  sendPage(res, 429, messagePage({ title: 'Please wait', text }));
}
