// The honest client: calls one tool again and again, and asks /healthz after each tenth call. It is a process of its
// own, so its figures hold no time in which the test itself writes the attack or reads its answers.
// argv: the URL, and the request as JSON. 'start' and 'stop' come as messages, the figures go back as one.
import { Agent, request } from 'undici';

const url = process.argv[2];
const { headers, body, expected, timeoutMs } = JSON.parse(process.argv[3]);
const dispatcher = new Agent({ connections: 2 });

let stopped = false;
process.on('message', (message) => {
  stopped = message === 'stop';
  if (message === 'start') void measure();
});

async function measure() {
  const taken = [];
  const failures = [];
  let health = 0;
  while (!stopped) {
    const began = performance.now();
    const text = await call();
    taken.push(performance.now() - began);
    if (!text.startsWith('200') || !text.includes(expected)) failures.push(text.slice(0, 200));
    if (taken.length % 10 === 1) {
      const asked = performance.now();
      const answer = await request(new URL('/healthz', url), { dispatcher });
      await answer.body.dump();
      health = Math.max(health, performance.now() - asked);
      if (answer.statusCode !== 200) failures.push(`/healthz: ${answer.statusCode}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  process.send({ taken, failures, health });
}

async function call() {
  try {
    const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const answer = await request(url, { method: 'POST', headers, body, dispatcher, ...limits });
    return `${answer.statusCode} ${await answer.body.text()}`;
  } catch (error) {
    return String(error);
  }
}
