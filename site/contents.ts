// The contents of the site, in order. A listed file that is missing fails the build. Unlisted
// pages of docs/ appear under 'More', and pages generated from code (site/reference.ts) come last.

export interface Group {
  readonly title: string;
  /** Files by their path in the repository. */
  readonly files: readonly string[];
}

export const groups: readonly Group[] = [
  {
    title: 'Get started',
    files: ['docs/index.md', 'README.md', 'docs/concepts.md', 'docs/clients.md', 'docs/configuration.md'],
  },
  {
    title: 'Build',
    files: [
      'docs/library.md',
      'docs/embedding.md',
      'docs/sources.md',
      'docs/customizing.md',
      'docs/cloud.md',
      'docs/testing.md',
    ],
  },
  {
    title: 'Assistants',
    files: [
      'docs/filters.md',
      'docs/lists.md',
      'docs/aggregates.md',
      'docs/queries.md',
      'docs/actions.md',
      'docs/workflows.md',
      'docs/approvals.md',
      'docs/remote-servers.md',
      'docs/eval.md',
    ],
  },
  { title: 'People', files: ['docs/accounts.md', 'docs/permissions.md', 'docs/sso.md', 'docs/console.md'] },
  { title: 'Programs', files: ['docs/apis.md', 'docs/oauth.md', 'docs/errors.md'] },
  {
    title: 'Run',
    files: [
      'docs/deployment.md',
      'docs/security.md',
      'docs/storage.md',
      'docs/observability.md',
      'docs/slow-queries.md',
      'bench/RESULTS.md',
    ],
  },
  {
    title: 'How it is made',
    files: ['docs/architecture.md', 'docs/reference/behaviour.md', 'docs/dependencies.md'],
  },
];

/** The name of the page of a file, without `.html`. */
export function nameOf(file: string): string {
  if (file === 'README.md') return 'readme';
  if (file === 'bench/RESULTS.md') return 'results';
  return file.replace(/^docs\/(reference\/)?/, '').replace(/\.md$/, '');
}
