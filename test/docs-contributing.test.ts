// Follows the examples of CONTRIBUTING.md word by word in a copy of the repository. The test of an example fails there
// without the change to src/, and passes with it. All examples together pass the linter and the type check.
import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { judge, type Manifest } from './architecture/rules.ts';

interface Step {
  readonly path: string;
  /** `text`: the file before the step; undefined if it does not exist. */
  readonly change: (text: string | undefined) => string;
}

interface Example {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly command: string;
}

/** Of Vitest's JSON reporter. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/** Code within a line. */
const code = /`` (.+?) ``|`([^`]+)`/g;
const examples: readonly Example[] = readFileSync('CONTRIBUTING.md', 'utf8').split(/^### /m).slice(1).map(readExample);

/** An instruction is one line of text. A block of code after `:` belongs to it, and a block of `sh` is the command. */
function readExample(section: string): Example {
  const steps: Step[] = [];
  let command = '';
  let open: ((block: string) => Step) | undefined;
  for (const [line, language, block = ''] of section.matchAll(/^```(\w+)\n([\s\S]*?)^```$|^.+$/gm)) {
    if (language === 'sh') command = block.trim();
    else if (language !== undefined) {
      if (!open) throw new Error(`a block without an instruction: ${block}`);
      steps.push(open(block));
      open = undefined;
    } else if (/\b(?:In|Create) `/.test(line)) {
      const read = readInstruction(line);
      if (typeof read === 'function') open = read;
      else steps.push(read);
    }
  }
  return { title: section.slice(0, section.indexOf('\n')), steps, command };
}

function readInstruction(line: string): Step | ((block: string) => Step) {
  const [path = '', from = '', to = ''] = [...line.matchAll(code)].map(([, double, single]) => double ?? single!);
  const said = line.replace(code, '_').replace(/^- /, '');
  const edit = (change: (text: string) => string): Step => ({
    path,
    change: (text) => change(text ?? fail(`${path} does not exist`)),
  });
  if (/\bCreate _:$/.test(said))
    return (block) => ({ path, change: (text) => (text === undefined ? block : fail(`${path} exists`)) });
  if (/^In _, replace _ with _\./.test(said)) return edit((text) => partsAt(text, from).join(to));
  if (/^In _, delete the line with _\./.test(said)) return edit((text) => aroundLine(text, from, () => ''));
  const [, side, end] = /^In _, (after|before) the line with _, add(:$| the line _\.)/.exec(said) ?? [];
  if (!side) return fail(`no such instruction: ${line}`);
  const add = (text: string, block: string) =>
    aroundLine(text, from, (near) => (side === 'after' ? near + block : block + near));
  if (end === ':') return (block) => edit((text) => add(text, block));
  return edit((text) => add(text, `${/^ */.exec(lineWith(text, from))![0]}${to}\n`));
}

/** The texts before and after `part`, which occurs once. */
function partsAt(text: string, part: string): [string, string] {
  const [before = '', after, ...more] = text.split(part);
  return after !== undefined && more.length === 0
    ? [before, after]
    : fail(`'${part}' occurs ${more.length + (after === undefined ? 0 : 1)} times`);
}

/** The line that contains `part`, with its end. */
function lineWith(text: string, part: string): string {
  const [before, after] = partsAt(text, part);
  return before.slice(before.lastIndexOf('\n') + 1) + part + after.slice(0, after.indexOf('\n') + 1);
}

function aroundLine(text: string, part: string, change: (line: string) => string): string {
  const [before, after] = partsAt(text, part);
  return (
    before.slice(0, before.lastIndexOf('\n') + 1) + change(lineWith(text, part)) + after.slice(after.indexOf('\n') + 1)
  );
}

function fail(message: string): never {
  throw new Error(message);
}

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '' && !path.startsWith('docs/screenshots/') && existsSync(path));

/** Its node_modules is a folder of links, because Vitest writes to node_modules/.vite. */
async function inCopy(work: (root: string) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'portico-contributing-'));
  try {
    for (const path of files) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      copyFileSync(path, join(root, path));
    }
    mkdirSync(join(root, 'node_modules'));
    for (const name of readdirSync('node_modules').filter((name) => !name.startsWith('.') || name === '.bin'))
      symlinkSync(resolve('node_modules', name), join(root, 'node_modules', name));
    await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function apply(root: string, steps: readonly Step[]): void {
  for (const { path, change } of steps) {
    const file = join(root, path);
    const text = change(existsSync(file) ? readFileSync(file, 'utf8') : undefined);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Runs a command as a contributor does. The databases besides SQLite have the tests of the repository. */
function run(command: string, cwd: string): Promise<{ readonly passed: boolean; readonly output: string }> {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|npm_|TEST_RUN$|FORCE_COLOR$)/.test(name));
  const env = { ...Object.fromEntries(own), TEST_DATABASES: 'sqlite', NO_COLOR: '1' };
  return new Promise((done) => {
    execFile('sh', ['-c', command], { cwd, env, maxBuffer: 10 ** 7 }, (error, stdout, stderr) =>
      done({ passed: error === null, output: stdout + stderr }),
    );
  });
}

test('the page has five examples, each with a test and a command', () => {
  expect(examples.map(({ title }) => title)).toEqual([
    'Add a tool',
    'Add an operator',
    'Add a setting',
    'Add a console page',
    'Add a column type',
  ]);
  for (const { steps, command } of examples) {
    const [, file] = /^npx vitest run (test\/[\w/.-]+\.test\.ts)$/.exec(command) ?? [];
    expect(file).toBeDefined();
    expect(steps.some(({ path }) => path.startsWith('test/'))).toBe(true);
    expect(steps.some(({ path }) => path.startsWith('src/'))).toBe(true);
  }
});

test('the test of each example fails without the change and passes with it', async () => {
  const isTest = ({ path }: Step) => path.startsWith('test/');
  const steps = examples.flatMap((example) => example.steps);
  // One Vitest for all of them: each start takes longer than the tests.
  const files = examples.map(({ command }) => command.replace('npx vitest run ', ''));
  const runAll = async (root: string) => {
    const { output } = await run(
      `npx vitest run --reporter=default --reporter=json --outputFile=found.json ${files.join(' ')}`,
      root,
    );
    return { output, results: resultsOf(JSON.parse(readFileSync(join(root, 'found.json'), 'utf8')) as Report) };
  };
  await inCopy(async (root) => {
    apply(root, steps.filter(isTest));
    const without = await runAll(root);
    expect(without.results, without.output).toEqual(files.map((file) => `failed ${file}`).sort());
    apply(
      root,
      steps.filter((step) => !isTest(step)),
    );
    const whole = await runAll(root);
    expect(whole.results, whole.output).toEqual(files.map((file) => `passed ${file}`).sort());
  });

  /** A file that fails has a failed test: one that cannot be loaded has none. */
  function resultsOf({ testResults }: Report): string[] {
    const stateOf = ({ status, assertionResults }: Report['testResults'][0]) =>
      status === 'failed' && !assertionResults.some((each) => each.status === 'failed') ? 'broken' : status;
    return testResults.map((file) => `${stateOf(file)} ${file.name.slice(file.name.indexOf('/test/') + 1)}`).sort();
  }
}, 600_000);

test('all examples together pass the linter, the type check and the architecture rules', async () => {
  const steps = examples.flatMap((example) => example.steps);
  const changed = [...new Set(steps.map(({ path }) => path))].filter((path) => path.endsWith('.ts'));
  await inCopy(async (root) => {
    apply(root, steps);
    for (const command of [`npx biome check ${changed.join(' ')}`, 'npm run types']) {
      const { passed, output } = await run(command, root);
      expect(passed, output).toBe(true);
    }
    const read = (path: string) => readFileSync(join(root, path), 'utf8');
    const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
    const source = paths.filter((path) => path.endsWith('.ts')).map((path) => `src/${path.replaceAll('\\', '/')}`);
    const manifest = JSON.parse(read('package.json')) as Manifest;
    expect(judge(new Map(source.map((path) => [path, read(path)])), manifest)).toEqual([]);
  });
}, 600_000);
