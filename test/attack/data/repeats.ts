// Repeats with an idempotency key, and file uploads.
import { type Attack, verdict } from '../attack.ts';
import { all, type Person } from '../target.ts';
import { fresh, shop } from './shop.ts';

const keys = 'src/store/approvals/idempotency.ts';
const files = 'src/mcp/uploads/files.ts';

const made = (answer: unknown): string | undefined => (answer as { ids?: string[] }).ids?.[0];

async function upload(
  person: Person,
  content: string | ReadableStream,
): Promise<{ handle: string; url: string; status: number }> {
  const asked = await person.call('requestActionFileUpload', { filename: 'a.txt', mimeType: 'text/plain' });
  const { uploadUrl, fileHandle } = asked as { uploadUrl: string; fileHandle: string };
  const sent = await fetch(uploadUrl, {
    method: 'PUT',
    headers: { 'content-type': 'text/plain' },
    body: content,
    // A stream is sent without Content-Length.
    ...(typeof content !== 'string' && { duplex: 'half' }),
  } as RequestInit).catch(() => ({ status: 0 }));
  return { handle: fileHandle, url: uploadUrl, status: sent.status };
}

export const repeatAttacks: readonly Attack[] = [
  {
    id: 'held-key-twenty-at-once',
    finding: 'data held',
    title: 'twenty repeats at once with one idempotency key make more than one record',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const label = `keyed ${fresh()}`;
      const call = { collectionName: 'orders', attributes: { label }, idempotencyKey: label };
      const answers = await Promise.all(Array.from({ length: 20 }, () => attacker.call('create', call)));
      const [count] = await target.rows(`SELECT count(*) FROM orders WHERE label = '${label}'`);
      return verdict(count !== '1', { count, ids: [...new Set(answers.map(made))] });
    },
    protection: [
      {
        file: keys,
        text: "if (existing.attempt === row.attempt) return { state: 'mine'",
        into: "if (existing.attempt) return { state: 'mine'",
      },
    ],
  },
  {
    id: 'held-key-of-another',
    finding: 'data held',
    title: 'the idempotency key of one person gives another one the answer',
    place: shop,
    async attack(target) {
      const [owner, thief] = [await target.person(), await target.person()];
      const label = `private ${fresh()}`;
      const call = { collectionName: 'orders', attributes: { label }, idempotencyKey: 'the same key' };
      const first = made(await owner.call('create', call));
      const second = made(await thief.call('create', call));
      return verdict(first === second, { first, second });
    },
    protection: [
      {
        file: keys,
        text: "hash('key', userId, clientId, tool, key)",
        into: "hash('key', userId && clientId && 0, tool, key)",
      },
    ],
  },
  {
    id: 'held-key-with-other-arguments',
    finding: 'data held',
    title: 'another call under a used key is taken for done',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const call = (label: string) =>
        attacker.call('create', { collectionName: 'orders', attributes: { label }, idempotencyKey: 'used' });
      await call('one');
      const answer = await call('two');
      return verdict(typeof answer !== 'string', answer);
    },
    protection: [
      {
        file: keys,
        text: 'if (existing.arguments_hash !== row.arguments_hash)',
        into: 'if (!existing.arguments_hash)',
      },
    ],
  },
  {
    id: 'held-key-after-the-right-is-gone',
    finding: 'data held',
    title: 'a repeat shows its first answer to somebody from whom the field is hidden since',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const attributes = { name: 'x', secret: `SECRET-${fresh()}` };
      const call = { collectionName: 'customers', attributes, idempotencyKey: 'before' };
      await attacker.call('create', call);
      await attacker.permit({ '*': all, customers: { ...all, fields: { secret: 'hidden' } } });
      const answer = await attacker.call('create', call);
      return verdict(JSON.stringify(answer).includes('SECRET'), answer);
    },
    protection: [
      { file: keys, text: 'if (existing.rights_hash !== row.rights_hash)', into: 'if (!existing.rights_hash)' },
    ],
  },
  {
    id: 'held-upload-of-another',
    finding: 'data held',
    title: 'the upload of one person is used in the action of another one (CWE-639)',
    place: shop,
    async attack(target) {
      const [owner, thief] = [await target.person(), await target.person()];
      const { handle } = await upload(owner, 'SECRET');
      const id = fresh();
      await target.sql(`INSERT INTO orders (id, label) VALUES (${id}, 'before')`);
      const answer = await thief.call('executeAction', {
        ...{ collectionName: 'orders', actionName: 'Attach', recordIds: [id] },
        values: { File: handle },
      });
      const [label] = await target.rows(`SELECT label FROM orders WHERE id = ${id}`);
      return verdict(label !== 'before', { label, answer });
    },
    protection: [
      {
        file: files,
        text: "row?.userId === userId && row.state === 'ready'",
        into: "row?.state === 'ready' && userId > 0",
      },
    ],
  },
  {
    id: 'held-upload-sent-twice',
    finding: 'data held',
    title: 'a file that was uploaded is replaced by a second PUT to its address',
    place: shop,
    async attack(target) {
      const owner = await target.person();
      const { url, status: first } = await upload(owner, 'first');
      const { status } = await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'second' });
      return verdict(status < 300, { first, second: status });
    },
    protection: [
      {
        file: files,
        text: "if (!(await rows.move(row.id, 'asked', 'arriving'))) fail('FILE_SENT', {});",
        into: "await rows.move(row.id, 'ready', 'arriving'); await rows.restart(row.id); await rows.move(row.id, 'asked', 'arriving');",
      },
    ],
  },
  {
    id: 'held-upload-too-large',
    finding: 'data held',
    title: 'an upload of 21 MB whose size is not announced is kept',
    place: shop,
    async attack(target) {
      const { status } = await upload(await target.person(), new Blob([Buffer.alloc(21_000_000, 'a')]).stream());
      return verdict(status === 201, { status });
    },
    protection: [
      { file: files, text: 'sealed.write(key, body, limitBytes)', into: 'sealed.write(key, body, limitBytes * 1000)' },
    ],
  },
];
