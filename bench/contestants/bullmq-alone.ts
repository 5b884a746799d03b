// A plain BullMQ solution: a job reads the order, checks it and changes it, and no API returns
// its outcome. Responds like the other contestants, on one path: a job for the order in the body.
import { createServer } from 'node:http';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { tellUsage } from './usage.ts';

tellUsage();
const { SERVICE_REDIS_URL: redisUrl, SERVICE_DATABASE_URL: databaseUrl } = process.env;
const connection = new Redis(redisUrl!, { maxRetriesPerRequest: null });
const pool = mysql.createPool({ uri: databaseUrl!, connectionLimit: 10 });
const queue = new Queue('alone', {
  connection,
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
});
new Worker<{ id: string }>(
  'alone',
  async ({ data: { id } }) => {
    const [[order]] = (await pool.execute('SELECT total FROM orders WHERE id = ?', [id])) as unknown as [
      { total: number }[],
    ];
    if (order && order.total > 0) await pool.execute("UPDATE orders SET status = 'paid' WHERE id = ?", [id]);
  },
  { connection, concurrency: 8 },
);
const server = createServer(async (req, res) => {
  let text = '';
  for await (const chunk of req) text += chunk;
  const { record_id: id } = JSON.parse(text) as { record_id: string };
  const job = await queue.add('run', { id });
  res.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ runId: job.id }));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening http://127.0.0.1:${(server.address() as { port: number }).port}`);
});
process.once('SIGTERM', () => process.exit(0));
