// Interrupted work: killed processes, lost connections, and batches with one failing record.
import { systemClock } from '../../../src/core/clock.ts';
import { redirectUri } from '../../app/shop.ts';
import { authorizationUrl, register } from '../../oauth/client.ts';
import { createBrowser } from '../../oauth/flow.ts';
import { askSql } from '../../sql/schemas.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import { fresh, shop } from './shop.ts';

const things: Place = {
  name: 'things that are cut off',
  tables: () => ['CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)'],
};

export const faultAttacks: readonly Attack[] = [
  {
    id: 'held-killed-under-writers',
    finding: 'data held',
    title: 'a process that is killed while eight write leaves records without an entry (CWE-778)',
    place: things,
    alone: true,
    async attack(target) {
      const attacker = await target.person();
      const acknowledged: number[] = [];
      let isOver = false;
      const write = async (first: number): Promise<void> => {
        for (let id = first; !isOver; id += 8) {
          const call = { collectionName: 'things', attributes: { id, name: 'new' } };
          const answer = await attacker.call('create', call).catch(() => 'cut');
          if (typeof answer === 'object') acknowledged.push(id);
          else if (answer === 'cut') return;
        }
      };
      const writers = Array.from({ length: 8 }, (_, at) => write(at + 1));
      // On a busy machine the first write takes seconds.
      for (let at = 0; at < 200 && acknowledged.length < 20; at++) await systemClock.sleep(100);
      target.signal('SIGKILL');
      isOver = true;
      await Promise.all(writers);
      await target.ended;
      const rows = (await target.rows('SELECT id FROM things')).map(Number);
      const storage = { dialect: 'sqlite', url: target.storage, drop: async () => undefined } as const;
      const [{ entries } = {}] = await askSql(
        storage,
        "SELECT count(*) AS entries FROM activity_logs WHERE action = 'create'",
      );
      const lost = acknowledged.filter((id) => !rows.includes(id));
      return verdict(lost.length > 0 || Number(entries) < rows.length, {
        acknowledged: acknowledged.length,
        rows: rows.length,
        entries,
        lost,
      });
    },
    protection: [
      {
        file: 'src/mcp/tool-call.ts',
        text: 'intent = await beginEntry(parts, entryOf({ tool, type, subject, auth, startedAt, approvalId }));',
        into: 'intent = { completeEntry: async () => undefined };',
      },
    ],
  },
  {
    id: 'held-refused-update-stays',
    finding: 'data held',
    title: 'an update that is refused for its row scope stays in a table with transactions',
    place: things,
    async attack(target) {
      const attacker = await target.person();
      const id = fresh();
      await target.sql(`INSERT INTO things VALUES (${id}, 'mine')`);
      await attacker.scope('things', { field: 'name', operator: 'Equal', value: 'mine' });
      const change = { collectionName: 'things', recordId: id, attributes: { name: 'theirs' } };
      const answer = await attacker.call('update', change);
      const [name] = await target.rows(`SELECT name FROM things WHERE id = ${id}`);
      return verdict(name !== 'mine', { name, answer });
    },
    protection: [
      {
        file: 'src/agent/sources/sql/transaction.ts',
        text: "await connection.runSql('rollback').catch((second",
        into: "await connection.runSql('commit').catch((second",
      },
    ],
  },
  {
    id: 'held-cut-before-commit',
    finding: 'data held',
    title: 'a connection that is lost before COMMIT leaves the write, or an entry that says it was done',
    on: ['mariadb', 'postgres'],
    place: { ...things, name: 'things over a wire that is cut', isWired: true },
    async attack(target) {
      const attacker = await target.person();
      await attacker.call('list', { collectionName: 'things' });
      const id = fresh();
      target.wire!.strike('not asked');
      const answer = await attacker.call('create', { collectionName: 'things', attributes: { id, name: 'new' } });
      target.wire!.mend();
      await systemClock.sleep(500);
      const rows = await target.rows(`SELECT id FROM things WHERE id = ${id}`);
      const storage = { dialect: 'sqlite', url: target.storage, drop: async () => undefined } as const;
      const entries = await askSql(storage, "SELECT outcome FROM activity_logs WHERE action = 'create' ORDER BY id");
      const outcome = entries.at(-1)?.outcome;
      return verdict(rows.length > 0 || outcome === 'completed' || typeof answer === 'object', {
        rows,
        outcome,
        answer,
      });
    },
    protection: [
      {
        file: 'src/agent/sources/sql/transaction.ts',
        text: "    if (fate === 'rolled back') throw error;\n    throw new AppError('OUTCOME_UNKNOWN', { of: 'write' }, new LostCommit(error, inquiry?.later));",
        into: '    return pendingCommit.answer;',
      },
    ],
  },
  {
    id: 'data-low-form-without-its-button',
    finding: 'data low',
    title: 'a sign-in form that is posted without its button says that it has expired',
    place: shop,
    async attack(target) {
      const { email, password } = await target.person();
      const registered = await register(target.origin, { client_name: 'Notebook', redirect_uris: [redirectUri] });
      const { url } = await authorizationUrl(registered, { redirectUri, resource: target.mcpUrl });
      const browser = createBrowser();
      const page = await browser.submit(await browser.open(url), 'sign-in', { email, password });
      const words = page.html
        .replace(/<(style|script).*?<\/\1>/gs, ' ')
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ');
      return verdict(!page.html.includes('value="allow"'), { status: page.status, words });
    },
    protection: [
      {
        file: 'src/oauth/login/sign-in-form.ts',
        text: "if (form.has('password')) return 'sign-in';",
        into: "if (form.has('none')) return 'sign-in';",
      },
    ],
  },
];
