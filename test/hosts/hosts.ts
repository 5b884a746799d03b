// Host applications as users write them: helmet, compression and a body parser first, then their own routes. Some
// routes have names that Portico would use without a basePath.
import 'reflect-metadata';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { Controller, Get, HttpCode, type INestApplication, Module, Post, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import compression from 'compression';
import express from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import helmet from 'helmet';
import Koa from 'koa';
import type { Agent } from '../../src/index.ts';

export interface Host {
  mount(agent: Agent): void;
  /** Adds the application's own middleware and routes. */
  furnish(): void | Promise<void>;
  listen(port: number): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface HostRow {
  readonly name: string;
  /** Whether the host has routes of its own. */
  readonly hasRoutes: boolean;
  open(): Host | Promise<Host>;
}

/** Long enough to be compressed. */
const front = 'The shop. '.repeat(400);
const texts: Readonly<Record<string, string>> = {
  '/': front,
  '/oauth/callback': 'of the shop',
  '/.well-known/security.txt': 'of the shop',
  '/mcp-dashboard': 'of the shop',
};
const express4 = createRequire(import.meta.url)('express4') as typeof express;

async function countBytes(stream: AsyncIterable<Buffer>): Promise<{ readonly bytes: number }> {
  let bytes = 0;
  for await (const part of stream) bytes += part.length;
  return { bytes };
}

type NodeMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** The middleware that every application uses first. */
const protectors = (): NodeMiddleware[] => [helmet() as NodeMiddleware, compression() as unknown as NodeMiddleware];

const listenOn = (server: Server, port: number) =>
  new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function openExpress(make: typeof express): Host {
  const app = make();
  const server = createServer(app);
  return {
    mount: (agent) => void agent.mountOnExpress(app),
    furnish() {
      app.use(...(protectors() as express.RequestHandler[]), make.json());
      for (const [path, text] of Object.entries(texts)) app.get(path, (_req, res) => void res.send(text));
      app.post('/orders', (req, res) => void res.json({ got: req.body }));
      app.post('/upload', (req, res) => void countBytes(req).then((counted) => res.json(counted)));
    },
    listen: (port) => listenOn(server, port),
    close: () => closeServer(server),
  };
}

/** Fastify runs Node middleware through a hook. */
function protectFastify(app: FastifyInstance): void {
  for (const protect of protectors())
    app.addHook('onRequest', (request, reply, done) => protect(request.raw, reply.raw, done as () => void));
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
}

function openFastify(): Host {
  const app = fastify({ forceCloseConnections: true });
  return {
    mount: (agent) => void agent.mountOnFastify(app),
    async furnish() {
      protectFastify(app);
      await app.register(async (inner) => {
        for (const [path, text] of Object.entries(texts)) inner.get(path, async () => text);
        inner.post('/orders', async (request) => ({ got: request.body }));
        inner.post('/upload', (request) => countBytes(request.body as AsyncIterable<Buffer>));
      });
    },
    listen: (port) => app.listen({ port, host: '127.0.0.1' }),
    close: () => app.close(),
  };
}

function openKoa(): Host {
  const app = new Koa().on('error', () => undefined);
  const server = createServer();
  return {
    mount: (agent) => void agent.mountOnKoa(app),
    furnish() {
      for (const protect of protectors())
        app.use(async (ctx, next) => {
          await new Promise<void>((resolve) => protect(ctx.req, ctx.res, () => resolve()));
          return next();
        });
      app.use(async (ctx, next) => {
        if (!ctx.is('json')) return next();
        const parts: Buffer[] = [];
        for await (const part of ctx.req) parts.push(part);
        try {
          Object.assign(ctx.request, { body: JSON.parse(`${Buffer.concat(parts)}`) });
        } catch {
          ctx.throw(400, 'no JSON');
        }
        return next();
      });
      app.use(async (ctx, next) => {
        const text = texts[ctx.path];
        if (ctx.method === 'GET' && text !== undefined) ctx.body = text;
        else if (ctx.method === 'POST' && ctx.path === '/orders')
          ctx.body = { got: (ctx.request as { body?: unknown }).body };
        else if (ctx.method === 'POST' && ctx.path === '/upload') ctx.body = await countBytes(ctx.req);
        else return next();
      });
    },
    listen(port) {
      server.on('request', app.callback());
      return listenOn(server, port);
    },
    close: () => closeServer(server),
  };
}

// Decorators are applied by hand, because the test files are only stripped of types, not compiled.
class ShopController {
  front(): string {
    return front;
  }
  own(): string {
    return 'of the shop';
  }
  order(req: { readonly body: unknown }): object {
    return { got: req.body };
  }
  upload(req: AsyncIterable<Buffer> & { readonly body?: AsyncIterable<Buffer> }): Promise<object> {
    return countBytes(Symbol.asyncIterator in (req.body ?? {}) ? req.body! : req);
  }
}
export class ShopModule {}

function decorate(method: keyof ShopController, ...decorators: readonly MethodDecorator[]): void {
  const { prototype } = ShopController;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, method)!;
  for (const one of decorators) one(prototype, method, descriptor);
}
decorate('front', Get('/'));
decorate('own', Get(['/oauth/callback', '/.well-known/security.txt', '/mcp-dashboard']));
for (const method of ['order', 'upload'] as const) Req()(ShopController.prototype, method, 0);
decorate('order', Post('/orders'), HttpCode(200));
decorate('upload', Post('/upload'), HttpCode(200));
Controller()(ShopController);
Module({ controllers: [ShopController] })(ShopModule);

async function openNest(platform: 'express' | 'fastify'): Promise<Host> {
  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter({ forceCloseConnections: true });
  const app: INestApplication = await NestFactory.create(ShopModule, adapter, { logger: false });
  return {
    mount: (agent) => void agent.mountOnNestJs(app),
    async furnish() {
      if (platform === 'express') app.use(...protectors());
      else protectFastify(app.getHttpAdapter().getInstance() as FastifyInstance);
      await app.init();
    },
    listen: (port) => app.listen(port, '127.0.0.1'),
    close: () => app.close(),
  };
}

/** An application that is a plain function, with the features of the frameworks. */
function openPlain(): Host {
  let handle: (req: IncomingMessage, res: ServerResponse, next: () => void) => void = (_req, _res, next) => next();
  const answer: RequestListener = async (req, res) => {
    const parts: Buffer[] = [];
    const text = texts[req.url ?? ''];
    if (req.method === 'POST' && req.url === '/orders') {
      for await (const part of req) parts.push(part);
      res.end(JSON.stringify({ got: JSON.parse(`${Buffer.concat(parts)}`) }));
    } else if (req.method === 'POST' && req.url === '/upload') res.end(JSON.stringify(await countBytes(req)));
    else if (req.method === 'GET' && text !== undefined) res.end(text);
    else res.writeHead(404).end('nothing of the shop');
  };
  const protect = protectors().reduceRight<RequestListener>(
    (after, before) => (req, res) => before(req, res, () => after(req, res)),
    (req, res) => void Promise.resolve(answer(req, res)).catch(() => res.writeHead(400).end('no JSON')),
  );
  const server = createServer((req, res) => handle(req, res, () => protect(req, res)));
  return {
    mount(agent) {
      handle = agent.requestHandler;
    },
    furnish: () => undefined,
    listen: (port) => listenOn(server, port),
    close: () => closeServer(server),
  };
}

function openStandalone(): Host {
  let mounted: Agent | undefined;
  return {
    mount(agent) {
      mounted = agent;
    },
    furnish: () => undefined,
    async listen(port) {
      mounted?.mountOnStandaloneServer(port);
    },
    close: async () => undefined,
  };
}

export const hosts: readonly HostRow[] = [
  { name: 'Express 4', hasRoutes: true, open: () => openExpress(express4) },
  { name: 'Express 5', hasRoutes: true, open: () => openExpress(express) },
  { name: 'Fastify', hasRoutes: true, open: openFastify },
  { name: 'Koa', hasRoutes: true, open: openKoa },
  { name: 'NestJS on Express', hasRoutes: true, open: () => openNest('express') },
  { name: 'NestJS on Fastify', hasRoutes: true, open: () => openNest('fastify') },
  { name: 'a Node handler', hasRoutes: true, open: openPlain },
  { name: 'a standalone server', hasRoutes: false, open: openStandalone },
];

/** Of a server that listened there a moment ago. */
