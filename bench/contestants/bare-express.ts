import type { AddressInfo } from 'node:net';
import express from 'express';
import { tellUsage } from './usage.ts';
import { prepareAnswer, readWorks } from './work.ts';

tellUsage();
const answer = prepareAnswer(readWorks());
const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/mcp', async (req, res) => {
  res.type('application/json').send(await answer(req.body));
});
const server = app.listen(0, '127.0.0.1', () =>
  console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once('SIGTERM', () => process.exit(0));
