// For a process whose clock is set back by an hour when it is sent SIGUSR2 (`--import`).
const now = Date.now.bind(Date);
let back = 0;
Date.now = () => now() - back;
process.on('SIGUSR2', () => {
  back = 3_600_000;
});
