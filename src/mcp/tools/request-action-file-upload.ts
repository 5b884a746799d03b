import { fail } from '../../core/errors.ts';
import { plainFileName, plainMediaType } from '../../store/files/sealed-files.ts';
import { checkNames, type Given, readRequiredText, readText } from '../input/arguments.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { handleOf } from '../uploads/file-values.ts';
import { FILE_SECONDS } from '../uploads/files.ts';
import { offers } from '../visibility/visibility.ts';

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
  // Uploads are only for callers who can execute an action.
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

/** Hexadecimal, base64 or base64url. */
function readDigest(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  const bytes = /^[0-9a-f]{64}$/i.test(given) ? Buffer.from(given, 'hex') : Buffer.from(given, 'base64');
  if (bytes.length === 32) return bytes.toString('base64url');
  return fail('INVALID_ARGUMENT', { argument: 'sha256', problem: 'send 32 bytes in hexadecimal or base64.' });
}
