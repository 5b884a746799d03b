// Exports, tokens and sessions that continue after their rights ended, and CSV cells that a spreadsheet executes.
import { sessionToken } from '../../rest/front-end.ts';
import { type Attack, verdict } from '../attack.ts';
import { all } from '../target.ts';
import { fresh, shop } from './shop.ts';

const ROWS = 6000;

export const exportAttacks: readonly Attack[] = [
  {
    id: 'data-9-export-after-disable',
    isSlow: true,
    finding: 'data 9',
    title: 'an export goes on, page after page, after its user was disabled (CWE-613)',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const text = 'x'.repeat(8000);
      const from = 1_000_000 + fresh() * 10_000;
      for (let at = 0; at < ROWS; at += 500) {
        const values = Array.from({ length: 500 }, (_, n) => `(${from + at + n}, '${text}')`);
        await target.sql(`INSERT INTO notes (id, body) VALUES ${values.join(', ')}`);
      }
      const token = await sessionToken(target.apiUrl, attacker);
      const filters = encodeURIComponent(JSON.stringify({ field: 'id', operator: 'GreaterThan', value: from - 1 }));
      const response = await fetch(`${target.apiUrl}/notes.csv?fields[notes]=id,body&filters=${filters}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const reader = response.body!.getReader();
      await reader.read();
      await target.store.identity.setDisabled(attacker.id, true);
      let rows = 0;
      let end = 'whole';
      try {
        for (let part = await reader.read(); !part.done; part = await reader.read())
          rows += Buffer.from(part.value).toString('latin1').split('\n').length - 1;
      } catch (error) {
        end = (error as Error).message;
      }
      await target.sql(`DELETE FROM notes WHERE id >= ${from}`);
      return verdict(end === 'whole' && rows >= ROWS - 1000, { status: response.status, rows, end });
    },
    protection: [
      {
        file: 'src/rest/records/export.ts',
        text: 'const access = await call.currentAccess();',
        into: 'const access = call.access;',
      },
    ],
  },
  {
    id: 'held-disable-is-felt',
    finding: 'data held',
    title: 'a token works after another process disabled its user',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      await attacker.call('list', { collectionName: 'orders' });
      const session = await sessionToken(target.apiUrl, attacker);
      await target.store.identity.setDisabled(attacker.id, true);
      const answer = await attacker.call('list', { collectionName: 'orders' });
      const rest = await fetch(`${target.apiUrl}/orders`, { headers: { authorization: `Bearer ${session}` } });
      return verdict(typeof answer === 'object' || rest.ok, { answer, rest: rest.status });
    },
    protection: [
      {
        file: 'src/store/permissions/access.ts',
        text: 'return found?.version === version ? found.access : undefined;',
        into: 'return found?.access;',
      },
    ],
  },
  {
    id: 'held-export-without-right',
    finding: 'data held',
    title: 'a role that may browse and not export gets the whole collection as a file (CWE-862)',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ permissions: { '*': { ...all, export: false } } });
      const { status, text } = await attacker.http('GET', '/customers.csv?fields[customers]=id,name');
      return verdict(text.includes('Ada'), { status, text });
    },
    protection: [
      {
        file: 'src/rest/records/export.ts',
        text: "if (!access.can('export', collection))",
        into: "if (!access.can('browse', collection))",
      },
    ],
  },
  {
    id: 'held-csv-formula',
    finding: 'data held',
    title: 'a cell of an exported file is a formula for a spreadsheet (CWE-1236)',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const id = fresh();
      const label = '=HYPERLINK("http://evil.example","x")';
      await attacker.call('create', { collectionName: 'orders', attributes: { id, label } });
      const filters = encodeURIComponent(JSON.stringify({ field: 'id', operator: 'Equal', value: id }));
      const { text } = await attacker.http('GET', `/orders.csv?fields[orders]=id,label&filters=${filters}`);
      return verdict(/(^|[,\n"])=HYPERLINK/.test(text), { text });
    },
    protection: [
      { file: 'src/http/csv-cell.ts', text: 'return quote(neutralizeFormula(text));', into: 'return quote(text);' },
    ],
  },
];
