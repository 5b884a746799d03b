// All attacks on sign-in, HTTP, console and webhooks.
import type { Attack } from '../attack.ts';
import { accountAttacks } from './accounts.ts';
import { clientAttacks } from './clients.ts';
import { documentAttacks } from './documents.ts';
import { frontEndAttacks } from './front-ends.ts';
import { hostAttacks } from './hosts.ts';
import { httpAttacks } from './http.ts';
import { mailAttacks } from './mail.ts';
import { pageAttacks } from './pages.ts';
import { providerAttacks } from './provider.ts';
import { providersAttacks } from './providers.ts';
import { secretAttacks } from './secrets.ts';
import { tokenAttacks } from './tokens.ts';
import { workflowAttacks } from './workflows.ts';

export const webAttacks: readonly Attack[] = [
  ...clientAttacks,
  ...tokenAttacks,
  ...pageAttacks,
  ...httpAttacks,
  ...workflowAttacks,
  ...accountAttacks,
  ...providerAttacks,
  ...providersAttacks,
  ...documentAttacks,
  ...secretAttacks,
  ...hostAttacks,
  ...frontEndAttacks,
  ...mailAttacks,
];

/** Findings that this harness cannot try, with the tests that cover them. They are printed but do not count. */
export const notTried: readonly string[] = [
  'hundreds of listening streams, thousands of sessions and idempotency keys: what they take is a matter of minutes and megabytes',
  'shapes of request smuggling beyond two Host headers: refused by the parser of Node, which has no switch here; test/app/http.test.ts',
  'two processes that take the same automatic start at once, and mail about waiting items, which is sent after half a minute: test/workflow/start-faults.test.ts, test/console/waiting-mail.test.ts',
  'floods of automatic starts: 1,500 runs of ten steps delay a call of somebody else by half a second, also without the limit of runs',
  'charts of code, names in NFC and NFD, a storage that may only be read (data)',
];
