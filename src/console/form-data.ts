// Reads form bodies: fields, and files on pages that accept them (RFC 7578). The platform's parser splits the parts,
// after this module has limited the size of the body and the number of parts.
import type { IncomingMessage } from 'node:http';
import type { FormFile } from '../agent/actions/definitions.ts';
import { fail } from '../core/errors.ts';
import { isForm, readBody } from '../http/body.ts';
import { plainFileName, plainMediaType } from '../store/files/sealed-files.ts';

interface FormInput {
  readonly form: URLSearchParams;
  /** Keyed by field name, in the order of the form. */
  readonly files: ReadonlyMap<string, readonly FormFile[]>;
}

export const emptyInput: FormInput = { form: new URLSearchParams(), files: new Map() };

const MAX_PARTS = 500;
/** More than a list of records, or a page of permissions, sends. */
const MAX_FIELDS = 5000;
/** Default maximum size of a form, in bytes. */
const MAX_FORM_BYTES = 56 * 1024;
/** Maximum size of the fields in a form with files, in bytes. */
export const MAX_FIELDS_BYTES = 128 * 1024;

const boundaryOf = ({ headers }: IncomingMessage): string | undefined => {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(
      headers['content-type'] ?? '',
    ) ?? [];
  return quoted ?? plain;
};

export const hasFiles = (req: IncomingMessage): boolean => boundaryOf(req) !== undefined;

const refuse = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'form', problem });

/**
 * Throws BODY_TOO_LARGE for an oversized body and INVALID_ARGUMENT for malformed parts or too many fields. A body of any
 * other content type reads as an empty form.
 */
export async function readForm(
  req: IncomingMessage,
  limitBytes: number | undefined,
  takesFiles: boolean,
): Promise<FormInput> {
  const body = await readBody(req, limitBytes ?? MAX_FORM_BYTES);
  if (isForm(req)) {
    // CWE-770: hundreds of thousands of empty fields take longer to read than their bytes to send.
    if (countOf(body, '&', MAX_FIELDS) >= MAX_FIELDS) refuse(`it has more than ${MAX_FIELDS} fields.`);
    return { ...emptyInput, form: new URLSearchParams(body.toString('utf8')) };
  }
  const boundary = boundaryOf(req);
  return takesFiles && boundary !== undefined ? readParts(body, boundary) : emptyInput;
}

async function readParts(body: Buffer, boundary: string): Promise<FormInput> {
  // CWE-400: each part costs far more memory than its bytes.
  if (countOf(body, `--${boundary}`, MAX_PARTS) > MAX_PARTS) refuse(`it has more than ${MAX_PARTS} parts.`);
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  const parts = await new Response(body, { headers }).formData().catch(() => refuse('it cannot be read.'));
  const form = new URLSearchParams();
  const files = new Map<string, FormFile[]>();
  for (const [field, value] of parts) {
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

/** Stops above `most`. */
function countOf(body: Buffer, text: string, most: number): number {
  let count = 0;
  for (let at = body.indexOf(text); at !== -1 && count <= most; at = body.indexOf(text, at + text.length)) count++;
  return count;
}
