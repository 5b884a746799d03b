// All attempts on every database: test:long. `LEAKS_ONLY` is a pattern of ids.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servers } from '../../databases.ts';
import { leaks } from './all.ts';
import { type Judged, judge, openWorlds, type Worlds } from './judge.ts';

const only = new RegExp(process.env.LEAKS_ONLY ?? '.');

describe.each(servers)('$dialect', (maker) => {
  const ends: (() => Promise<void>)[] = [];
  let worlds: Worlds;
  beforeAll(async () => {
    worlds = await openWorlds(maker, (end) => ends.unshift(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('no attempt learns a hidden field or a row beyond the row scope', async () => {
    const judged: Judged[] = [];
    const chosen = leaks.filter(({ id }) => only.test(id));
    for (const leak of chosen) judged.push(await judge(leak, worlds));
    const controlled = judged.filter(({ isControlled }) => isControlled);
    const ofFields = controlled.filter(({ leak }) => leak.about === 'field').length;
    console.info(
      `${maker.dialect}: ${chosen.length} attempts, ${controlled.length} with a control (${ofFields} of fields)`,
    );
    expect(judged.flatMap(({ leak, learned }) => (learned ? [[leak.id, ...learned]] : []))).toEqual([]);
    if (chosen.length === leaks.length) expect(controlled.length).toBeGreaterThanOrEqual(300);
  });
});
