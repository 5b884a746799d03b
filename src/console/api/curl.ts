// A call of an operation as one types it into a terminal, made of the document's examples.
import type { Operation, ParameterObject } from '../../api/openapi.ts';

export interface Called {
  readonly server: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** What stands in the place of the token: a shell takes it from its environment. */
const token = '$PORTICO_TOKEN';

export function curlOf({ server, method, path, operation }: Called): string {
  const parameters: readonly ParameterObject[] = operation.parameters ?? [];
  const examples = new Map(parameters.map(({ name, example }) => [name, `${example}`]));
  const asked = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(examples.get(name) ?? name));
  const shown = parameters.filter((one) => one.in === 'query' && one.name === 'limit');
  const query = shown.map(({ name, example }) => `${name}=${encodeURIComponent(`${example}`)}`).join('&');
  const body = operation.requestBody?.content['application/json'];
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(`${server}${asked}${query && `?${query}`}`)}`,
    `-H "Authorization: Bearer ${token}"`,
    body && `-H 'Content-Type: application/json'`,
    body && `-d ${quote(JSON.stringify(body.example))}`,
  ];
  return lines.filter((line) => line !== undefined).join(' ');
}

/** For a POSIX shell, which takes everything between single quotes as it is. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
