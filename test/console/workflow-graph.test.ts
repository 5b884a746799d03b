// The diagram of a workflow: it fits a phone where possible, text stays in its box, and the wide and the narrow version
// show the same steps and edges.
import { expect, test } from 'vitest';
import { drawWorkflow } from '../../src/console/pages/workflows/graph.ts';
import { widthOf, wrap } from '../../src/console/pages/workflows/graph-text.ts';
import { parseDefinition } from '../../src/workflows/definition/definition.ts';

const field = 'status';
const when = { field, operator: 'Equal', value: 'paid' };
const draw = (steps: readonly object[], states?: Parameters<typeof drawWorkflow>[1]): string =>
  drawWorkflow(parseDefinition({ name: 'Drawn', collection: 'orders', steps }), states).text;
const drawingsIn = (text: string) =>
  [...text.matchAll(/<svg class="graph (\w+)".*? width="(\d+)" height="(\d+)".*?<\/svg>/gs)].map(
    ([svg, kind, width, height]) => ({ svg, kind, width: Number(width), height: Number(height) }),
  );
const textsIn = (svg: string, kind: string): string =>
  [...svg.matchAll(new RegExp(`<text class="${kind}"[^>]*>([^<]*)<`, 'g'))].map(([, text]) => text).join(' ');

const branching = [
  {
    ...{ id: 'which', type: 'condition', title: 'Was it delivered to the customer?' },
    options: [
      { id: 'a', label: 'Delivered long ago', when, next: 'one' },
      { id: 'b', label: 'Not delivered', next: 'two' },
    ],
  },
  { id: 'one', type: 'guidance', title: 'Check the parcel', text: 'x' },
  { id: 'two', type: 'load-related-record', title: 'Find who bought it', relation: 'customer', otherwise: 'which' },
];

test('a diagram that fits a phone is drawn once, others a second time with narrower boxes', () => {
  const chain = drawingsIn(draw([{ id: 'one', type: 'read-record', fields: [field] }]));
  expect(chain.map(({ kind }) => kind)).toEqual(['wide']);
  const [wide, narrow] = drawingsIn(draw(branching));
  expect([wide!.kind, wide!.width > 306, narrow!.kind, narrow!.width <= 306]).toEqual(['wide', true, 'narrow', true]);
  for (const kind of ['name', 'kind', 'label']) {
    expect(textsIn(narrow!.svg, kind).length).toBeGreaterThan(5);
    expect(textsIn(narrow!.svg, kind)).toBe(textsIn(wide!.svg, kind));
  }
  // The ids of the two diagrams differ, since one of them may be hidden.
  const ids = [wide!, narrow!].map(({ svg }) => [/ id="([^"]+)"/.exec(svg)?.[1], new Set(svg.match(/url\(#[^)]+\)/g))]);
  expect(ids).toEqual([
    ['tip-wide', new Set(['url(#tip-wide)'])],
    ['tip-narrow', new Set(['url(#tip-narrow)'])],
  ]);
});

test('a diagram that is too wide for a phone is drawn as narrow as possible', () => {
  const ways = Array.from({ length: 6 }, (_, at) => ({ id: `w${at}`, ...(at < 5 && { when }), next: `s${at}` }));
  const steps = ways.map(({ next: id }) => ({ id, type: 'guidance', text: 'x' }));
  const [wide, narrow] = drawingsIn(draw([{ id: 'which', type: 'condition', options: ways }, ...steps]));
  expect([narrow!.width > 306, narrow!.width < wide!.width * 0.6]).toEqual([true, true]);
});

test('every line stays within its box, and every box within the drawing', () => {
  const title =
    'Donaudampfschifffahrtsgesellschaft & WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW 漢字漢字漢字漢字漢字漢字';
  const steps = branching.map((step) => ({ ...step, title }));
  for (const { svg, width, height } of drawingsIn(draw(steps, new Map([['one', 'waiting']])))) {
    const boxes = [
      ...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx="10"[^>]*\/>(.*?)<\/g>/gs),
    ];
    expect(boxes).toHaveLength(3);
    for (const [, ...given] of boxes) {
      const [x, y, w, h] = given.slice(0, 4).map(Number) as [number, number, number, number];
      expect([x >= 0, y >= 0, x + w <= width, y + h <= height]).toEqual([true, true, true, true]);
      const ys = [...given[4]!.matchAll(/ y="([\d.]+)"/g)].map(([, at]) => Number(at));
      expect(ys.length).toBeGreaterThan(1);
      for (const at of ys) expect([at > y, at < y + h]).toEqual([true, true]);
    }
  }
});

test('texts are wrapped between words, long words evenly, and the rest becomes an ellipsis', () => {
  const font = { size: 10, width: 60, lines: 3 };
  expect(wrap('', font)).toEqual([]);
  expect(wrap('Look at it', font)).toEqual(['Look at it']);
  expect(wrap('Related record\u00a0· automatic', font)).toEqual(['Related', 'record\u00a0·', 'automatic']);
  const word = 'abcdefghnopq';
  const pieces = wrap(word, font);
  expect([pieces.join(''), pieces.map(({ length }) => length)]).toEqual([word, [6, 6]]);
  const cut = wrap('one two three four five six seven eight nine ten', font);
  expect([cut.length, cut[2]!.endsWith('…')]).toEqual([3, true]);
  for (const line of [...pieces, ...cut]) expect(widthOf(line, font)).toBeLessThanOrEqual(60);
  expect(wrap('漢字', { ...font, width: 1 })).toEqual(['漢', '字']);
});
