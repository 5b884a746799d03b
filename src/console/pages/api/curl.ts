// Generates a curl command for an API operation from the examples in the OpenAPI document.
import type { Operation, ParameterObject } from '../../../api/openapi/document.ts';

interface Called {
  readonly server: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Placeholder for the token, which the shell reads from its environment. */
const token = '$PORTICO_TOKEN';

export function formatCurl({ server, method, path, operation }: Called): string {
  const parameters: readonly ParameterObject[] = operation.parameters ?? [];
  const examples = new Map(parameters.map(({ name, example }) => [name, `${example}`]));
  const examplePath = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(examples.get(name) ?? name));
  const shown = parameters.filter((one) => one.in === 'query' && one.name === 'limit');
  const query = shown.map(({ name, example }) => `${name}=${encodeURIComponent(`${example}`)}`).join('&');
  const body = operation.requestBody?.content['application/json'];
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(`${server}${examplePath}${query && `?${query}`}`)}`,
    `-H "Authorization: Bearer ${token}"`,
    body && `-H 'Content-Type: application/json'`,
    body && `-d ${quote(JSON.stringify(body.example))}`,
  ];
  return lines.filter((line) => line !== undefined).join(' ');
}

/** For a POSIX shell, which reads text between single quotes literally. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
