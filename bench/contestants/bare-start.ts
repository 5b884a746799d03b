// The least that answers a list of orders after its start: a node:http handler with the driver and one statement.
import { createServer } from 'node:http';
import Database from 'better-sqlite3';

const { BENCH_FILE: file, BENCH_PORT: port } = process.env;
const database = new Database(file);
const list = database.prepare('select * from orders order by id limit 16');
const server = createServer((_req, res) => {
  const rows = list.all();
  const body = JSON.stringify({ rows: rows.slice(0, 15), hasMore: rows.length > 15 });
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  res.end(body);
});
server.listen(Number(port), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
