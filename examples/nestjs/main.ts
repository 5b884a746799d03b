// NestJS and Portico in one process. Portico answers its own paths before the application's body parser, guards and pipes.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { createWarehouseAgent } from './agent.ts';
import { Warehouse } from './warehouse.ts';

const port = Number(process.env.PORT ?? 3000);
const publicUrl = `http://localhost:${port}`;

const app = await NestFactory.create(Warehouse, { logger: ['warn', 'error'] });
app.enableShutdownHooks();

const agent = createWarehouseAgent(publicUrl);
agent.mountOnNestJs(app);
await agent.start();
await app.listen(port, '127.0.0.1');
console.log(`For assistants: ${publicUrl}/portico/mcp`);

process.once('SIGTERM', () => agent.stop());
