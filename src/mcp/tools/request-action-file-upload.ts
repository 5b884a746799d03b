import { fail } from '../../core/errors.ts';
import { plainFileName, plainMediaType } from '../../store/sealed-files.ts';
import { checkNames, type Given, readRequiredText, readText } from '../arguments/arguments.ts';
import { handleOf } from '../files/file-values.ts';
import { FILE_SECONDS } from '../files/files.ts';
import { offers } from '../offers/offers.ts';
import type { Tool, ToolCall } from '../tools.ts';

interface UploadArguments {
  readonly name: string;
  readonly mimeType: string;
  /** Base64url. */
  readonly sha256: string | undefined;
}

export const requestActionFileUpload: Tool<UploadArguments> = {
  name: 'requestActionFileUpload',
  title: 'Upload a file',
  description:
    'For a File field of an action: where to PUT a file, once, and the fileHandle to send as value. A small file may be sent as a data: URI instead.',
  scope: 'mcp:action',
  isOffered: offers.trigger,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: { filename: { type: 'string' }, mimeType: { type: 'string' }, sha256: { type: 'string' } },
    required: ['filename', 'mimeType'],
  },
  parse(given: Given) {
    checkNames(given, ['filename', 'mimeType', 'sha256']);
    return {
      name: readName(readRequiredText(given, 'filename', 'send the name of the file.')),
      mimeType: readType(readRequiredText(given, 'mimeType', 'send its media type, such as text/csv.')),
      sha256: readDigest(readText(given, 'sha256')),
    };
  },
  subject: () => ({}),
  writes: () => true,
  run,
};

async function run(about: UploadArguments, { access, engine, files, config }: ToolCall): Promise<string> {
  // Who can execute nothing has nothing to send a file for.
  if (!offers.trigger(access, engine, [])) fail('DENIED', { problem: 'There is no action that you may execute.' });
  const { key, url } = await files.requestUpload(access.caller.id, about);
  return JSON.stringify({
    uploadUrl: url,
    method: 'PUT',
    headers: { 'Content-Type': about.mimeType },
    fileHandle: handleOf(key),
    maxBytes: config.fileLimitBytes,
    expiresInSeconds: FILE_SECONDS,
  });
}

const readName = (given: string): string =>
  plainFileName(given) ??
  fail('INVALID_ARGUMENT', { argument: 'filename', problem: 'send a name such as report.pdf.' });

const readType = (given: string): string =>
  plainMediaType(given) ??
  fail('INVALID_ARGUMENT', { argument: 'mimeType', problem: 'send a media type such as text/csv.' });

/** Hexadecimal or base64, of either alphabet. */
function readDigest(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  const bytes = /^[0-9a-f]{64}$/i.test(given) ? Buffer.from(given, 'hex') : Buffer.from(given, 'base64');
  if (bytes.length === 32) return bytes.toString('base64url');
  return fail('INVALID_ARGUMENT', { argument: 'sha256', problem: 'send 32 bytes in hexadecimal or base64.' });
}
