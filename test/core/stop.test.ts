import { expect, test } from 'vitest';
import { Stop, toAbortSignal } from '../../src/core/clock/stop.ts';
import { systemClock } from '../../src/core/clock.ts';

test('calls each listener once, in order, and no removed listener', () => {
  const stop = new Stop();
  const told: string[] = [];
  const gone = () => told.push('gone');
  stop.addEventListener('abort', () => told.push('first'));
  stop.addEventListener('abort', gone);
  stop.addEventListener('abort', () => told.push('second'));
  stop.removeEventListener('abort', gone);
  stop.abort('enough');
  stop.abort('again');
  expect([told, stop.aborted, stop.reason]).toEqual([['first', 'second'], true, 'enough']);
});

test('converts to a real AbortSignal, before and after the abort', () => {
  const stop = new Stop();
  const before = toAbortSignal(stop);
  expect(before.aborted).toBe(false);
  stop.abort('enough');
  const late = new Stop();
  late.abort('enough');
  for (const signal of [before, toAbortSignal(stop), toAbortSignal(late)])
    expect([signal instanceof AbortSignal, signal.aborted, signal.reason]).toEqual([true, true, 'enough']);
});

test('a real signal is passed unchanged, and any other is followed', () => {
  const controller = new AbortController();
  expect(toAbortSignal(controller.signal)).toBe(controller.signal);
  const stop = new Stop();
  const foreign = {
    aborted: false,
    reason: undefined,
    addEventListener: stop.addEventListener.bind(stop),
    removeEventListener: stop.removeEventListener.bind(stop),
  };
  const signal = toAbortSignal(foreign);
  stop.abort();
  expect(signal.aborted).toBe(true);
});

test('without a reason it is an AbortError, and ends a sleep', async () => {
  const stop = new Stop();
  const sleeping = systemClock.sleep(60_000, stop);
  stop.abort();
  await expect(sleeping).rejects.toMatchObject({ name: 'AbortError' });
  await expect(systemClock.sleep(60_000, stop)).rejects.toMatchObject({ name: 'AbortError' });
});
