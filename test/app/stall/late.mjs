// Loaded before the server (`node --import`): at SIGUSR2 it writes by how many milliseconds the event loop was late at most since
// the last time, to the file of PORTICO_TEST_LATE. What the server starts loads it as well and does nothing.
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
