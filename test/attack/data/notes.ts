// Notes about records: who can read a note by its number.
import { type Attack, verdict } from '../attack.ts';
import type { Person, Target } from '../target.ts';
import { fresh, shop } from './shop.ts';

/** Creates a note of this person about a new record. */
async function write(target: Target, person: Person) {
  const recordId = fresh();
  await target.sql(`INSERT INTO orders (id, label) VALUES (${recordId}, 'noted')`);
  const { renderingId } = (await target.store.permissions.caller(person.id))!;
  const about = { title: `Note of ${person.email}`, collection: 'orders', recordId: String(recordId) };
  return { id: await target.store.notes.create({ ...about, userId: person.id, renderingId }), title: about.title };
}

const visible = 'src/console/pages/notes/visible.ts';

export const noteAttacks: readonly Attack[] = [
  {
    id: 'held-note-of-another-team',
    finding: 'data held',
    title: 'a note of another team is opened by its number (CWE-639)',
    place: shop,
    async attack(target) {
      const author = await target.person();
      const { id, title } = await write(target, author);
      const own = await (await author.visit('/notes')).open(`/notes/${id}`);
      if (!own.html.includes(title)) throw new Error(`the author does not see it: ${own.status}`);
      const { status, html } = await (await (await target.person()).visit('/notes')).open(`/notes/${id}`);
      return verdict(html.includes(title), { status });
    },
    protection: [{ file: visible, text: "(note.team === team || permissionLevel === 'admin') &&", into: '' }],
  },
  {
    id: 'held-note-about-an-unseen-record',
    finding: 'data held',
    title: 'a note shows that a record is there that its reader may not see',
    place: shop,
    async attack(target) {
      const author = await target.person();
      const { id, title } = await write(target, author);
      const reader = await target.person({ team: author.team });
      await reader.scope('orders', { field: 'label', operator: 'Equal', value: 'another' });
      const { status, html } = await (await reader.visit('/notes')).open(`/notes/${id}`);
      return verdict(html.includes(title), { status });
    },
    protection: [
      {
        file: visible,
        text: 'return open.filter((note) => visibleByCollection.get(note.collection!)?.has(note.recordId));',
        into: 'return open.filter((note) => visibleByCollection.has(note.collection!));',
      },
    ],
  },
];
