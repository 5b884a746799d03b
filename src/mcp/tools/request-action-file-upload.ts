import { fail } from '../../core/errors.ts';
import { plainFileName, plainMediaType } from '../../store/files/sealed-files.ts';
import { checkNames, type JsonObject, readRequiredText, readText } from '../input/arguments.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toHandle } from '../uploads/file-values.ts';
import { FILE_SECONDS } from '../uploads/files.ts';
import { toolVisibility } from '../visibility/visibility.ts';

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
    'For a File field of an action: a one-time PUT URL, and the fileHandle to send as value. A small file may be sent as a data: URI instead.',
  scope: 'mcp:action',
  isVisible: toolVisibility.trigger,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: { filename: { type: 'string' }, mimeType: { type: 'string' }, sha256: { type: 'string' } },
    required: ['filename', 'mimeType'],
  },
  parse(input: JsonObject) {
    checkNames(input, ['filename', 'mimeType', 'sha256']);
    return {
      name: readName(readRequiredText(input, 'filename', 'send the name of the file.')),
      mimeType: readType(readRequiredText(input, 'mimeType', 'send its media type, such as text/csv.')),
      sha256: readDigest(readText(input, 'sha256')),
    };
  },
  subject: () => ({}),
  writes: () => true,
  run,
};

async function run(metadata: UploadArguments, { access, engine, files, config }: ToolCall): Promise<string> {
  // Uploads are only for callers who can execute an action.
  if (!toolVisibility.trigger(access, engine, [])) fail('DENIED', { problem: 'You may not execute any action.' });
  const { key, url } = await files.requestUpload(access.caller.id, metadata);
  return JSON.stringify({
    uploadUrl: url,
    method: 'PUT',
    headers: { 'Content-Type': metadata.mimeType },
    fileHandle: toHandle(key),
    maxBytes: config.fileLimitBytes,
    expiresInSeconds: FILE_SECONDS,
  });
}

const readName = (text: string): string =>
  plainFileName(text) ?? fail('INVALID_ARGUMENT', { argument: 'filename', problem: 'send a name such as report.pdf.' });

const readType = (text: string): string =>
  plainMediaType(text) ??
  fail('INVALID_ARGUMENT', { argument: 'mimeType', problem: 'send a media type such as text/csv.' });

/** Hexadecimal, base64 or base64url. */
function readDigest(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length === 32) return bytes.toString('base64url');
  return fail('INVALID_ARGUMENT', { argument: 'sha256', problem: 'send 32 bytes in hexadecimal or base64.' });
}
