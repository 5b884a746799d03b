// The pages that judged.ts looks at, and which pages of the console it has not looked at.
import { remoteCallbackPage, ssoPage } from '../../src/console/paths.ts';
import { routes } from '../../src/console/routes.ts';

export const phone = { width: 390, height: 844 };
export const tablet = { width: 768, height: 1024 };
export const laptop = { width: 1366, height: 768 };
export const wide = { width: 1920, height: 1080 };
export type Appearance = readonly [colorScheme: 'light' | 'dark', viewport: typeof laptop];

const filtered = new URLSearchParams({
  filter:
    '{"aggregator":"Or","conditions":[{"field":"status","operator":"In","value":["paid","pending"]},{"some":"order_items","where":{"field":"quantity","operator":"GreaterThan","value":2}}]}',
});

/** Console pages as Ada, an administrator, sees them: the path, and a text to recognize the page. */
export const pages: readonly (readonly [page: string, text: string])[] = [
  ['/account', 'Where you are signed in'],
  ['/tokens', 'For programs that cannot sign in'],
  ['/tokens/new', 'What is it for?'],
  ['/tokens/new?for=api', 'Read the activity log'],
  ['/tokens/everyone', 'Tokens of all users'],
  ['/remotes', 'connect again'],
  ['/notes', 'Notes of your team'],
  ['/notes/new', 'Visible to teammates'],
  ['/activity', 'Activity'],
  ['/admin-log', 'Admin log'],
  ['/people', 'Invite a person'],
  ['/meanings', 'Explain your data'],
  ['/meanings/orders', 'Fields and relations'],
  ['/meanings/orders/fields/status', 'Meaning of the values'],
  ['/meanings/orders/new-metric', 'Divided by'],
  ['/meanings/orders/metrics/revenue', 'Divided by'],
  ['/meanings/orders/new-segment', 'Records that match'],
  ['/meanings/orders/segments/paid', 'Records that match'],
  ['/people/1', 'Ada Byron'],
  ['/roles', 'Administrator'],
  ['/roles/Member', 'Review changes'],
  ['/roles/Member/orders', 'Member'],
  ['/teams', 'Operations'],
  ['/teams/Operations', 'Operations'],
  ['/collections', 'orders'],
  ['/collections/orders', 'orders'],
  ['/environments', 'Production'],
  ['/workflows/new', 'The first step'],
  ['/workflows/new/json', 'Check and preview'],
  ['/runs', 'No runs yet'],
  ['/inbox', 'Nothing is waiting for you'],
  ['/api', 'Public API'],
  ['/playground/aggregate/form?collection=orders', 'Number of records'],
  ['/data', 'order_items'],
  ['/data?chart=none', 'order_items'],
  ['/data/customers', 'Add condition'],
  [`/data/orders?${filtered}`, 'Advanced: JSON'],
  [`/data/orders?${filtered}&mode=json`, 'Filter'],
  ['/data/orders/17', 'Changes of this record'],
  ['/data/orders/17/edit', 'Preview'],
  ['/data/products/3', 'No changes through Portico yet.'],
  ['/create/orders', 'Preview'],
  ['/act/orders/Ship?record=20', 'Ship'],
  ['/people/new', 'Invite'],
  ['/teams/Operations/orders', 'Advanced: JSON'],
  ['/settings', 'The settings of this process'],
];

/** They only redirect. */
const redirects = new Set([ssoPage(''), ssoPage(':provider'), remoteCallbackPage(':id'), '/welcome/:id']);

/** The pages of the console that are none of the paths. `base` is the path of the console. */
export function findMissing(base: string, paths: ReadonlySet<string>): readonly string[] {
  const isThere = (page: string) => {
    const shape = new RegExp(`^${base}${page.replaceAll(/:\w+/g, '[^/]+')}/?$`);
    return [...paths].some((path) => shape.test(path));
  };
  return routes
    .filter((route) => route.get && !(!route.open && route.frameless) && !redirects.has(route.page))
    .map(({ page }) => page)
    .concat('/bulk/:collection')
    .filter((page) => !isThere(page));
}

const when = { field: 'total', operator: 'GreaterThan', value: 100 };
/** A step of each type. */
export const stepsOfEachType = [
  { id: 'look', type: 'read-record', fields: ['total', 'customer:email'] },
  {
    id: 'which',
    type: 'condition',
    options: [
      { id: 'big', when },
      { id: 'odd', when: { every: 'order_items', where: when } },
    ],
  },
  { id: 'set', type: 'update-record', values: { note: 'by {{user.email}}', customer_id: 3, shipping_fee: null } },
  { id: 'ship', type: 'trigger-action', action: 'Ship', values: { carrier: 'Northern Post' } },
  {
    id: 'buyer',
    type: 'load-related-record',
    relation: 'customer',
    filter: { field: 'city', operator: 'Present' },
  },
  { id: 'pack', type: 'guidance', text: 'Pack.', inputs: [{ name: 'kilos', answer: { type: 'number', min: 1 } }] },
  { id: 'mood', type: 'ai', prompt: 'Angry?', answer: { type: 'enum', options: ['yes', 'no'] }, otherwise: 'no' },
  { id: 'far', type: 'mcp', server: 'tickets', tool: 'open', arguments: { title: 'x', count: 2 } },
];
