// Serves the table of prompts over the protocol.
import { ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { type ErrorCode, isAppError } from '../../core/errors.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { Viewing } from '../resources/visible-resources.ts';
import { errorText } from '../results/result.ts';
import { type Prompt, prompts } from './prompts.ts';

export function shownPrompts({ tools }: Viewing): readonly Prompt[] {
  return prompts.filter((prompt) => prompt.tools.every((tool) => tools.has(tool)));
}

export function installPrompts(server: Server, viewingOf: (ctx: ServerContext) => Viewing): void {
  server.setRequestHandler('prompts/list', (_request, ctx) => ({
    prompts: shownPrompts(viewingOf(ctx)).map(({ name, title, description, arguments: all }) => ({
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
    const viewing = viewingOf(ctx);
    const shown = shownPrompts(viewing);
    const prompt = shown.find(({ name }) => name === params.name) ?? failUnknown(params.name, shown);
    const given = readArguments(prompt, params.arguments ?? {});
    const { viewer, ask } = viewing;
    const text = await prompt
      .text({ viewer, given, ask })
      .catch((error: unknown) => failInProtocol(error, viewing.absent));
    return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
}

function readArguments(prompt: Prompt, sent: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const names = prompt.arguments.map(({ name }) => name);
  for (const name of Object.keys(sent))
    if (!names.includes(name)) refuse(`${name}: unknown argument. There are ${names.join(', ')}.`);
  const given = Object.fromEntries(names.map((name) => [name, sent[name]?.trim() || undefined]));
  for (const { name, required, description } of prompt.arguments)
    if (required && given[name] === undefined) refuse(`${name}: is needed. ${description}.`);
  return given;
}

function failUnknown(name: string, shown: readonly Prompt[]): never {
  const near = nearNames(
    name,
    shown.map((prompt) => prompt.name),
  );
  return refuse(`No prompt '${name}'.${near.length ? ` Near: ${near.join(', ')}.` : ''}`);
}

/** Errors that the user can correct by other arguments. */
const correctable: readonly ErrorCode[] = ['UNKNOWN_COLLECTION', 'INVALID_ARGUMENT'];

function failInProtocol(error: unknown, absent: ReadonlySet<string>): never {
  if (!isAppError(error)) throw error;
  if (correctable.includes(error.code)) refuse(errorText(error, absent));
  throw new ProtocolError(ProtocolErrorCode.InternalError, errorText(error, absent));
}

function refuse(problem: string): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
}
