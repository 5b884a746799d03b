// What a form sends: fields, and files where a page takes them (RFC 7578). The parts are told apart by the platform's own parser,
// over a body that was read within a limit and does not have more parts than any form of ours.
import type { IncomingMessage } from 'node:http';
import type { FormFile } from '../agent/actions/definitions.ts';
import { fail } from '../core/errors.ts';
import { isForm, readBody } from '../oauth/request.ts';
import { plainFileName, plainMediaType } from '../store/sealed-files.ts';

export interface Sent {
  readonly form: URLSearchParams;
  /** By the name of their field, in their order. */
  readonly files: ReadonlyMap<string, readonly FormFile[]>;
}

export const nothingSent: Sent = { form: new URLSearchParams(), files: new Map() };

const PARTS_MOST = 500;
/** What a form holds beside its files. */
export const FIELDS_BYTES = 128 * 1024;

const boundaryOf = ({ headers }: IncomingMessage): string | undefined => {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(
      headers['content-type'] ?? '',
    ) ?? [];
  return quoted ?? plain;
};

export const hasFiles = (req: IncomingMessage): boolean => boundaryOf(req) !== undefined;

/** BODY_TOO_LARGE; INVALID_ARGUMENT for parts that cannot be told apart. What is neither kind of form holds nothing. */
export async function readSent(
  req: IncomingMessage,
  limitBytes: number | undefined,
  takesFiles: boolean,
): Promise<Sent> {
  const body = await readBody(req, limitBytes);
  if (isForm(req)) return { ...nothingSent, form: new URLSearchParams(body.toString('utf8')) };
  const boundary = boundaryOf(req);
  return takesFiles && boundary !== undefined ? readParts(body, boundary) : nothingSent;
}

async function readParts(body: Buffer, boundary: string): Promise<Sent> {
  const wrong = (problem: string) => fail('INVALID_ARGUMENT', { argument: 'form', problem });
  // CWE-400: each part costs far more than its bytes.
  if (countOf(body, `--${boundary}`) > PARTS_MOST) wrong(`it has more than ${PARTS_MOST} parts.`);
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  const sent = await new Response(body, { headers }).formData().catch(() => wrong('it cannot be read.'));
  const form = new URLSearchParams();
  const files = new Map<string, FormFile[]>();
  for (const [field, value] of sent) {
    if (typeof value === 'string') form.append(field, value);
    // A field in which nothing was chosen is sent as a file without a name.
    else if (value.name !== '' || value.size > 0) {
      const name = plainFileName(value.name) ?? 'file';
      const mimeType = plainMediaType(value.type.split(';')[0]!.trim()) ?? 'application/octet-stream';
      const file = { name, mimeType, content: Buffer.from(await value.arrayBuffer()) };
      files.set(field, [...(files.get(field) ?? []), file]);
    }
  }
  return { form, files };
}

function countOf(body: Buffer, text: string): number {
  let count = 0;
  for (let at = body.indexOf(text); at !== -1 && count <= PARTS_MOST; at = body.indexOf(text, at + text.length))
    count++;
  return count;
}
