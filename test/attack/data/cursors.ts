// Cursors: what they reveal, and forged cursors.
import { type Attack, verdict } from '../attack.ts';
import { all } from '../target.ts';
import { shop } from './shop.ts';

export const cursorAttacks: readonly Attack[] = [
  {
    id: 'data-7-cursor-of-hidden-field',
    finding: 'data 7',
    title: 'a field that is sorted by a hidden one shows it in the cursor (CWE-200)',
    place: shop,
    async attack(target) {
      const attacker = await target.person({
        permissions: { '*': all, customers: { ...all, fields: { secret: 'hidden' } } },
      });
      const answer = await attacker.call('list', {
        collectionName: 'customers',
        fields: ['display'],
        sort: [{ field: 'display' }],
        pagination: { size: 1 },
      });
      const { nextCursor = '' } = answer as { nextCursor?: string };
      const read = Buffer.from(nextCursor, 'base64url').toString();
      return verdict(/SECRET/.test(read + JSON.stringify(answer)), { answer, read });
    },
    protection: [{ file: 'src/agent/operations/list.ts', text: ' && !order.some(({ hidden }) => hidden)', into: '' }],
  },
];
