// Completes arguments of prompts and variables of resource templates, with values that the caller may see.
import { ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { shownResources } from '../resources/handlers.ts';
import type { Viewer, Viewing } from '../resources/visible-resources.ts';
import { shownPrompts } from './handlers.ts';

/** The maximum number of values in one response (MCP 2026-07-28, completion). */
const MOST = 100;

export function installCompletion(server: Server, viewingOf: (ctx: ServerContext) => Viewing): void {
  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }, ctx) => {
    const viewing = viewingOf(ctx);
    const values =
      ref.type === 'ref/prompt'
        ? valuesOfPrompt(viewing, ref.name, argument.name)
        : valuesOfTemplate(viewing, ref.uri, argument.name);
    const all = fitting(values?.(viewing.viewer) ?? [], argument.value);
    return { completion: { values: all.slice(0, MOST), total: all.length, hasMore: all.length > MOST } };
  });
}

type Values = ((viewer: Viewer) => readonly string[]) | undefined;

function valuesOfPrompt(viewing: Viewing, name: string, argument: string): Values {
  const prompt = shownPrompts(viewing).find((one) => one.name === name) ?? failUnknown();
  return (prompt.arguments.find((one) => one.name === argument) ?? failUnknown()).values;
}

function valuesOfTemplate(viewing: Viewing, uri: string, variable: string): Values {
  const resource = shownResources(viewing).find((one) => one.uri === uri && one.values) ?? failUnknown();
  return uri.endsWith(`{${variable}}`) ? resource.values : failUnknown();
}

/** Values that begin with the typed text, then values that contain it. */
function fitting(values: readonly string[], typed: string): string[] {
  const text = typed.toLowerCase();
  const begins = values.filter((value) => value.toLowerCase().startsWith(text));
  const holds = values.filter((value) => !begins.includes(value) && value.toLowerCase().includes(text));
  return [...begins, ...holds];
}

function failUnknown(): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such prompt, template or argument.');
}
