// Pages generated from the code: exports of the package, settings, error codes, MCP tools and
// routes. They are Markdown like every other page, so links, search and llms.txt treat them alike.
import { describeApi } from '../src/api/openapi/document.ts';
import { settings } from '../src/core/config.ts';
import { AppError, type ErrorCode, errorCodes } from '../src/core/errors.ts';
import { outputSchemaOf } from '../src/mcp/results/output-schemas.ts';
import { selectTools } from '../src/mcp/tools.ts';
import { dataRoutes } from '../src/rest/routes.ts';
import { type Exported, type ExportKind, readEntryPoints } from './exports.ts';

export interface MadePage {
  /** The file name without `.html`. */
  readonly name: string;
  readonly title: string;
  readonly markdown: string;
}

/** `root`: the root of the repository. */
export function makeReference(root: string, version: string): MadePage[] {
  return [
    ...readEntryPoints(root).map(({ name, exports }) => ({
      name: `reference-${name.replaceAll('/', '-')}`,
      title: `\`${name}\``,
      markdown: describeExports(name, exports),
    })),
    { name: 'reference-settings', title: 'Settings', markdown: describeSettings() },
    { name: 'reference-errors', title: 'Error codes', markdown: describeErrors() },
    { name: 'reference-tools', title: 'MCP tools', markdown: describeTools() },
    { name: 'reference-agent-api', title: "Agent's HTTP API", markdown: describeAgentRoutes() },
    { name: 'reference-public-api', title: 'Public API', markdown: describePublicApi(version) },
  ];
}

/** The OpenAPI document of a standalone server. */
export function openApiOf(version: string): object {
  return describeApi('http://127.0.0.1:3931/v1', version);
}

const kinds: readonly (readonly [kind: ExportKind, title: string])[] = [
  ['function', 'Functions'],
  ['class', 'Classes'],
  ['value', 'Values'],
  ['interface', 'Interfaces'],
  ['type', 'Types'],
];

function describeExports(entry: string, exports: readonly Exported[]): string {
  const current = exports.filter(({ deprecated }) => deprecated === '');
  const aliases = exports.filter(({ deprecated }) => deprecated !== '');
  const parts = kinds.flatMap(([kind, title]) => {
    const all = current.filter((one) => one.kind === kind);
    return all.length === 0 ? [] : [`## ${title}`, ...all.map(describeExport)];
  });
  return [
    `# ${entry}`,
    `Everything that \`import ... from '${entry}'\` exports, from the docstrings of the code.`,
    ...parts,
    ...(aliases.length === 0 ? [] : ['## Deprecated', describeAliases(aliases)]),
  ].join('\n\n');
}

/** The next version removes these. They are documented under the entry point that their advice names. */
const describeAliases = (aliases: readonly Exported[]): string =>
  aliases.map(({ name, deprecated }) => `- \`${name}\`: ${proseOf(deprecated)}`).join('\n');

function describeExport({ name, kind, doc, example, code, members }: Exported): string {
  const isLong = kind === 'class' || members.some((member) => member.example !== '');
  const own = (isLong ? members : []).flatMap((one) => [
    `#### ${name}.${one.name}`,
    proseOf(one.doc),
    fence('ts', one.code),
    showExample(one.example),
  ]);
  return [`### ${name}`, proseOf(doc), fence('ts', code), showExample(example), ...own].filter(Boolean).join('\n\n');
}

const showExample = (example: string): string => (example === '' ? '' : `Example:\n\n${fence('ts', example)}`);

const fence = (language: string, code: string): string => `${'```'}${language}\n${code}\n${'```'}`;

/** Converts a docstring to Markdown: escapes `<` outside of code, and replaces links by names. */
function proseOf(doc: string): string {
  return doc
    .replace(/\{@link\s+([^}]+?)\s*\}/g, '`$1`')
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('');
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function describeSettings(): string {
  const rows = Object.entries(settings).map(([name, row]) => [
    name,
    row.env,
    'flag' in row && row.flag ? row.flag : '',
    'secret' in row && row.secret,
    row.fallback,
    row.about,
  ]);
  const parts = rows.map(([name, env, flag, secret, fallback, about]) => {
    const value = Array.isArray(fallback) ? fallback.join(',') : String(fallback ?? '');
    return [
      `### ${env}`,
      `${about}.`,
      [
        `- In code: \`${name}\``,
        flag ? `- Flag: \`${flag}\`` : undefined,
        `- Default: ${value === '' ? 'none' : `\`${value}\``}`,
        `- From a file: \`${env}_FILE\``,
        secret ? '- A secret: masked wherever settings are shown' : undefined,
      ]
        .filter(Boolean)
        .join('\n'),
    ].join('\n\n');
  });
  return [
    '# Settings',
    'All settings, from the table in the code. How they are read and which takes precedence: [Configuration](docs/configuration.md).',
    '## All settings',
    ...parts,
  ].join('\n\n');
}

function describeErrors(): string {
  // Details with members that behave like an empty list satisfy every error. Only the status is used.
  const details = new Proxy({}, { get: () => [] });
  const statusOf = (code: ErrorCode) => new AppError(code, details as never).status;
  const statuses = [...new Set(errorCodes.map(statusOf))].sort((a, b) => a - b);
  const parts = statuses.flatMap((status) => [
    `## ${status}`,
    errorCodes
      .filter((code) => statusOf(code) === status)
      .map((code) => `- \`${code}\``)
      .join('\n'),
  ]);
  return [
    '# Error codes',
    'Every code by its HTTP status. What each means and what to do about it: [Errors](docs/errors.md).',
    ...parts,
  ].join('\n\n');
}

function describeTools(): string {
  const parts = selectTools(null, () => undefined).map((tool) => {
    const { name, title, description, scope, annotations, inputSchema } = tool;
    const hints = Object.entries(annotations).map(([hint, value]) => `\`${hint}\` ${value ? 'yes' : 'no'}`);
    const answer = outputSchemaOf(name);
    return [
      `## ${name}`,
      `**${title}.** ${proseOf(description)}`,
      `Needs the OAuth scope \`${scope}\`. Hints: ${hints.join(', ')}.`,
      '### Arguments',
      fence('json', JSON.stringify(inputSchema, null, 2)),
      ...(answer
        ? [
            '### Answer',
            'Sent to clients if `SERVICE_MCP_OUTPUT_SCHEMA` is set.',
            fence('json', JSON.stringify(answer, null, 2)),
          ]
        : []),
    ].join('\n\n');
  });
  return ['# MCP tools', 'What assistants can call, as the server describes it to them.', ...parts].join('\n\n');
}

function describeAgentRoutes(): string {
  const rows = dataRoutes
    .flatMap((route) => ('action' in route ? [route] : []))
    .sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)))
    .map(({ method, path, action, writes }) => [
      `\`${method} {prefix}${path.replaceAll(/:(\w+)/g, '{$1}')}\``,
      `\`${action}\``,
      writes ? 'yes' : '',
    ]);
  return [
    "# The agent's HTTP API",
    'The routes for records, from the table in the code. All of them need a session token. Requests and responses: [HTTP APIs](docs/apis.md).',
    ...(rows.length === 0 ? [] : [table(['Route', 'In the activity log', 'May change data'], rows)]),
  ].join('\n\n');
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: unknown }>> }>>;
}

function describePublicApi(version: string): string {
  const { paths } = openApiOf(version) as { paths: Record<string, Record<string, Operation>> };
  const parts = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, description, responses }]) => {
      const [status = '', answer] = Object.entries(responses)[0] ?? [];
      const schema = answer?.content?.['application/json']?.schema;
      return [
        `## ${method.toUpperCase()} ${path}`,
        `${summary}.${description ? ` ${description}` : ''}`,
        schema ? `Returns ${status} with:` : `Returns ${status}.`,
        ...(schema ? [fence('json', JSON.stringify(schema, null, 2))] : []),
      ].join('\n\n');
    }),
  );
  return [
    '# The public API',
    'From the table that validates requests and responses. Programs use the OpenAPI document: <a href="openapi.json">openapi.json</a>. Tokens and limits: [HTTP APIs](docs/apis.md).',
    ...parts,
  ].join('\n\n');
}
