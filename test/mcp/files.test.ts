// Files as input and output of an action: the tool that requests an upload URL, the two routes, and attacks on them.

import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import type { ActionDefinition, FormFile } from '../../src/agent/actions/definitions.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { FileRow } from '../../src/store/files/types.ts';
import { altered } from '../altered.ts';
import { type Counter, openCounter } from './counter.ts';

let counter: Counter;
afterEach(() => counter.house.close());

interface Upload {
  readonly uploadUrl: string;
  readonly fileHandle: string;
}

/** Import takes files and reports what it got; Export returns one. */
async function open(settings = {}) {
  let now = systemClock.now();
  const clock: Clock = { ...systemClock, now: () => now };
  const got: unknown[] = [];
  let fails = false;
  const told = ({ name, mimeType, content }: FormFile) => [
    name,
    mimeType,
    content.length,
    content.toString('hex').slice(0, 8),
  ];
  const actions: Record<string, ActionDefinition> = {
    Import: {
      scope: 'Global',
      form: [
        { label: 'file', type: 'File', isRequired: true, widget: 'FilePicker', extensions: ['csv', 'bin'] },
        { label: 'more', type: 'FileList' },
        { label: 'count', type: 'Number', isRequired: true },
      ],
      execute({ formValues }) {
        if (fails) throw new Error('broken');
        got.push(told(formValues.file as FormFile), ...((formValues.more as FormFile[] | undefined) ?? []).map(told));
        return undefined;
      },
    },
    Export: {
      scope: 'Global',
      generateFile: true,
      form: [{ label: 'bytes', type: 'Number', isRequired: true }],
      execute: ({ formValues }, builder) =>
        builder.file(
          Readable.from([Buffer.alloc(Number(formValues.bytes), 7)]),
          '../Bericht "Ü"\r\n.html',
          'text/html',
        ),
    },
  };
  counter = await openCounter(actions, {}, { settings, clock });
  const act = (actionName: string, values: object, token?: string) =>
    counter.ask('executeAction', { collectionName: 'orders', actionName, values }, token);
  const upload = async (given: object = {}, token?: string) => {
    const asked = { filename: 'orders.csv', mimeType: 'text/csv', ...given };
    const text = await counter.ask('requestActionFileUpload', asked, token);
    return text.startsWith('{') ? (JSON.parse(text) as Upload) : text;
  };
  return {
    got,
    act,
    upload: upload as (given?: object, token?: string) => Promise<Upload>,
    refused: upload as (given: object) => Promise<string>,
    wait: (ms: number) => {
      now += ms;
    },
    breakCode: () => {
      fails = true;
    },
  };
}

async function put(url: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'PUT',
    body: body as string,
    headers: { 'content-type': 'text/csv', ...headers },
  });
  return [response.status, await response.json()];
}

const gone = {
  error: 'file_gone',
  error_description:
    'This URL is unknown, or it has expired after 15 minutes. Call requestActionFileUpload for another.',
};

describe('uploads', () => {
  test('a file is uploaded to the URL, and the action receives it under the announced name and type', async () => {
    const { upload, act, got } = await open();
    const content = Buffer.alloc(700_000, 5);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const asked = await upload({ filename: 'C:\\data\\../orders.csv', sha256 });
    expect([
      asked,
      await put(asked.uploadUrl, content),
      await act('Import', { file: asked.fileHandle, count: 1 }),
      got,
    ]).toEqual([
      {
        uploadUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp\/uploads\/[\w-]{43}$/),
        method: 'PUT',
        headers: { 'Content-Type': 'text/csv' },
        fileHandle: expect.stringMatching(/^\$uploadedFile:[\w-]{43}$/),
        maxBytes: 20_971_520,
        expiresInSeconds: 900,
      },
      [201, { bytes: 700_000 }],
      '{"result":"success","message":"Success"}',
      [['orders.csv', 'text/csv', 700_000, '05050505']],
    ]);
  });

  test('several files in a list, and a small file as a data URI', async () => {
    const { upload, act, got } = await open();
    const [one, two] = [await upload(), await upload({ filename: 'b.bin', mimeType: 'application/octet-stream' })];
    await put(one.uploadUrl, 'ab');
    await put(two.uploadUrl, Buffer.from([1, 2, 3]), { 'content-type': 'application/octet-stream' });
    const file = 'data:text/csv;name=c.csv;base64,Yw==';
    await act('Import', { file, more: [one.fileHandle, two.fileHandle], count: 1 });
    expect(got).toEqual([
      ['c.csv', 'text/csv', 1, '63'],
      ['orders.csv', 'text/csv', 2, '6162'],
      ['b.bin', 'application/octet-stream', 3, '010203'],
    ]);
  });

  test('an upload URL accepts one file', async () => {
    const { upload } = await open();
    const { uploadUrl } = await upload();
    const both = await Promise.all([put(uploadUrl, 'one'), put(uploadUrl, 'two')]);
    const statuses = [...both, await put(uploadUrl, 'three')].map(([status]) => status).sort();
    expect(statuses).toEqual([201, 409, 409]);
  });

  test('an action that ran consumes the file; an action that did not run keeps it', async () => {
    const { upload, act, got } = await open();
    const { uploadUrl, fileHandle } = await upload();
    await put(uploadUrl, 'abc');
    const used =
      'INVALID_ARGUMENT: values.file: this upload is missing, already used, expired or not yours. Call requestActionFileUpload.';
    expect([
      await counter.ask('getActionForm', {
        collectionName: 'orders',
        actionName: 'Import',
        values: { file: fileHandle },
      }),
      await act('Import', { file: fileHandle }),
      await act('Import', { file: fileHandle, count: 1 }),
      await act('Import', { file: fileHandle, count: 1 }),
      got.length,
    ]).toEqual([
      '{"fields":{"file":{"type":"File","required":true,"value":{"name":"orders.csv","mimeType":"text/csv","bytes":3},"extensions":["csv","bin"]},"more":{"type":"FileList"},"count":{"type":"Number","required":true}},"missing":["count"],"canExecute":false}',
      'INVALID_FORM: Nothing was done. count: is required: send a number.',
      '{"result":"success","message":"Success"}',
      used,
      1,
    ]);
  });

  test('of two concurrent calls, one gets the file; failing code consumes it too', async () => {
    const { upload, act, got, breakCode } = await open();
    const one = await upload();
    await put(one.uploadUrl, 'abc');
    const values = { file: one.fileHandle, count: 1 };
    const both = await Promise.all([act('Import', values), act('Import', values)]);
    breakCode();
    const two = await upload();
    await put(two.uploadUrl, 'abc');
    const failing = { file: two.fileHandle, count: 1 };
    expect([
      both.map((text) => text.slice(0, 16)).sort(),
      got.length,
      (await act('Import', failing)).slice(0, 13),
      (await act('Import', failing)).slice(0, 16),
    ]).toEqual([['INVALID_ARGUMENT', '{"result":"succe'], 1, 'ACTION_FAILED', 'INVALID_ARGUMENT']);
  });

  test('a file of another user, a missing, an expired and an invented file give the same error', async () => {
    const { upload, act, wait, got } = await open();
    const [foreign, empty, late] = [await upload({}, 'user-4'), await upload(), await upload()];
    await put(foreign.uploadUrl, 'abc');
    await put(late.uploadUrl, 'abc');
    const invented = `$uploadedFile:${'a'.repeat(43)}`;
    const first = await Promise.all(
      [foreign.fileHandle, empty.fileHandle, invented].map((file) => act('Import', { file, count: 1 })),
    );
    wait(901_000);
    const all = [...first, await act('Import', { file: late.fileHandle, count: 1 })];
    expect([new Set(all), await put(empty.uploadUrl, 'abc'), got]).toEqual([
      new Set([
        'INVALID_ARGUMENT: values.file: this upload is missing, already used, expired or not yours. Call requestActionFileUpload.',
      ]),
      [404, gone],
      [],
    ]);
  });

  test('a file that is too large, or of another type or hash, is refused, and can be sent again', async () => {
    const { upload } = await open({ fileLimitBytes: 5000 });
    const { uploadUrl } = await upload({ sha256: createHash('sha256').update('right').digest('base64') });
    const large = [413, { error: 'body_too_large', error_description: 'The request body is larger than 5000 bytes.' }];
    const unannounced = await fetch(uploadUrl, {
      method: 'PUT',
      headers: { 'content-type': 'text/csv' },
      body: new ReadableStream({
        start(controller) {
          for (let i = 0; i < 10; i++) controller.enqueue(new Uint8Array(1000));
          controller.close();
        },
      }),
      duplex: 'half',
    } as RequestInit);
    expect([
      await put(uploadUrl, 'x'.repeat(5001)),
      [unannounced.status, await unannounced.json()],
      (await put(uploadUrl, 'right', { 'content-type': 'text/html' }))[1],
      (await put(uploadUrl, 'wrong'))[1],
      await put(uploadUrl, 'right'),
    ]).toEqual([
      large,
      large,
      { error: 'invalid_argument', error_description: 'Content-Type: expected text/csv, the announced type.' },
      {
        error: 'invalid_argument',
        error_description: 'sha256: the received file has a different hash. Send it again.',
      },
      [201, { bytes: 5 }],
    ]);
  });

  test.each([['application/octet-stream'], ['Text/CSV; charset=utf-8'], [undefined]])(
    'an announced CSV file may be sent as %s, and the answer is not cached',
    async (contentType) => {
      const { upload } = await open();
      const { uploadUrl } = await upload();
      const headers = contentType === undefined ? {} : { 'content-type': contentType };
      // A body of bytes has no type of its own.
      const response = await fetch(uploadUrl, { method: 'PUT', body: new Uint8Array([1, 2]), headers });
      expect([response.status, response.headers.get('cache-control'), await response.json()]).toEqual([
        201,
        'no-store',
        { bytes: 2 },
      ]);
    },
  );

  test('after a client disconnects during the upload, another try succeeds', async () => {
    const { upload, act, got } = await open();
    const { uploadUrl, fileHandle } = await upload();
    await new Promise<void>((resolve) => {
      const req = request(uploadUrl, { method: 'PUT', headers: { 'content-length': 1000 } });
      req.on('error', () => resolve());
      req.write('half', () => setTimeout(() => req.destroy(new Error('gone')), 50));
    });
    let answer = await put(uploadUrl, 'whole');
    for (let tries = 0; answer[0] === 409 && tries < 400; tries++) {
      await systemClock.sleep(25);
      answer = await put(uploadUrl, 'whole');
    }
    await act('Import', { file: fileHandle, count: 1 });
    expect([answer, got]).toEqual([[201, { bytes: 5 }], [['orders.csv', 'text/csv', 5, '77686f6c']]]);
  });

  test('file names are cleaned, types are checked, and the pending files of a user are limited', async () => {
    const { refused, upload } = await open();
    expect([
      await refused({ filename: '../..' }),
      await refused({ filename: '' }),
      await refused({ mimeType: 'csv' }),
      await refused({ mimeType: 'text/html\r\nx: y' }),
      await refused({ sha256: 'abc' }),
    ]).toEqual([
      'INVALID_ARGUMENT: filename: send a name such as report.pdf.',
      'INVALID_ARGUMENT: filename: send the name of the file.',
      'INVALID_ARGUMENT: mimeType: send a media type such as text/csv.',
      'INVALID_ARGUMENT: mimeType: send a media type such as text/csv.',
      'INVALID_ARGUMENT: sha256: send 32 bytes in hexadecimal or base64.',
    ]);
    for (let i = 0; i < 20; i++) await upload();
    expect([await upload(), typeof (await upload({}, 'user-4'))]).toEqual([
      'TOO_MANY_FILES: You have 20 pending files. Use those, or wait until they expire.',
      'object',
    ]);
  });

  test('the storage contains neither names, contents nor the key in plain text', async () => {
    const { upload } = await open();
    const rows: string[] = [];
    const { files } = counter.house.store;
    const { add, putPart } = files;
    Object.assign(files, {
      add(row: FileRow) {
        rows.push(JSON.stringify(row));
        return add(row);
      },
      putPart(id: string, part: number, sealed: string) {
        rows.push(id, sealed);
        return putPart(id, part, sealed);
      },
    });
    const { uploadUrl } = await upload({ filename: 'salaries.csv' });
    await put(uploadUrl, 'ada;1000;'.repeat(100));
    const kept = rows.join('\n');
    const key = uploadUrl.slice(-43);
    const secrets = ['salaries', 'csv', key, Buffer.from('ada;1000;').toString('base64')];
    expect([rows.length, secrets.filter((secret) => kept.includes(secret))]).toEqual([3, []]);
  });
});

describe('downloads', () => {
  test('a file of an action downloads from its URL, as an attachment that runs nothing', async () => {
    const { act } = await open();
    const answer = JSON.parse(await act('Export', { bytes: 600_000 }));
    const response = await fetch(answer.url);
    const body = Buffer.from(await response.arrayBuffer());
    const again = await fetch(answer.url, { method: 'HEAD' });
    const { headers } = response;
    expect([
      answer,
      response.status,
      body.length,
      body.every((byte) => byte === 7),
      [
        ...['content-type', 'content-disposition', 'cache-control', 'x-content-type-options'],
        ...['content-security-policy', 'referrer-policy'],
      ].map((name) => headers.get(name)),
      [again.status, again.headers.get('content-length')],
    ]).toEqual([
      {
        result: 'file',
        name: 'Bericht "Ü".html',
        mimeType: 'text/html',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp\/downloads\/[\w-]{43}$/),
        bytes: 600_000,
        expiresInSeconds: 900,
      },
      200,
      600_000,
      true,
      [
        'text/html',
        `attachment; filename="Bericht ___.html"; filename*=UTF-8''Bericht%20%22%C3%9C%22.html`,
        'no-store',
        'nosniff',
        "sandbox; default-src 'none'",
        'no-referrer',
      ],
      [200, '600000'],
    ]);
  });

  test('a download expires after 15 minutes, and ends with the user; another key gets 404', async () => {
    const { act, wait, upload } = await open();
    const { url } = JSON.parse(await act('Export', { bytes: 10 }));
    const status = async (address: string) => (await fetch(address)).status;
    const { uploadUrl } = await upload();
    const others = [
      altered(url, url.length - 9),
      uploadUrl.replace('uploads', 'downloads'),
      url.replace(/\/[^/]*$/, '/x'),
    ];
    const before = await Promise.all([url, ...others].map(status));
    counter.house.revoked.add('user-2');
    const disabled = await status(url);
    counter.house.revoked.clear();
    wait(901_000);
    expect([before, disabled, await status(url)]).toEqual([[200, 404, 404, 404], 404, 404]);
  });

  test('a file over the limit is not stored, and the action still succeeds', async () => {
    const { act } = await open({ fileLimitBytes: 1000 });
    expect(JSON.parse(await act('Export', { bytes: 1001 }))).toEqual({
      result: 'file',
      name: 'Bericht "Ü".html',
      mimeType: 'text/html',
      note: 'The action ran, but its file is larger than 1000 bytes and was not stored.',
    });
  });
});

test('Host, Origin and method are checked as at the endpoint', async () => {
  const { upload } = await open();
  const { uploadUrl } = await upload();
  const status = (headers: Record<string, string>, method = 'PUT') =>
    new Promise((resolve) => {
      const req = request(uploadUrl, { method, headers }, (res) => {
        res.resume();
        resolve([res.statusCode, res.headers.allow]);
      });
      req.end(method === 'PUT' ? 'x' : undefined);
    });
  expect([
    await status({ host: 'evil.example' }),
    await status({ origin: 'https://evil.example' }),
    await status({}, 'GET'),
    await status({ origin: 'http://localhost:5173' }, 'OPTIONS'),
    await status({ 'content-type': 'text/csv' }),
  ]).toEqual([
    [403, undefined],
    [403, undefined],
    [405, 'PUT'],
    [204, 'PUT, OPTIONS'],
    [201, undefined],
  ]);
});
