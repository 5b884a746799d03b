import { expect, test } from 'vitest';
import type { BinaryMode } from '../../src/agent/customize/definitions.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { openShop } from './opened.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(40)]);
const files = () =>
  createMemorySource('files', [
    {
      name: 'files',
      columns: [
        { name: 'id', type: 'Binary' },
        { name: 'body', type: 'Binary', nullable: true },
        { name: 'parts', type: ['Binary'] },
        { name: 'name', type: 'String' },
      ],
      primaryKey: ['id'],
      rows: [
        [Buffer.from('0001', 'hex'), png, [Buffer.from('ff', 'hex'), null], 'a'],
        [Buffer.from('0002', 'hex'), null, [], 'b'],
      ],
    },
  ]);

const open = (field: string, mode: BinaryMode) =>
  openShop((agent) => agent.customizeCollection('files', (each) => each.replaceFieldBinaryMode(field, mode)), {
    sources: [files()],
  });

test('Fields | replaceFieldBinaryMode(name, mode): the form that callers see, while both forms are accepted', async () => {
  const request = { collection: 'files', fields: ['id', 'body', 'parts'], limit: 1 };
  const uri = `data:image/png;base64,${png.toString('base64')}`;
  const parts = ['data:application/octet-stream;base64,/w==', null];
  const [plain, hex, data] = [
    await openShop(() => {}, { sources: [files()] }),
    await open('body', 'hex'),
    await open('id', 'datauri'),
  ];
  expect([await plain.list(request), await hex.list(request), await data.list(request)]).toEqual([
    [['0001', uri, parts]],
    [['0001', png.toString('hex'), parts]],
    [['data:application/octet-stream;base64,AAE=', uri, parts]],
  ]);
  for (const value of [uri, png.toString('hex')])
    expect(
      await hex.list({ collection: 'files', fields: ['name'], filter: { field: 'body', operator: 'Equal', value } }),
    ).toEqual([['a']]);
});

test('Fields | replaceFieldBinaryMode: an invalid mode, and a field that is not Binary, end the start', async () => {
  await expect(open('body', 'base64' as 'hex')).rejects.toThrow(
    /There is no binary mode 'base64'. Use 'datauri' or 'hex'. \(.*4.2-binary-mode/,
  );
  await expect(open('name', 'hex')).rejects.toThrow(
    /'name' of 'files' is String: only a Binary field has a mode. \(.*4.2-b/,
  );
  await expect(open('bdy', 'hex')).rejects.toThrow(/no field 'bdy'. Near: body/);
});

test('Fields | replaceFieldBinaryMode: files that code adds, also lists of them, have the mode, and without one are data URIs', async () => {
  const request = { collection: 'files', fields: ['seal', 'seals'], limit: 1 };
  const shown = async (mode?: BinaryMode) => {
    const shop = await openShop(
      (agent) =>
        agent.customizeCollection('files', (each) => {
          const parts = { dependencies: ['name'], getValues: (records: readonly unknown[]) => records.map(() => png) };
          each.addField('seal', { ...parts, columnType: 'File' });
          each.addField('seals', { ...parts, columnType: ['Binary'], getValues: (all) => all.map(() => [png, null]) });
          if (mode) each.replaceFieldBinaryMode('seal', mode).replaceFieldBinaryMode('seals', mode);
        }),
      { sources: [files()] },
    );
    return shop.list(request);
  };
  const [uri, hex] = [`data:image/png;base64,${png.toString('base64')}`, png.toString('hex')];
  expect([await shown(), await shown('datauri'), await shown('hex')]).toEqual([
    [[uri, [uri, null]]],
    [[uri, [uri, null]]],
    [[hex, [hex, null]]],
  ]);
});
