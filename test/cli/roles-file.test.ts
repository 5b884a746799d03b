// The file of roles: a pulled file can be pushed unchanged, and
// all errors of a file are reported at once, with positions.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { pullRoles, pushRoles } from '../../src/cli/roles/commands.ts';
import { findNetworkWarnings } from '../../src/cli/roles/network-warnings.ts';
import { readRolesFile } from '../../src/cli/roles/read.ts';
import { verbs } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openStore } from '../../src/store/open.ts';
import { diffRights } from '../../src/store/permissions/rights.ts';
import { writeRolesFile } from '../../src/store/permissions/rights-file.ts';
import { describeChanges, describeEffects } from '../../src/store/permissions/rights-words.ts';
import type { CollectionPermission, Right } from '../../src/store/permissions/types.ts';

const base = `organization: Acme
project: Shop
environments: [Production, Staging]
teams:
  South: {}
roles:
  Clerk: {}
`;

function read(text: string): readonly Right[] {
  const file = readRolesFile(text);
  if (file.problems) throw new Error(JSON.stringify(file.problems));
  return file.rights.map(({ kind, path, value }) => ({ kind, path, value }));
}

/** The file with lines for Clerk in Production. */
const clerk = (...lines: string[]) =>
  base.replace('  Clerk: {}\n', `  Clerk:\n    Production:\n${lines.map((line) => `      ${line}\n`).join('')}`);

describe('a pulled file that is pushed', () => {
  const words = [
    'a',
    '*',
    'yes',
    'null',
    '2024',
    '1e3',
    '0x1f',
    ' # x',
    'a: b',
    '-',
    "it's",
    '"',
    'ü',
    '{x}',
    '~',
    '<<',
    '__proto__',
  ];

  /** An unusual file with every kind of right; the same for the same seed. */
  function makeRights(seed: number): Right[] {
    let state = seed * 7919 + 13;
    const pick = <T>(some: readonly T[]): T => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return some[state % some.length]!;
    };
    const some = <T>(list: readonly T[]): T[] => list.filter(() => pick([true, false]));
    const name = () => pick(words.filter((word) => word.trim() === word)) + pick(['', '1', ' b', '.c']);
    const leaf = () => ({
      field: name(),
      operator: 'Equal',
      value: pick<unknown>(['x', 3, null, true, ['a', 1], '{{currentUser.tags.a}}']),
    });
    const filter = (): object =>
      pick([
        leaf,
        () => ({ aggregator: 'Or', conditions: [leaf(), { aggregator: 'And', conditions: some([leaf(), leaf()]) }] }),
      ])();
    const each = <T>(make: () => T) => Object.fromEntries(some([1, 2, 3]).map(() => [name(), make()]));
    const permission = (): CollectionPermission => {
      const held = some(verbs);
      const parts = {
        fields: each(() => pick(['read', 'hidden'])),
        approval: Object.fromEntries(
          some(['add', 'edit', 'delete']).map((verb) => [
            verb,
            pick(['ask', 'deny', { policy: 'ask-person', secondPerson: true }]),
          ]),
        ),
        actions: each(() => ({
          trigger: pick<unknown>([true, false, { when: filter() }]),
          ...pick([{}, { approval: 'ask' }]),
        })),
      };
      return {
        ...Object.fromEntries(verbs.map((verb) => [verb, held.includes(verb)])),
        ...Object.fromEntries(Object.entries(parts).filter(([, value]) => Object.keys(value).length > 0)),
        ...pick([{}, {}, { cascades: 'deny' }]),
      } as unknown as CollectionPermission;
    };
    const names = (count: number) => [...new Set(Array.from({ length: count }, name))];
    const [environments, teams, roles] = [names(pick([1, 3])), names(3), names(3)];
    const is =
      (kind: Right['kind']) =>
      (text: string): Right => ({ kind, path: [text], value: text });
    return [
      { kind: 'organization', path: [], value: name() },
      { kind: 'project', path: [], value: name() },
      ...environments.map(is('environment')),
      ...some(['10.0.0.0/8', '::1/128', '203.0.113.7/32']).map(is('network')),
      ...teams.map(is('team')),
      ...teams.flatMap((team) =>
        some(environments).map((env): Right => ({ kind: 'scope', path: [team, env, name()], value: filter() })),
      ),
      ...roles.map(is('role')),
      ...roles.flatMap((role) =>
        some(environments).map(
          (env): Right => ({ kind: 'permission', path: [role, env, name()], value: permission() }),
        ),
      ),
    ];
  }

  test.each(Array.from({ length: 60 }, (_, seed) => seed))(
    'changes nothing and gives the same file again (%i)',
    (seed) => {
      const rights = makeRights(seed);
      const text = writeRolesFile(rights);
      expect(diffRights(rights, read(text))).toEqual([]);
      expect(writeRolesFile(read(text))).toBe(text);
      expect(
        writeRolesFile([...rights].reverse())
          .split('\n')
          .sort(),
      ).toEqual(text.split('\n').sort());
    },
  );

  test('explains the possible entries in comments', () => {
    const text = writeRolesFile(read(base));
    for (const part of [
      'portico roles push',
      'SERVICE_ENVIRONMENT',
      'allowList: [',
      '{{currentUser.tags.<key>}}',
      'trigger: { when:',
    ])
      expect(text).toContain(part);
  });
});

describe('problems', () => {
  const told = (text: string) =>
    readRolesFile(text).problems?.map(({ line, column, at, problem }) => `${line}:${column} ${at}: ${problem}`);

  test('are all reported together, with line, column and similar names', () => {
    const text = `organization: Acme
environments: [Production, Production]
allowList: [10.1.2.3/8, "::1", ::1/128, 300.1.1.1, 10.0.0.0/33]
teams:
  South:
    Productoin: {}
    Production:
      orders: { field: region, operator: Equall, value: "{{currentUser.tag.x}}" }
      lines: { aggregator: And, conditions: [{ field: a, operator: Equal }, { field: b, operator: Present, vlue: 1 }] }
      notes: { field: a, operator: Equal, value: ["{{currentUser.id}", "{{ currentUser.tags. }}"] }
roles:
  Clerk:
    Production:
      orders:
        may: [browse, reed]
        fields: { total: hiden }
        approval: { read: ask, delete: askperson }
        actions: { Refund: sometimes, Remind: { approval: ask }, Cancel: { trigger: { whn: {} } } }
        colour: red
rolls: {}
`;
    expect(told(text)).toEqual([
      "1:1 : 'project' is missing: its name.",
      "2:28 environments[1]: 'Production' is listed twice.",
      '3:13 allowList[0]: the address has bits beyond the first 8. Write 10.0.0.0/8, or 10.1.2.3.',
      '3:32 allowList[2]: ::1/128 is listed twice.',
      '3:41 allowList[3]: expected an address, or a network such as 10.0.0.0/8 or 2001:db8::/32.',
      '3:52 allowList[4]: expected a number from 0 to 32 after the slash.',
      "6:5 teams.South: there is no environment 'Productoin' in the list of 'environments'. Near: Production.",
      "8:42 teams.South.Production.orders.operator: no operator 'Equall'. Near: Equal.",
      '8:57 teams.South.Production.orders.value: there is no variable {{currentUser.tag.x}}. Near: currentUser.team, currentUser.email, currentUser.id.',
      '9:68 teams.South.Production.lines.conditions[0].operator: Equal needs a value.',
      '9:114 teams.South.Production.lines.conditions[1].vlue: unknown; a filter here can have field, operator, value.',
      '10:51 teams.South.Production.notes.value[0]: the braces do not contain a variable.',
      '10:72 teams.South.Production.notes.value[1]: there is no variable {{ currentUser.tags. }}. Near: currentUser.tags.<key>, currentUser.team, currentUser.email.',
      "15:23 roles.Clerk.Production.orders.may[1]: there is no verb 'reed'. Near: read.",
      '16:26 roles.Clerk.Production.orders.fields.total: expected read or hidden; remove the field if it may be written.',
      "17:21 roles.Clerk.Production.orders.approval: unknown name 'read'. Known: add, edit, delete.",
      "17:40 roles.Clerk.Production.orders.approval.delete: expected allow, ask, ask-person, deny, or { policy: 'ask-person', secondPerson: true }.",
      '18:28 roles.Clerk.Production.orders.actions.Refund: expected always, never, or when: with a filter.',
      "18:47 roles.Clerk.Production.orders.actions.Remind: 'trigger' is missing: expected always, never, or when: with a filter.",
      "18:87 roles.Clerk.Production.orders.actions.Cancel.trigger: unknown name 'whn'. Near: when.",
      "19:9 roles.Clerk.Production.orders: unknown name 'colour'. Known: may, fields, approval, actions, cascades.",
      "20:1 : unknown name 'rolls'. Near: roles.",
    ]);
  });

  // RFC 8259 section 6: a number that loses precision would name another record.
  test('include a number that loses precision, also in the filter of a row scope', () => {
    const text = `${base}#\n`.replace(
      'South: {}',
      'South: { Production: { orders: { field: id, operator: Equal, value: 9007199254740993 } } }',
    );
    expect(told(text)?.join()).toMatch(
      /^\d+:\d+ : the number 9007199254740993 .*Write its digits in quotes: "9007199254740993"\.$/,
    );
    expect(told(text.replace('9007199254740993', '"9007199254740993"'))).toBeUndefined();
  });

  test.each([
    ['', 6],
    ['[]', 6],
    ['organization: Acme', 4],
    [`${base}roles: {}`, 1],
    [base.replace('[Production, Staging]', '[]'), 1],
    [base.replace('[Production, Staging]', 'Production'), 1],
    [base.replace('Acme', '2024'), 1],
    [base.replace('teams:\n  South: {}\n', 'teams: [South]\n'), 1],
    [`${base}allowList: []`, 1],
    [`${base}allowList: ::ffff:10.0.0.1`, 1],
    [`${base}allowList: [010.0.0.1, 10.1, 0x7f.1, "fe80::1%eth0", "::ffff:10.0.0.0/104", 1/2/3]`, 6],
    [clerk('orders: { may: all }'), 1],
    [clerk('"": { may: everything }'), 1],
    [clerk('orders: &a { may: [browse] }', 'lines: *b'), 1],
    ['\ta: b', 1],
  ])('are reported with line and column for %j', (text, least) => {
    const problems = told(text)!;
    expect(problems.length).toBeGreaterThanOrEqual(least === 6 ? 1 : least);
    for (const problem of problems) expect(problem).toMatch(/^\d+:\d+ .*: .+$/);
  });

  test('do not include a YAML alias, which has the value of its anchor', () => {
    const rights = read(clerk('orders: &a { may: [browse] }', 'lines: *a'));
    expect(rights.filter(({ kind }) => kind === 'permission').map(({ path, value }) => [path[2], value])).toEqual([
      ['orders', expect.objectContaining({ browse: true, read: false })],
      ['lines', expect.objectContaining({ browse: true, read: false })],
    ]);
  });
});

test('changes are described in words', () => {
  const before = clerk(
    'orders:',
    '  may: [browse, edit]',
    '  fields: { total: hidden, note: read }',
    '  actions: { Refund: always, Remind: never }',
    '"*": { may: everything }',
  );
  const after = clerk(
    'orders:',
    '  may: [browse, read]',
    '  fields: { total: read }',
    '  approval: { delete: { policy: ask-person, secondPerson: true } }',
    '  actions:',
    '    Refund: { trigger: { when: { aggregator: And, conditions: [{ field: status, operator: Equal, value: paid }, { aggregator: Or, conditions: [{ field: a, operator: Present }, { field: b, operator: Blank }] }] } }, approval: ask }',
  ).replace('South: {}', 'South: { Staging: { "*": { field: id, operator: Present } } }');
  const changes = diffRights(read(before), read(`${after}allowList: [10.0.0.0/8]`.replace('Acme', 'Apex')));
  expect(describeChanges(changes).map(({ sign, text }) => `${sign} ${text}`)).toEqual([
    "~ the organization is renamed to 'Apex' (was: 'Acme')",
    '+ allowed: 10.0.0.0/8',
    "~ role 'Clerk' in Production, orders: may read",
    "~ role 'Clerk' in Production, orders: may no longer edit",
    "~ role 'Clerk' in Production, orders: field note is written (was: read)",
    "~ role 'Clerk' in Production, orders: field total is read (was: hidden)",
    "~ role 'Clerk' in Production, orders: to delete: a second person approves (was: no approval)",
    '~ role \'Clerk\' in Production, orders: action Refund can be triggered where status Equal "paid" and (a Present or b Blank), the user confirms in the assistant (was: always)',
    "~ role 'Clerk' in Production, orders: action Remind can be triggered by those who may edit (was: never)",
    "+ team 'South' in Staging, every other collection: sees only records where id Present (was: every record, or those of *)",
    "- role 'Clerk' in Production, every other collection: no longer has its own permissions; those of * apply, if any",
  ]);
  const removed = diffRights(read(before), read(base.replace('  Clerk: {}\n', '  Other: {}\n')));
  expect(describeChanges(removed).map(({ sign, text }) => `${sign} ${text}`)).toEqual([
    "+ role 'Other'",
    "- role 'Clerk' is removed",
  ]);
});

describe('which changes allow more than before', () => {
  const of = (...lines: string[]) => read(clerk(...lines));
  const opening = (before: readonly Right[], after: readonly Right[]) =>
    describeEffects(before, after).map(({ text, opens }) => `${opens ? '!' : '-'} ${text.replace(/^.*?, /, '')}`);
  const rest = "'*': { may: [browse, read] }";

  test.each([
    ['an entry that allows less than *', [rest], [rest, 'a: { may: [browse] }'], ['- a: may no longer read']],
    [
      'an entry that allows more than *',
      [rest],
      [rest, 'a: { may: [browse, edit] }'],
      ['! a: may edit', '- a: may no longer read'],
    ],
    [
      'a removed entry, after which * applies',
      [rest, 'a: { may: [browse] }'],
      [rest],
      ['- a: no longer has its own permissions; those of * apply, if any', '! a: may read'],
    ],
    [
      'fields, from hidden to writable and back',
      ['a: { may: [browse], fields: { x: hidden, y: read, z: read } }'],
      ['a: { may: [browse], fields: { x: read, z: hidden } }'],
      [
        '! a: field x is read (was: hidden)',
        '! a: field y is written (was: read)',
        '- a: field z is hidden (was: read)',
      ],
    ],
    [
      'weaker approval policies',
      [
        'a: { may: [edit, add], approval: { edit: { policy: ask-person, secondPerson: true }, add: ask, delete: deny } }',
      ],
      ['a: { may: [edit, add], approval: { edit: ask-person, add: deny } }'],
      [
        '- a: to add: denied (was: the user confirms in the assistant)',
        '- a: to delete: no approval (was: denied)',
        '! a: to edit: a person approves in the console (was: a second person approves)',
      ],
    ],
    [
      'whether the database may extend writes',
      ['a: { may: [delete], cascades: deny }', 'b: { may: [delete] }'],
      ['a: { may: [delete] }', 'b: { may: [delete], cascades: deny }'],
      [
        '! a: the database may extend writes to other records',
        '- b: the database may no longer extend writes to other records',
      ],
    ],
    [
      'actions',
      ['a: { may: [browse], actions: { P: never, Q: always, R: { trigger: always, approval: ask } } }'],
      ['a: { may: [browse], actions: { P: { trigger: { when: { field: f, operator: Present } } }, S: always } }'],
      [
        '! a: action P can be triggered where f Present (was: never)',
        '- a: action Q can be triggered by those who may edit (was: always)',
        '- a: action R can be triggered by those who may edit (was: always, the user confirms in the assistant)',
        '! a: action S can be triggered always (was: by those who may edit)',
      ],
    ],
  ])('%s', (_, before, after, told) => {
    expect(opening(of(...before), of(...after))).toEqual(told);
  });

  test('a first row scope allows less; a changed or removed one, or one instead of *, may allow more', () => {
    const scoped = (lines: string) => read(base.replace('South: {}', `South: { Production: { ${lines} } }`));
    const one = 'a: { field: x, operator: Present }';
    const opens = (before: string, after: string) =>
      describeEffects(scoped(before), scoped(after)).map(({ opens }) => opens);
    expect([
      opens('', one),
      opens(one, ''),
      opens(one, 'a: { field: y, operator: Present }'),
      opens("'*': { field: x, operator: Present }", `'*': { field: x, operator: Present }, ${one}`),
    ]).toEqual([[false], [true], [true], [true]]);
  });
});

test.each([
  [['10.0.0.0/8'], 'https://data.example', ['10.0.0.0/8'], []],
  [['0.0.0.0/0'], null, [], ['0.0.0.0/0 allows every address of its kind']],
  [['::/0', '10.0.0.0/8'], null, [], ['::/0 allows every address of its kind']],
  [['0.0.0.0/32', '224.0.0.0/4'], null, [], ['every request would be rejected']],
  [['127.0.0.0/8', '::1/128'], 'https://data.example', ['loopback'], ['only this machine']],
  [['127.0.0.0/8'], 'http://localhost:3931', [], []],
  [['10.0.0.0/8'], 'https://data.example', [], ['SERVICE_TRUSTED_PROXIES is empty']],
])(
  'the allow list %j with the public URL %s and trusted proxies %j gives the expected warnings',
  (networks, publicUrl, trustedProxies, expected) => {
    const rights = networks.map((network): Right => ({ kind: 'network', path: [network], value: network }));
    const warnings = findNetworkWarnings(rights, { publicUrl, trustedProxies });
    expect(warnings).toEqual(expected.map((part) => expect.stringContaining(part)));
  },
);

// roles.test.ts runs the commands as processes.
describe('pull and push in this process', () => {
  async function open() {
    const folder = mkdtempSync(join(tmpdir(), 'portico-roles-'));
    const config = loadConfig({ env: { SERVICE_DATA_DIR: folder, SERVICE_LOG_LEVEL: 'Error' } });
    const store = await openStore({ config, observe: () => undefined, clock: systemClock });
    onTestFinished(async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const textOf = ({ mock }: typeof out) => mock.calls.map(([text]) => String(text)).join('');
    const file = join(folder, 'roles.yaml');
    const run = async (command: () => Promise<unknown>) => {
      out.mockClear();
      err.mockClear();
      const done = await command().catch((error: Error) => error.message);
      return { done, out: textOf(out), err: textOf(err).replaceAll(file, 'roles.yaml') };
    };
    const push = (text: string, options: Parameters<typeof pushRoles>[2] = {}) => {
      writeFileSync(file, text);
      return run(() => pushRoles(config, file, options));
    };
    const pull = (to?: string) => run(() => pullRoles(config, to));
    return { config, store, folder, file, push, pull };
  }

  test('a pulled file is no change; only a confirmed push is applied, and names whom it affects', async () => {
    const { store, file, push, pull } = await open();
    const [kim, gone] = await Promise.all(
      ['kim@example.com', 'gone@example.com'].map((email) => store.identity.addUser({ email })),
    );
    await store.identity.setDisabled(gone!.id, true);
    const printed = await pull();
    const written = await pull(file);
    expect(readFileSync(file, 'utf8')).toBe(printed.out);
    expect(written.out).toContain('contains the permissions');
    expect(await push(printed.out)).toMatchObject({
      ...{ done: true, out: 'No changes: the permissions already match the file.\n' },
    });

    const changed = printed.out.replace(/^ {2}Member:.*$/m, '  Member: { Production: { orders: { may: [browse] } } }');
    expect(changed).not.toBe(printed.out);
    const may = async () => (await store.permissions.accessOf(kim!.id))!.can('browse', 'orders');
    const before = await may();
    const unread = await push(changed, { yes: true });
    expect([unread.done, unread.err]).toEqual([
      false,
      expect.stringMatching(/were not checked.*No changes were made/s),
    ]);
    const allowUnknown = true;
    const checked = await push(changed, { allowUnknown, check: true, yes: true });
    expect([checked.done, checked.out]).toEqual([false, expect.stringMatching(/only a check: no changes were made/)]);
    expect(checked.out).toContain("Affected: 1 person of role 'Member'.");
    expect((await push(changed, { allowUnknown })).done).toMatch(/^--yes: there is no terminal/);
    expect([before, await may()]).toEqual([false, false]);
    const made = await push(changed, { allowUnknown, yes: true });
    expect([made.done, made.err, await may()]).toEqual([true, expect.stringMatching(/were not checked/), true]);
  });

  test('a file with a problem, or an agent that cannot be loaded, changes nothing', async () => {
    const { store, folder, push, pull, config } = await open();
    const { out } = await pull();
    const before = await store.rights.read();
    const wrong = out.replace(/^ {2}Member:.*$/m, '  Member: { Production: { orders: { may: [reed] } } }');
    const refused = await push(wrong, { yes: true, allowUnknown: true });
    expect([refused.done, refused.err]).toEqual([
      false,
      expect.stringMatching(
        /^roles\.yaml:\d+:\d+: .*no verb 'reed'.*\nportico: 1 problem in roles\.yaml\. No changes were made\.\n$/,
      ),
    ]);
    const added = out.replace(
      /^teams:$/m,
      'teams:\n  South: { Production: { orders: { field: id, operator: Present } } }',
    );
    expect(added).not.toBe(out);
    const agent = join(folder, 'gone.mjs');
    expect((await push(added, { yes: true, allowUnknown: true, agent })).done).toEqual(
      expect.stringContaining('gone.mjs'),
    );
    await expect(pushRoles(config, join(folder, 'none.yaml'), { yes: true })).rejects.toThrow(
      /none\.yaml' cannot be read/,
    );
    expect(await store.rights.read()).toEqual(before);
  });

  test('a new team needs no names of collections, so no database', async () => {
    const { store, push, pull } = await open();
    const { out } = await pull();
    const added = await push(out.replace(/^teams:$/m, 'teams:\n  South: {}'), { yes: true });
    expect([added.done, added.err]).toEqual([
      true,
      expect.stringMatching(/^warning: No database is set .* checked\.\n$/),
    ]);
    expect((await store.rights.read()).map(({ kind, path }) => [kind, ...path].join(' '))).toContain('team South');
  });
});
