// Explains an operation as text. For a list or an aggregate this is the plan. The statements of a write depend on the
// data, so the write runs, its statements are recorded, and the transaction rolls back.
import type { Access } from '../../core/caller.ts';
import type { AggregateRequest, CreateRequest, DeleteRequest, ListRequest, UpdateRequest } from '../requests.ts';
import { explainAggregate } from './aggregate.ts';
import type { Operations } from './call.ts';
import { explainList } from './list.ts';
import { create, remove, update } from './write.ts';

/** The request of each operation that `explain` accepts. */
export interface ExplainRequests {
  /** The request of a list. */
  readonly list: ListRequest;
  /** The request of an aggregate. */
  readonly aggregate: AggregateRequest;
  /** The request of a create. */
  readonly create: CreateRequest;
  /** The request of an update. */
  readonly update: UpdateRequest;
  /** The request of a delete. */
  readonly delete: DeleteRequest;
}

type Explain<Request> = (ops: Operations, access: Access, request: Request) => Promise<string>;

const explainers: { readonly [O in keyof ExplainRequests]: Explain<ExplainRequests[O]> } = {
  list: explainList,
  aggregate: explainAggregate,
  create: (ops, access, request) =>
    explainByRunning(ops, `create ${request.collection}`, (watching) =>
      create(watching, access, request, { preview: true }),
    ),
  update: (ops, access, request) =>
    explainByRunning(ops, `update ${request.collection}, as a preview, which reads the records first`, (watching) =>
      update(watching, access, request, { preview: true }),
    ),
  delete: (ops, access, request) =>
    explainByRunning(ops, `delete ${request.collection}`, (watching) =>
      remove(watching, access, request, { preview: true }),
    ),
};

/** Throws the errors of the operation itself. */
export function explain<O extends keyof ExplainRequests>(
  ops: Operations,
  access: Access,
  operation: O,
  request: ExplainRequests[O],
): Promise<string> {
  return explainers[operation](ops, access, request);
}

async function explainByRunning(
  ops: Operations,
  title: string,
  run: (ops: Operations) => Promise<unknown>,
): Promise<string> {
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
