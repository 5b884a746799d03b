// The promises of the specification as names: one row for everything that a user can write or call. Tests
// of its section (`test/spec/<section>-*.test.ts`) prove a row by quoting it in their name; see `quotes`. proofs.ts names
// tests of other files that prove the same row.
// Sections of the public API are 'api 2.1' and so on, with tests in `test/spec/api-2.1-*.test.ts`. The rows
// of 'decisions' (decisions.ts) are the points that the design decides, with the tests that prove them.

import { decisions, type Proof } from './decisions.ts';
import { proofsFor } from './proofs.ts';

export interface Row {
  /** For example '2.3 · result builder · success'. */
  readonly id: string;
  readonly section: string;
  readonly name: string;
  /** Whether a test of the section is about this group, if two groups share a name. */
  readonly isAbout: (title: string) => boolean;
  /** Tests that prove it in any file. Test names do not quote a decision, so it has only these. */
  readonly proofs: readonly Proof[];
}

interface Group {
  readonly group?: string;
  /** Separated by spaces; a list if names contain spaces. */
  readonly names: string | readonly string[];
  readonly about?: RegExp;
  readonly notAbout?: RegExp;
}

const columnTypes = 'String Number Boolean Date Dateonly Time Enum Json Uuid Point File';
const formTypes =
  'String Number Boolean Date Dateonly Time Enum EnumList File FileList Json Collection NumberList StringList';

const widgets =
  'RadioGroup CheckboxGroup Checkbox TextInput TextInputList TextArea RichText NumberInput NumberInputList CurrencyInput ColorPicker DatePicker TimePicker AddressAutocomplete UserDropdown FilePicker JsonEditor Dropdown';

const sections: Readonly<Record<string, readonly Group[]>> = {
  '2.1': [
    {
      names:
        'authSecret envSecret isProduction logger loggerLevel prefix schemaPath typingsPath typingsMaxDepth useUnsafeActionEndpoint',
    },
    { group: 'environment', names: 'SERVICE_MCP_ENABLED_TOOLS MCP_SERVER_PORT' },
  ],
  '2.2': [{ names: 'factory include exclude rename' }],
  '2.3': [
    { group: 'scope', names: 'Single Bulk Global' },
    { names: 'execute form description generateFile submitButtonLabel' },
    {
      group: 'context',
      names:
        'collection filter caller formValues getRecords getRecordIds getCompositeRecordIds hasFieldChanged getRecord getRecordId getCompositeRecordId getField',
    },
    { group: 'result builder', names: 'success error webhook file redirectTo setHeader' },
  ],
  '2.4': [
    {
      names:
        'label isRequired isReadOnly description defaultValue value enumValues collectionName widget options placeholder if',
    },
    { group: 'type', names: formTypes },
    { group: 'search', names: 'static dynamic disabled' },
    { group: 'widget', names: widgets, about: /widget$/ },
    { group: 'layout', names: 'Page Row Separator HtmlBlock', about: /layout$/ },
  ],
  '2.5': [
    { names: 'columnType dependencies getValues defaultValue enumValues' },
    { group: 'columnType', names: columnTypes },
  ],
  '2.6': [
    { names: 'many-to-one one-to-many one-to-one many-to-many external' },
    { group: 'many-to-one', names: 'foreignKey foreignKeyTarget', about: /many-to-one/ },
    { group: 'one-to-many', names: 'originKey originKeyTarget', about: /one-to-many/ },
    { group: 'one-to-one', names: 'originKey originKeyTarget', about: /one-to-one/ },
    {
      group: 'many-to-many',
      names: 'throughCollection originKey foreignKey originKeyTarget foreignKeyTarget',
      about: /many-to-many/,
    },
    { group: 'external', names: 'schema listRecords', about: /external/ },
  ],
  '2.7': [
    { group: 'condition', names: 'leaf And Or' },
    {
      group: 'operator',
      names:
        'Equal NotEqual GreaterThan LessThan In NotIn Present Blank Contains NotContains StartsWith EndsWith Like ILike Before After Today Yesterday PreviousWeek PreviousMonth PreviousQuarter PreviousYear Past Future IncludesAll IncludesNone',
      notAbout: /validation|hook|chart|time range/i,
    },
    {
      group: 'validation',
      names: 'Present LongerThan ShorterThan Contains Like Match GreaterThan LessThan Before After',
      about: /validation/i,
    },
    { group: 'filter', names: 'conditionTree search searchExtended segment' },
    { names: 'projection' },
    { group: 'caller', names: 'id email firstName lastName team role tags timezone', about: /caller/i },
    { group: 'sort', names: 'field ascending', about: /sort/i },
    { group: 'hook position', names: 'Before After', about: /hook/i },
    { group: 'hook type', names: 'List Create Update Delete Aggregate', about: /hook/i },
    { group: 'binary mode', names: 'datauri hex' },
    { group: 'time range', names: 'Day Week Month Quarter Year' },
  ],
  '2.8': [
    {
      group: 'flattenColumn',
      names: 'columnName include exclude level readonly columnType',
      about: /flattenColumn/,
    },
    { group: 'flattenRelation', names: 'relationName include exclude readonly', about: /flattenRelation/ },
    {
      group: 'flattenJsonColumn',
      names: 'columnName columnType level readonly keepOriginalColumn',
      about: /flattenJsonColumn/,
    },
  ],
  '2.9': [{ names: 'agentForestEnvSecret agentForestAuthSecret agentUrl serverUrl agentSchemaPath' }],
  '4.1': [
    {
      names:
        'createAgent addDataSource customizeCollection addChart removeCollection use start stop restart addAi mountAiMcpServer updateTypesOnFileSystem generateSchemaOnly',
    },
  ],
  '4.2': [
    { group: 'Actions', names: 'addAction' },
    {
      group: 'Fields',
      names:
        'addField importField renameField removeField addFieldValidation setFieldNullable replaceFieldWriting replaceFieldBinaryMode',
    },
    {
      group: 'Relations',
      names: 'addManyToOneRelation addOneToManyRelation addOneToOneRelation addManyToManyRelation addExternalRelation',
    },
    { group: 'Segments', names: 'addSegment' },
    { group: 'Hooks', names: 'addHook' },
    { group: 'Search', names: 'replaceSearch disableSearch' },
    { group: 'Sorting', names: 'emulateFieldSorting replaceFieldSorting disableFieldSorting' },
    { group: 'Filtering', names: 'emulateFieldFiltering emulateFieldOperator replaceFieldOperator' },
    { group: 'Charts', names: 'addChart' },
    { group: 'Overrides', names: 'overrideCreate overrideUpdate overrideDelete' },
    { group: 'Other', names: 'disableCount use chaining' },
  ],
  '4.3': [
    {
      names: 'value distribution timeBased multipleTimeBased percentage objective leaderboard smart',
    },
  ],
  '4.4': [
    {
      group: 'tool',
      names:
        'describeCollection list listRelated create update delete associate dissociate getActionForm executeAction',
    },
    {
      group: 'endpoint',
      names:
        '/mcp /oauth/authorize /oauth/token /.well-known/oauth-authorization-server /.well-known/oauth-protected-resource/mcp',
      about: /at host root/,
    },
    {
      group: 'basePath',
      names:
        '<prefix>/mcp <prefix>/oauth/authorize <prefix>/oauth/token /.well-known/oauth-authorization-server<prefix> /.well-known/oauth-protected-resource<prefix>/mcp',
      about: /with basePath/,
    },
    { group: 'rule', names: 'prefix capture discovery enabledTools', about: /rules/ },
  ],
  '4.5': [{ names: 'collections prefix' }],
  '4.6': [{ names: 'bootstrap update-typings login' }],
  '4.7': [{ names: 'createForestServerSandbox createAgentTestClient workflow' }],
  '5': [{ names: 'authSecret envSecret Bearer discovery apiKey' }],
  '7': [{ names: 'useUnsafeActionEndpoint addAi basePath namespaces' }],
  '9': [{ names: 'generateSchemaOnly' }],
  'api 1': [{ group: 'paths name', names: 'project environment' }],
  'api 2.1': [{ names: 'hasMore parameters data' }],
  'api 2.2': [
    {
      names: 'object id title recordId createdAt updatedAt archivedAt user environment team collection messages',
    },
  ],
  'api 2.3': [
    { group: 'User', names: 'object id username email', about: /(^|> )User\b/ },
    { group: 'Environment', names: 'object name', about: /(^|> )Environment\b/ },
    { group: 'Team', names: 'object name', about: /(^|> )Team\b/ },
    { group: 'Collection', names: 'object name', about: /(^|> )Collection\b/ },
    { group: 'Note message', names: 'object content createdAt user', about: /(^|> )Note message\b/ },
  ],
  'api 2.4': [{ names: 'runId' }],
  'api 2.5': [{ names: ['name', 'project', 'creation date', 'last used', 'expiration date', 'scopes', 'value'] }],
  'api 2.6': [{ names: ['Activity log', 'admin log'] }],
  'api 3.1': [{ names: ['an editor disables the trigger', 'an editor regenerates the URL'] }],
  'api 3.2': [{ names: ['queued', 'active run', 'fresh run'] }],
  'api 3.3': [{ names: 'archivedAt' }],
  'api 4.1': [
    { names: 'projectName environmentName limit userEmail userId teamName collectionName recordId' },
    ...['createdAt', 'updatedAt', 'archivedAt'].map((time) => ({
      names: ['eq', 'lt', 'lte', 'gt', 'gte'].map((operator) => `${time}.${operator}`),
    })),
    { names: ['sorted by id descending', 'Admin role'] },
  ],
  'api 4.2': [
    { names: ['{webhook_url}', 'authority', 'latest', 'record_id', 'unknown fields', 'not verified', '202', '409'] },
    { names: ["the token's user"] },
  ],
  'api 4.3': [{ names: 'activity-logs admin-logs notes' }],
  'api 5': [
    { names: ['Bearer', 'Admin role', 'SSO', 'revoked', 'expire'] },
    { group: 'level', names: 'read-only read-write' },
    { group: 'scope', names: 'activity_logs:read admin_logs:read notes:read notes:write all' },
    { names: ['webhook'] },
  ],
  'api 7.1': [{ names: ['401', '403', 'An expired token'] }],
  'api 7.2': [{ names: '429 4XX 5XX' }],
  'api 7.3': [{ names: '400 401 403 404 409 429' }],
  'api 8': [{ names: ['limit query parameter', 'webhook rate', 'active runs', 'public API rate'] }],
  'api 9': [{ names: ['Public API paths', 'webhook URL'] }],
};

const specified: readonly Row[] = Object.keys(sections)
  .sort()
  .flatMap((section) =>
    sections[section]!.flatMap(({ group, names, about, notAbout }) =>
      (typeof names === 'string' ? names.split(' ') : names).map((name) => {
        const id = [section, ...(group ? [group] : []), name].join(' · ');
        const isAbout = (title: string) => (about?.test(title) ?? true) && !notAbout?.test(title);
        return { id, section, name, isAbout, proofs: proofsFor(id) };
      }),
    ),
  );

export const rows: readonly Row[] = [
  ...specified,
  ...[...decisions].map(([name, own]) => {
    const id = `decisions · ${name}`;
    return { id, section: 'decisions', name, isAbout: () => false, proofs: proofsFor(id, own) };
  }),
];

/**
 * Whether the name of a test (its suites and title joined by ' > ') quotes the name of a row. The function splits each
 * part into cells at ' | ', ': ' and '; ', and each cell into a list. It ignores arguments and quotation marks. The
 * name must be an item of a list, or start an item of the first cell. A camelCase name can be anywhere in such an item.
 */
export function quotes({ name, isAbout }: Row, title: string): boolean {
  const plain = name.replaceAll('.', '\\.');
  const word = new RegExp(/[a-z][A-Z]/.test(name) ? `(?<![\\w-])${plain}(?![\\w-])` : `^${plain}(?![\\w-])`);
  const isQuoted = title.split(' > ').some((part) => {
    const plain = part.replaceAll('`', '').replace(/\([^)]*\)/g, '');
    const [head, ...cells] = plain
      .split(/ \| |: |; /)
      .map((cell) => cell.split(/, | and | or /).map((item) => item.trim()));
    return head!.some((item) => word.test(item)) || cells.flat().includes(name);
  });
  return isQuoted && isAbout(title);
}
