// Expiry of the code that a terminal shows. Its shortest lifetime is ten seconds.
import { expect, test } from 'vitest';
import { openCloud } from './cloud-server.ts';
import { portico } from './command.ts';

test('an unused code expires after the time that the server sets', { timeout: 60_000 }, async () => {
  const own = await openCloud({ SERVICE_DEVICE_CODE_SECONDS: '10' });
  try {
    const { code, stderr } = await portico(['cloud', 'login', '--server', own.origin], own.work());
    expect([code, stderr]).toEqual([1, 'portico: The code has expired. Run the command again for a new one.\n']);
  } finally {
    await own.stop();
  }
});
