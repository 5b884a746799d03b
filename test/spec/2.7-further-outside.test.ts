// Further places where the caller of behaviour 2.7 is used: forms and steps of workflows.
import { expect, onTestFinished, test, vi } from 'vitest';
import { openForms } from './forms.ts';
import { openOutside } from './outside.ts';

test('caller: timezone: a time without an offset in a form is in it, over HTTP and MCP, in winter and summer', async () => {
  const place = await openForms(['CREATE TABLE cities (id INTEGER PRIMARY KEY)'], {
    dates: [
      { label: 'At', type: 'Date' },
      { label: 'Default', type: 'Date', defaultValue: '2024-07-01T12:00' },
      { label: 'Made', type: 'Date', value: () => '2024-01-31T00:30' },
    ],
  });
  onTestFinished(() => place.stop());
  const more = { Default: '2024-07-01T10:00:00.000Z', Made: '2024-01-30T23:30:00.000Z' };
  for (const [At, instant] of [
    ['2024-01-31T12:00', '2024-01-31T11:00:00.000Z'],
    ['2024-07-31T12:00:00', '2024-07-31T10:00:00.000Z'],
    ['2024-07-31T12:00:00Z', '2024-07-31T12:00:00.000Z'],
  ] as const) {
    expect(await place.submit('dates', { At }), At).toEqual({ At: instant, ...more });
    expect(await place.execute('dates', { values: { At } }), At).toEqual({ At: instant, ...more });
    expect((await place.form('dates', { values: { At } })).fields.At.value, At).toBe(instant);
    expect((await place.load('dates', { At })).At!.value, At).toBe(instant);
  }
});

test('caller: id, email, firstName, lastName, team, role, timezone: each is a variable of a step of a workflow', async () => {
  const names = ['id', 'email', 'firstName', 'lastName', 'team', 'role', 'timezone'];
  const place = await openOutside(
    [
      'CREATE TABLE cities (id INTEGER PRIMARY KEY, note VARCHAR(200), n INTEGER)',
      'INSERT INTO cities (id) VALUES (1)',
    ],
    (agent) =>
      agent.addWorkflow({
        ...{ name: 'sign', collection: 'cities' },
        steps: [
          {
            ...{ id: 'it', type: 'update-record', mode: 'automatic' },
            values: { note: names.map((name) => `{{user.${name}}}`).join(' '), n: '{{user.id}}' },
          },
        ],
      }),
  );
  onTestFinished(() => place.stop());
  const { rows } = (await place.tool('listWorkflows', {})).json;
  await place.tool('triggerWorkflow', { workflowId: rows[0][0], recordId: '1' });
  await vi.waitFor(async () => expect((await place.list('/cities'))[0]!.n).not.toBeNull(), { timeout: 20_000 });
  expect(await place.list('/cities')).toMatchObject([
    { note: '1 ada@example.com Ada Byron Operations Administrator Europe/Paris', n: 1 },
  ]);
});
