// Lists the requirements of the tables as a page.
import { type Case, type Standard, titleOf } from './case.ts';
import { standards } from './standards.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const isNumber = (section: string): boolean => /^[\d.]+$/.test(section);

const row = ({ section, level, requires, otherwise }: Case, { file }: Standard): string => {
  const test = `[${file}](test/oauth/conformance/${file})`;
  const note = otherwise === undefined ? '' : ` **Not followed.** ${otherwise}`;
  return `| ${section} | ${level} | ${cell(requires)}.${cell(note)} | ${test} |`;
};

const numbers = (section: string): number[] => section.split('.').map(Number);
function bySection(one: Case, other: Case): number {
  if (!isNumber(one.section) || !isNumber(other.section)) return 0;
  const [left, right] = [numbers(one.section), numbers(other.section)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? -1) - (right[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

const chapter = (standard: Standard): string =>
  [
    `## ${standard.name}`,
    '',
    `[${standard.title}](${standard.url})`,
    '',
    '| section | level | requirement | test |',
    '| --- | --- | --- | --- |',
    ...[...standard.cases].sort(bySection).map((one) => row(one, standard)),
  ].join('\n');

/** Duplicate cases in the tables; a duplicate would hide the other case. */
export function findOffences(): string[] {
  return standards.flatMap(({ name, cases }) => {
    const titles = cases.map(titleOf);
    return titles.filter((title, at) => titles.indexOf(title) !== at).map((title) => `${name} has twice: ${title}`);
  });
}

export function makeDocument(): string {
  const cases = standards.flatMap((standard) => standard.cases);
  const differing = cases.filter(({ otherwise }) => otherwise !== undefined);
  return `# Which standards hold

The requirements on an authorization server and a protected resource, standard by standard, and the case that proves each over
HTTP against the whole server. \`npm run conformance\` prints this page from the tables in \`test/oauth/conformance\`. Every case
runs at the root and under a basePath, and a sample inside an Express application.

${cases.length} requirements of ${standards.length} documents. ${differing.length} are not followed, for the reason that is given there: search for **Not followed**.

The official scenarios of \`@modelcontextprotocol/conformance\` run beside them, for the authorization server
([conformance.test.ts](test/oauth/conformance.test.ts)) and for MCP ([conformance.test.ts](test/conformance/conformance.test.ts)).

${standards.map(chapter).join('\n\n')}
`;
}
