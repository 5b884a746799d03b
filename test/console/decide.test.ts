// One decision about an approval, without pages: who is refused, what is logged, and what follows.
import { expect, test } from 'vitest';
import type { Parts, SignedInRequest } from '../../src/console/page-request.ts';
import { decide } from '../../src/console/pages/approvals/decide.ts';
import type { Review } from '../../src/console/pages/approvals/review.ts';
import type { Approval } from '../../src/store/approvals/types.ts';

const approval = {
  id: 'a1',
  userId: 7,
  clientId: 'assistant',
  collection: 'orders',
  recordIds: ['1'],
} as unknown as Approval;
const request = { access: { caller: { id: 9, renderingId: 3 } } } as SignedInRequest;

interface World {
  readonly may?: Review['may'];
  /** Null: the viewer must not see it. */
  readonly review?: null;
  readonly isLate?: boolean;
  readonly dropFails?: boolean;
  readonly isSeen?: (review: Review) => boolean;
}

async function run(verdict: 'approved' | 'denied', world: World = {}) {
  const steps: unknown[] = [];
  const parts = {
    store: {
      approvals: {
        find: async () => approval,
        decide: async (id: string, decision: unknown) => {
          steps.push(['decide', id, decision]);
          return !world.isLate;
        },
      },
      activity: {
        begin: async (entry: Record<string, unknown>) => {
          steps.push(['log', entry.action, entry.userId, entry.collection, entry.recordIds, entry.approvalId]);
          return { complete: async ({ outcome }: { outcome: string }) => void steps.push(['logged', outcome]) };
        },
      },
    },
    reviewer: {
      review: async () => (world.review === null ? undefined : { approval, may: world.may ?? 'decide' }),
    },
    observe: ({ type, event }: { type: string; event?: string }) => void steps.push([type, event]),
    dropUploads: async () => {
      steps.push(['drop']);
      if (world.dropFails) throw new Error('no storage');
    },
    execution: { run: async () => void steps.push(['run']) },
    clock: { now: () => 0 },
  } as unknown as Parts;
  const { state } = await decide('a1', verdict, request, parts, world.isSeen);
  return { state, steps };
}

const decided = (verdict: string) => ['decide', 'a1', { by: 9, verdict }];
const log = (action: string) => ['log', action, 9, 'orders', ['1'], 'a1'];

test('an approval is logged before it is stored, and the call runs afterwards', async () => {
  expect(await run('approved')).toEqual({
    state: 'decided',
    steps: [log('approve'), decided('approved'), ['logged', 'completed'], ['security', 'approval.approved'], ['run']],
  });
});

test('a denial deletes the uploads and runs nothing, and stands if the deletion fails', async () => {
  const steps = [log('deny'), decided('denied'), ['logged', 'completed'], ['security', 'approval.denied'], ['drop']];
  expect([await run('denied'), await run('denied', { dropFails: true })]).toEqual([
    { state: 'decided', steps },
    { state: 'decided', steps: [...steps, ['warning', undefined]] },
  ]);
});

test.each([
  ['other', 'approved'],
  ['other', 'denied'],
  ['no', 'approved'],
  ['no', 'denied'],
] as const)('a viewer who may "%s" is refused, with a security event and nothing else: %s', async (may, verdict) => {
  expect(await run(verdict, { may })).toEqual({ state: 'refused', steps: [['security', 'approval.refused']] });
});

test.each(['approved', 'denied'] as const)('a viewer who must not see it changes nothing: %s', async (verdict) => {
  expect(await run(verdict, { review: null })).toEqual({ state: 'missing', steps: [] });
});

test('a review other than the one that was shown is not decided', async () => {
  expect(await run('approved', { isSeen: () => false })).toEqual({ state: 'changed', steps: [] });
});

test.each(['approved', 'denied'] as const)('a decision that comes second has no effect: %s', async (verdict) => {
  const { state, steps } = await run(verdict, { isLate: true });
  expect([state, steps.slice(1)]).toEqual(['late', [decided(verdict), ['logged', 'failed']]]);
});
