// `npm run docs`: writes the site to dist-docs/, and llms.txt to the root of the repository.
// `--base /portico/` sets the path of the site, for links on the 404 page. A dead link fails the build.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSite, makeRootLlms } from './site.ts';

const { values } = parseArgs({ options: { base: { type: 'string', default: '/' } } });
const root = dirname(import.meta.dirname);
const { files, problems } = buildSite({ root, base: values.base });
const folder = join(root, 'dist-docs');
rmSync(folder, { recursive: true, force: true });
for (const [name, content] of files) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}
writeFileSync(join(root, 'llms.txt'), makeRootLlms(root));
console.log(`${files.size} files in ${folder}`);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}
