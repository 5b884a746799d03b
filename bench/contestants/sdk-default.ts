// The SDK as its documentation shows it: createMcpHandler, McpServer, zod, Express. No token check, and no SQL: the
// tool answers a text of the same length from memory.
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import express from 'express';
import { z } from 'zod';

const text = process.env.BENCH_TEXT ?? '{}';
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool(
    'describeCollection',
    { description: 'Describes a collection', inputSchema: z.object({ collectionName: z.string().optional() }) },
    async () => ({ content: [{ type: 'text', text: '{}' }] }),
  );
  server.registerTool(
    'list',
    {
      description: 'Lists records of a collection',
      inputSchema: z.object({
        collectionName: z.string(),
        search: z.string().optional(),
        filters: z.unknown().optional(),
        sort: z.object({ field: z.string(), ascending: z.boolean().default(true) }).optional(),
        fields: z.array(z.string()).optional(),
        pagination: z.object({ size: z.number().default(15), number: z.number().default(1) }).optional(),
        enableCount: z.boolean().default(false),
      }),
    },
    async () => ({ content: [{ type: 'text', text }] }),
  );
  return server;
});
const node = toNodeHandler(handler);
const app = express();
app.use(express.json());
app.all('/mcp', (req, res) => void node(req, res, req.body));
const server = app.listen(0, '127.0.0.1', () =>
  console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once('SIGTERM', () => process.exit(0));
