// The SDK as its documentation shows it: createMcpHandler, McpServer, zod, Express. It checks
// no token and runs no SQL. Its tool returns the text that Portico returned, from memory.
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import express from 'express';
import { z } from 'zod';
import { operations } from '../operations.ts';
import { tellUsage } from './usage.ts';
import { readWorks } from './work.ts';

tellUsage();
const { works } = readWorks();
const listing = {
  collectionName: z.string(),
  search: z.string().optional(),
  filters: z.unknown().optional(),
  sort: z.object({ field: z.string(), ascending: z.boolean().default(true) }).optional(),
  fields: z.array(z.string()).optional(),
  pagination: z.object({ size: z.number().default(15), number: z.number().default(1) }).optional(),
  enableCount: z.boolean().default(false),
};
const shapes: Readonly<Record<string, z.ZodRawShape>> = {
  list: listing,
  listRelated: { ...listing, relationName: z.string(), parentRecordId: z.string() },
  aggregate: { ...listing, operation: z.enum(['Count', 'Sum', 'Avg', 'Min', 'Max']), groups: z.array(z.string()) },
  describeCollection: { collectionName: z.string().optional() },
  create: { collectionName: z.string(), attributes: z.record(z.string(), z.unknown()) },
  update: {
    collectionName: z.string(),
    recordId: z.string(),
    attributes: z.record(z.string(), z.unknown()),
  },
};

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  for (const name of new Set(operations.flatMap(({ tool }) => tool ?? [])))
    server.registerTool(
      name,
      { description: `The tool ${name}`, inputSchema: z.object(shapes[name]) },
      async (_given, { mcpReq }) => works[mcpReq.id]!.result as { content: [{ type: 'text'; text: string }] },
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
