// Serves the table of prompts over the protocol.
import { ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { type ErrorCode, isAppError } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { CallerContext } from '../resources/visible-resources.ts';
import { errorText } from '../results/result.ts';
import { type Prompt, prompts } from './prompts.ts';

export function visiblePrompts({ tools }: CallerContext): readonly Prompt[] {
  return prompts.filter((prompt) => prompt.tools.every((tool) => tools.has(tool)));
}

export function installPrompts(server: Server, contextOf: (ctx: ServerContext) => CallerContext): void {
  server.setRequestHandler('prompts/list', (_request, ctx) => ({
    prompts: visiblePrompts(contextOf(ctx)).map(({ name, title, description, arguments: all }) => ({
      name,
      title,
      description,
      arguments: all.map(({ name: argument, description: about, required }) => ({
        name: argument,
        description: about,
        required,
      })),
    })),
  }));

  server.setRequestHandler('prompts/get', async ({ params }, ctx) => {
    const context = contextOf(ctx);
    const visible = visiblePrompts(context);
    const prompt = visible.find(({ name }) => name === params.name) ?? failUnknown(params.name, visible);
    const args = readArguments(prompt, params.arguments ?? {});
    const { viewer, callTool } = context;
    const text = await prompt
      .text({ viewer, args, callTool })
      .catch((error: unknown) => failWithProtocolError(error, context.hiddenTools));
    return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
}

function readArguments(prompt: Prompt, input: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const names = prompt.arguments.map(({ name }) => name);
  for (const name of Object.keys(input))
    if (!names.includes(name)) failInvalidParams(`${name}: unknown argument. Known: ${names.join(', ')}.`);
  const args = Object.fromEntries(names.map((name) => [name, input[name]?.trim() || undefined]));
  for (const { name, required, description } of prompt.arguments)
    if (required && args[name] === undefined) failInvalidParams(`${name}: required. ${description}.`);
  return args;
}

function failUnknown(name: string, visible: readonly Prompt[]): never {
  const near = suggestNames(
    name,
    visible.map((prompt) => prompt.name),
  );
  return failInvalidParams(`No prompt '${name}'.${near.length ? ` Near: ${near.join(', ')}.` : ''}`);
}

/** Errors that the user can correct by other arguments. */
const correctable: readonly ErrorCode[] = ['UNKNOWN_COLLECTION', 'INVALID_ARGUMENT'];

function failWithProtocolError(error: unknown, hiddenTools: ReadonlySet<string>): never {
  if (!isAppError(error)) throw error;
  if (correctable.includes(error.code)) failInvalidParams(errorText(error, hiddenTools));
  throw new ProtocolError(ProtocolErrorCode.InternalError, errorText(error, hiddenTools));
}

function failInvalidParams(problem: string): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
}
