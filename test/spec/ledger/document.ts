// Lists the rows with the tests that quote them, as a page.
import { type Row, rows } from './rows.ts';
import { type SpecTest, testsOf } from './runner.ts';

const opening = `# What of the specification is proved

Every name that the specification promises for the engine, and for the public API (sections that begin with 'api'), and the
tests that prove it; and the points that the specification leaves open and the design settles ('decisions'). \`npm run ledger\`
prints this page; a test fails if a row has no test. \`npm run ledger:mutate\` switches the behaviour of each row off, one after
another, and its tests must notice.
`;

export function makeDocument(tests: readonly SpecTest[]): string {
  const sections = [...new Set(rows.map(({ section }) => section))].map((section) => {
    const lines = rows.filter((row) => row.section === section).map((row) => line(row, tests));
    return `## ${section}\n\n| row | tests |\n| --- | --- |\n${lines.join('\n')}\n`;
  });
  return [opening, `${rows.length} rows.\n`, ...sections].join('\n');
}

/** Lists tests that differ only in the database once. */
function line({ id, proofs, ...row }: Row, tests: readonly SpecTest[]): string {
  const quoting = testsOf({ id, ...row, proofs: [] }, tests);
  const told = [
    ...quoting.map(({ file, title }) => link(file, title.split(' > ').at(-1)!)),
    ...proofs.flatMap(({ file, titles }) =>
      (titles.length > 0 ? titles : ['all tests of the file']).map((title) => link(file, title)),
    ),
  ];
  return `| ${id} | ${[...new Set(told)].join('<br>')} |`;
}

const link = (file: string, title: string): string =>
  `[${file.replace(/^test\/(spec\/)?/, '')}](${file}): ${plain(title)}`;

const plain = (title: string): string => title.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
