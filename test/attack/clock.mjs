// Loaded with `--import`: SIGUSR2 sets the clock of the process back by an hour.
const now = Date.now.bind(Date);
let back = 0;
Date.now = () => now() - back;
process.on('SIGUSR2', () => {
  back = 3_600_000;
});
