// Reads form bodies: fields, and files on pages that accept them (RFC 7578). The platform's parser splits the parts,
// after this module has limited the size of the body and the number of parts.
import type { IncomingMessage } from 'node:http';
import type { FormFile } from '../agent/actions/definitions.ts';
import { fail } from '../core/errors.ts';
import { isForm, readBody } from '../oauth/server/request.ts';
import { plainFileName, plainMediaType } from '../store/files/sealed-files.ts';

export interface Sent {
  readonly form: URLSearchParams;
  /** Keyed by field name, in the order of the form. */
  readonly files: ReadonlyMap<string, readonly FormFile[]>;
}

export const nothingSent: Sent = { form: new URLSearchParams(), files: new Map() };

const PARTS_MOST = 500;
/** Maximum size of the fields in a form with files, in bytes. */
export const FIELDS_BYTES = 128 * 1024;

const boundaryOf = ({ headers }: IncomingMessage): string | undefined => {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(
      headers['content-type'] ?? '',
    ) ?? [];
  return quoted ?? plain;
};

export const hasFiles = (req: IncomingMessage): boolean => boundaryOf(req) !== undefined;

/**
 * Throws BODY_TOO_LARGE for an oversized body and INVALID_ARGUMENT for malformed parts. A body of any other content
 * type reads as an empty form.
 */
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
  // CWE-400: each part costs far more memory than its bytes.
  if (countOf(body, `--${boundary}`) > PARTS_MOST) wrong(`it has more than ${PARTS_MOST} parts.`);
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  const sent = await new Response(body, { headers }).formData().catch(() => wrong('it cannot be read.'));
  const form = new URLSearchParams();
  const files = new Map<string, FormFile[]>();
  for (const [field, value] of sent) {
    if (typeof value === 'string') form.append(field, value);
    // Browsers send an empty file input as a file without a name.
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
