// The whole application over the demo shop, with users of different rights, and with pending approvals that are stored
// as the tools store them.
import type { Approval, ApprovalRequest } from '../../src/store/approvals/types.ts';
import type { User } from '../../src/store/users/types.ts';
import { openShop, type Shop } from '../app/shop.ts';
import type { Account } from '../oauth/flow.ts';
import { type Browser, createBrowser, type Page } from '../oauth/flow.ts';
import type { TestServerOptions } from '../server.ts';

export interface ConsoleTestServer extends Shop {
  readonly ada: User;
  /** The URL of a page such as `/approvals`. */
  at(page: string): string;
  userOf(account: Account): Promise<User>;
  /** Stores a pending call, of Ada by default. */
  file(call: Partial<ApprovalRequest> & { readonly given: Readonly<Record<string, unknown>> }): Promise<Approval>;
  /** Signs in and opens the page. */
  browse(account: Account, page?: string): Promise<{ readonly browser: Browser; readonly page: Page }>;
}

export async function openConsoleServer(options: Omit<TestServerOptions, 'database'> = {}): Promise<ConsoleTestServer> {
  const shop = await openShop(options);
  const userOf = async ({ email }: Account) => (await shop.store.identity.findUserByEmail(email))!;
  const ada = await userOf(shop.account);
  const at = (page: string) => shop.consoleUrl + page;
  let calls = 0;
  return {
    ...shop,
    ada,
    at,
    userOf,
    async file({ given, ...more }) {
      const access = (await shop.store.permissions.accessOf(more.userId ?? ada.id))!;
      const asked = await shop.store.approvals.ask({
        userId: ada.id,
        renderingId: access.caller.renderingId,
        clientId: 'notebook-client',
        clientName: 'Notebook',
        tool: 'update',
        collection: 'customers',
        policy: { policy: 'ask-person', secondPerson: false },
        args: `${JSON.stringify(given)} ${++calls}`,
        found: 'as it is',
        content: { arguments: given, preview: { count: more.recordIds?.length ?? null, changes: [] } },
        ...more,
      });
      if (asked === 'full') throw new Error('there is no room');
      return asked;
    },
    async browse(account, page = '') {
      const browser = createBrowser();
      const first = await browser.open(at(page));
      return { browser, page: await browser.press(first, 'sign-in', { ...account }) };
    },
  };
}

/** The visible text of a page. */
export const read = (page: Page): string =>
  page.html
    .replace(/<(style|head|svg|script).*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

export const csrfOf = (page: Page): string => /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
