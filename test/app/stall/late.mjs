// Loaded before the server (`node --import`). On SIGUSR2 it writes the longest event loop delay since the last signal,
// in milliseconds, to the file PORTICO_TEST_LATE. Child processes of the server load it too, without effect.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

if (process.argv[1]?.endsWith('main.js')) {
  const resolution = 5;
  const histogram = monitorEventLoopDelay({ resolution });
  histogram.enable();
  process.on('SIGUSR2', () => {
    writeFileSync(process.env.PORTICO_TEST_LATE, `${histogram.count === 0 ? 0 : histogram.max / 1e6 - resolution}\n`);
    histogram.reset();
  });
}
