// Completes arguments of prompts and variables of resource templates, with values that the caller may see.
import { ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { visibleResources } from '../resources/handlers.ts';
import type { CallerContext, Viewer } from '../resources/visible-resources.ts';
import { visiblePrompts } from './handlers.ts';

/** The maximum number of values in one response (MCP 2026-07-28, completion). */
const MAX_VALUES = 100;

export function installCompletion(server: Server, contextOf: (ctx: ServerContext) => CallerContext): void {
  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }, ctx) => {
    const context = contextOf(ctx);
    const values =
      ref.type === 'ref/prompt'
        ? promptValues(context, ref.name, argument.name)
        : templateValues(context, ref.uri, argument.name);
    const all = matchValues(values?.(context.viewer) ?? [], argument.value);
    return { completion: { values: all.slice(0, MAX_VALUES), total: all.length, hasMore: all.length > MAX_VALUES } };
  });
}

type Values = ((viewer: Viewer) => readonly string[]) | undefined;

function promptValues(context: CallerContext, name: string, argument: string): Values {
  const prompt = visiblePrompts(context).find((one) => one.name === name) ?? failUnknown();
  return (prompt.arguments.find((one) => one.name === argument) ?? failUnknown()).values;
}

function templateValues(context: CallerContext, uri: string, variable: string): Values {
  const resource = visibleResources(context).find((one) => one.uri === uri && one.values) ?? failUnknown();
  return uri.endsWith(`{${variable}}`) ? resource.values : failUnknown();
}

/** Values that begin with the typed text, then values that contain it. */
function matchValues(values: readonly string[], typed: string): string[] {
  const text = typed.toLowerCase();
  const startingWith = values.filter((value) => value.toLowerCase().startsWith(text));
  const containing = values.filter((value) => !startingWith.includes(value) && value.toLowerCase().includes(text));
  return [...startingWith, ...containing];
}

function failUnknown(): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown prompt, template or argument.');
}
