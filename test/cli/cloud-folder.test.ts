// A complete customization (behaviour 4.6) against a remote server: bootstrap, sign-in in a browser,
// edit, typings, a run, and a call that the code answers. Uses a real browser if one is installed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callTool } from '../app/call.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type CloudPlace, openCloud, runSigningIn } from './cloud-server.ts';
import { beginPortico, compileFolder, linkModules, type Outcome, portico, startServer } from './command.ts';

/** Acts as a user who opens the printed URL in a browser with JavaScript disabled. */
async function bootstrapInBrowser(cloud: CloudPlace, args: readonly string[], work: ReturnType<CloudPlace['work']>) {
  const running = beginPortico(args, work);
  const address = await running.printed(/(http:\/\/\S+user_code=\S+)/);
  const shown = await running.printed(/compare the code: (\S+)/);
  const browser = await openChromium();
  try {
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(address);
    expect(await page.getByLabel('Code').inputValue()).toBe(shown);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('E-mail').fill(cloud.account.email);
    await page.getByLabel('Password').fill(cloud.account.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText(shown).waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Your terminal is connected' }).waitFor();
  } finally {
    await browser.close();
  }
  return running.ended;
}

const customization = (fields: readonly (readonly [name: string, dependency: string, value: string])[]) =>
  `import type { Agent } from 'portico/cloud';
import type { Schema } from '../typings.js';

export function customizeAgent(agent: Agent<Schema>): void {
  agent.customizeCollection('customers', (customers) => {
${fields
  .map(
    ([name, dependency, value]) =>
      `    customers.addField('${name}', {
      columnType: 'String',
      dependencies: ['${dependency}'],
      getValues: (records) => records.map((record) => ${value}),
    });`,
  )
  .join('\n')}
  });
}
`;
const shout = ['shout', 'last_name', "record.last_name + '!'"] as const;
const twice = ['twice', 'shout', 'record.shout! + record.shout!'] as const;

test('a developer bootstraps a folder, edits it, updates the typings, starts it and calls it', {
  timeout: 180_000,
}, async () => {
  const cloud = await openCloud();
  try {
    const work = cloud.work();
    const args = ['cloud', 'bootstrap', '--env-secret', cloud.secret, '--server', cloud.origin];
    const made: Outcome = hasChromium
      ? await bootstrapInBrowser(cloud, args, work)
      : await runSigningIn({ args, ...work, account: cloud.account });
    expect([made.code, made.stderr]).toEqual([0, '']);

    const folder = join(work.folder, 'cloud-customizer');
    const { env } = work;
    const read = (path: string) => readFileSync(join(folder, path), 'utf8');
    linkModules(folder);
    expect((await compileFolder(folder)).stdout).toBe('');

    // Code cannot use a new field before the typings are updated.
    writeFileSync(join(folder, 'src/index.ts'), customization([shout, twice]));
    const early = await compileFolder(folder);
    const typed = await portico(['cloud', 'update-typings'], { folder, env });
    const late = await compileFolder(folder);
    expect([early.stdout.includes('"shout"'), typed.code, typed.stderr, late.stdout]).toEqual([true, 0, '', '']);
    expect(read('typings.d.ts')).toMatch(/shout: "String" \| null;\n\s+twice: "String" \| null;/);

    const none = await portico(['cloud', 'start', '--port', '0'], { folder, env });
    expect([none.code, none.stderr]).toEqual([
      1,
      'portico: src/data-source.ts has no database to serve: set DATABASE_URL in .env, such as sqlite:./copy.sqlite or postgres://user:password@localhost/shop.\n',
    ]);
    writeFileSync(join(folder, '.env'), read('.env').replace('DATABASE_URL=', `DATABASE_URL=${cloud.database}`));
    const server = await startServer([], { folder, env }, ['cloud', 'start']);
    try {
      const email = /E-mail\s+(\S+)/.exec(server.stdout)![1]!;
      const tokenArgs = ['token', 'create', '--user', email, '--name', 'test', '--scopes', 'mcp:read'];
      const token = /svc_\S+/.exec((await portico(tokenArgs, { folder, env })).stdout)![0];
      const answer = await callTool(server.mcpUrl, token, 'list', {
        collectionName: 'customers',
        fields: ['last_name', 'twice'],
      });
      expect(answer).toHaveProperty('json.rows');
      const { rows } = (answer as { readonly json: { readonly rows: readonly (readonly string[])[] } }).json;
      expect(rows.map(([, value]) => value)).toEqual(rows.map(([name]) => `${name}!${name}!`));
    } finally {
      server.signal('SIGTERM');
      await server.ended;
    }
  } finally {
    await cloud.stop();
  }
});
