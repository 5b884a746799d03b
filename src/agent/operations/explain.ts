// Explains an operation as text. For a list or an aggregate this is the plan. The statements of a write depend on the
// data, so the write runs, its statements are recorded, and the transaction rolls back.
import type { Access } from '../../core/caller.ts';
import type { AggregateRequest, CreateRequest, DeleteRequest, ListRequest, UpdateRequest } from '../requests.ts';
import { explainAggregate } from './aggregate.ts';
import type { Operations } from './call.ts';
import { explainList } from './list.ts';
import { create, remove, update } from './write.ts';

export interface Explained {
  readonly list: ListRequest;
  readonly aggregate: AggregateRequest;
  readonly create: CreateRequest;
  readonly update: UpdateRequest;
  readonly delete: DeleteRequest;
}

type Explain<Request> = (ops: Operations, access: Access, request: Request) => Promise<string>;

const explainers: { readonly [O in keyof Explained]: Explain<Explained[O]> } = {
  list: explainList,
  aggregate: explainAggregate,
  create: (ops, access, request) =>
    watched(ops, `create ${request.collection}`, (watching) => create(watching, access, request, { preview: true })),
  update: (ops, access, request) =>
    watched(ops, `update ${request.collection}, as a preview, which reads the records first`, (watching) =>
      update(watching, access, request, { preview: true }),
    ),
  delete: (ops, access, request) =>
    watched(ops, `delete ${request.collection}`, (watching) => remove(watching, access, request, { preview: true })),
};

/** Throws the errors of the operation itself. */
export function explain<O extends keyof Explained>(
  ops: Operations,
  access: Access,
  operation: O,
  request: Explained[O],
): Promise<string> {
  return explainers[operation](ops, access, request);
}

async function watched(ops: Operations, title: string, run: (ops: Operations) => Promise<unknown>): Promise<string> {
  const texts: string[] = [];
  await run({ ...ops, watch: (text) => void texts.push(text) });
  const lines = texts.flatMap((text) => [
    '  sql',
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => `    ${line}`),
  ]);
  return `${[title, ...(texts.length ? lines : ['  no statement'])].join('\n')}\n`;
}
