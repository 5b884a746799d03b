// Further edge cases of forms (behaviour 2.4): bounds that code writes in other forms of a date, and empty texts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Forms, openForms } from './forms.ts';

const noon = '2024-03-01T12:00:00+02:00';
const forms = {
  offset: [{ label: 'A', type: 'Date', widget: 'DatePicker', min: noon, max: noon }],
  date: [{ label: 'A', type: 'Date', widget: 'DatePicker', min: new Date(noon), max: new Date(noon) }],
  made: [{ label: 'A', type: 'Date', widget: 'DatePicker', min: async () => noon, max: () => noon }],
  local: [{ label: 'A', type: 'Date', widget: 'DatePicker', min: '2024-03-01T11:00', max: '2024-03-01T11:00' }],
  text: [{ label: 'A', type: 'String', widget: 'TextInput', isRequired: true }],
  area: [{ label: 'A', type: 'String', widget: 'TextArea', isRequired: true }],
  rich: [{ label: 'A', type: 'String', widget: 'RichText', isRequired: () => true }],
  plain: [{ label: 'A', type: 'String', isRequired: true }],
  list: [{ label: 'A', type: 'StringList', widget: 'TextInputList', isRequired: true }],
  optional: [{ label: 'A', type: 'String', widget: 'TextInput' }],
} as const;

let place: Forms;
beforeAll(async () => {
  place = await openForms(['CREATE TABLE cities (id INTEGER PRIMARY KEY)'], forms);
});
afterAll(() => place?.stop());

test.each(['offset', 'date', 'made', 'local'] as const)(
  'DatePicker | min and max with an offset, as a Date, from a function and in the timezone of the user bound the instant: %s | widget',
  async (name) => {
    const at = '2024-03-01T10:00:00.000Z';
    for (const same of [at, noon, '2024-03-01T11:00'])
      expect(await place.submit(name, { A: same }), same).toEqual({ A: at });
    for (const other of ['2024-03-01T09:59:59.999Z', '2024-03-01T10:00:00.001Z', '2024-03-01T12:00:00+01:00'])
      expect(await place.submit(name, { A: other }), other).toEqual({ A: expect.stringMatching(/^send a timestamp /) });
    expect((await place.form(name)).fields.A).toMatchObject({ min: at, max: at });
    expect((await place.load(name)).A!.widgetEdit).toMatchObject({ parameters: { min: at, max: at } });
  },
);

test.each(['text', 'area', 'rich', 'plain', 'list'] as const)(
  'TextInput, TextArea, RichText, isRequired | an empty value is none, over HTTP and MCP: %s | widget',
  async (name) => {
    const empty = name === 'list' ? [] : '';
    for (const value of [empty, null]) {
      expect(await place.submit(name, { A: value }), 'HTTP').toEqual({ A: expect.stringMatching(/^is required/) });
      const executed = await place.execute(name, { values: { A: value } });
      expect(JSON.stringify(executed), 'MCP').toMatch(/INVALID_FORM.*is required/);
      expect(await place.form(name, { values: { A: value } })).toMatchObject({ missing: ['A'], canExecute: false });
    }
    expect(await place.submit(name, { A: name === 'list' ? ['x'] : ' ' })).toHaveProperty(
      'A',
      expect.not.stringMatching(/required/),
    );
  },
);

test('TextInput | without isRequired an empty text reaches the code as it is | widget', async () => {
  expect([await place.submit('optional', { A: '' }), await place.execute('optional', { values: { A: '' } })]).toEqual([
    { A: '' },
    { A: '' },
  ]);
});
