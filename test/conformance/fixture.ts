// Everything besides tools that the official conformance suite requires: prompts, resources, completion and logging.
// They extend the real endpoint, which keeps its own tools and its token check. The suite has no option for a token,
// so a reverse proxy adds one to each request. It passes on everything else, including Host and Origin.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  acceptedContent,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server';
import type { Extension } from '../../src/mcp/server.ts';
import { fixtureTools, png } from './fixture-tools.ts';

const resources = [
  { uri: 'test://static-text', name: 'static-text', description: 'A text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', description: 'An image', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', description: 'Watched', mimeType: 'text/plain' },
];

const argument = (name: string) => ({ name, description: `Argument ${name}`, required: true });
const prompts = [
  { name: 'test_simple_prompt', description: 'Without arguments' },
  {
    name: 'test_prompt_with_arguments',
    description: 'With arguments',
    arguments: [argument('arg1'), argument('arg2')],
  },
  { name: 'test_prompt_with_embedded_resource', description: 'A resource', arguments: [argument('resourceUri')] },
  { name: 'test_prompt_with_image', description: 'An image' },
  { name: 'test_input_required_result_prompt', description: 'Asks first' },
];

type PromptContent =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; text: string } };

const say = (...contents: PromptContent[]) => ({
  messages: contents.map((content) => ({ role: 'user' as const, content })),
});

function promptOf(name: string, given: Record<string, string>) {
  switch (name) {
    case 'test_simple_prompt':
      return say({ type: 'text', text: 'This is a simple prompt for testing.' });
    case 'test_prompt_with_arguments':
      return say({ type: 'text', text: `Prompt with arguments: arg1='${given.arg1}', arg2='${given.arg2}'` });
    case 'test_prompt_with_embedded_resource':
      return say(
        {
          type: 'resource',
          resource: {
            uri: given.resourceUri ?? '',
            mimeType: 'text/plain',
            text: 'Embedded resource content for testing.',
          },
        },
        { type: 'text', text: 'Please process the embedded resource above.' },
      );
    case 'test_prompt_with_image':
      return say(
        { type: 'image', data: png, mimeType: 'image/png' },
        { type: 'text', text: 'Please analyze the image above.' },
      );
    default:
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No prompt ${name}`);
  }
}

function resourceOf(uri: string) {
  const template = /^test:\/\/template\/([^/]+)\/data$/.exec(uri);
  if (template) {
    const id = template[1]!;
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { uri, mimeType: 'application/json', text };
  }
  switch (uri) {
    case 'test://static-text':
      return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
    case 'test://static-binary':
      return { uri, mimeType: 'image/png', blob: png };
    case 'test://watched-resource':
      return { uri, mimeType: 'text/plain', text: 'Watched.' };
    default:
      throw new ResourceNotFoundError(uri);
  }
}

function install(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({ prompts }));
  server.setRequestHandler('prompts/get', async (incoming, ctx) => {
    const { name, arguments: given } = incoming.params;
    if (name !== 'test_input_required_result_prompt') return promptOf(name, given ?? {});
    const answer = acceptedContent<{ context?: string }>(ctx.mcpReq.inputResponses, 'user_context');
    if (answer) return say({ type: 'text', text: `Context: ${answer.context}` });
    const user_context = inputRequired.elicit({
      message: 'What context should the prompt use?',
      requestedSchema: { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] },
    });
    return inputRequired({ inputRequests: { user_context } });
  });
  server.setRequestHandler('resources/list', () => ({ resources }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'By id',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler('resources/read', async (incoming) => ({ contents: [resourceOf(incoming.params.uri)] }));
  server.setRequestHandler('resources/subscribe', async () => ({}));
  server.setRequestHandler('resources/unsubscribe', async () => ({}));
  server.setRequestHandler('completion/complete', async (incoming) => {
    const values = ['paris', 'park', 'party'].filter((word) => word.startsWith(incoming.params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}

export const conformanceFixture: Extension = {
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    completions: {},
    logging: {},
  },
  tools: fixtureTools,
  install,
};

export interface AuthProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on `localhost`, because the suite tests DNS rebinding only there. */
export async function openAuthProxy(target: URL, authorization: string): Promise<AuthProxy> {
  const server = createServer((req, res) => {
    const headers = { ...req.headers, authorization };
    const onward = request(
      { host: target.hostname, port: target.port, path: req.url, method: req.method, headers, agent: false },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}${target.pathname}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
