// Converts the result of an action for a model: it sends a webhook, completes a relative URL and converts HTML to
// text. A failure that the action reports is an error. A failed webhook is not an error, because the action has run.
import type { ActionResult, FileResult, SuccessResult } from '../../agent/actions/results.ts';
import type { Access } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { htmlToText } from '../../http/html-text.ts';
import type { ToolCall } from '../tool.ts';
import { FILE_SECONDS } from '../uploads/files.ts';

const MAX_MESSAGE_CHARACTERS = 4000;

/** `{result, ...}`. Throws ACTION_REFUSED with the action's message. */
export async function formatActionResult(result: ActionResult, call: ToolCall, collection: string): Promise<object> {
  switch (result.type) {
    case 'success':
      return formatSuccess(result, call.access);
    case 'error':
      return fail('ACTION_REFUSED', { message: joinTexts(result.message, result.html) });
    case 'redirect':
      return { result: 'redirect', url: resolveUrl(result.path, call.config.publicUrl) };
    case 'webhook': {
      const { host } = new URL(result.url);
      const status = await call.sendWebhook(result, call.signal);
      const note = 'The action ran, but its webhook did not respond. Tell the operator; do not repeat the call.';
      return { result: 'webhook', host, ...(status === undefined ? { note } : { status }) };
    }
    case 'file':
      return formatFile(result, call, collection);
  }
}

/** Returns the file as a download URL. The action has run, so a file that cannot be stored is not an error. */
async function formatFile(
  { filename: name, mimeType, stream }: FileResult,
  call: ToolCall,
  collection: string,
): Promise<object> {
  const file = { result: 'file', name, mimeType };
  try {
    const seconds = call.fileSeconds ?? FILE_SECONDS;
    const download = await call.files.createDownload(
      call.access.caller.id,
      { name, mimeType, collection },
      stream,
      seconds,
    );
    if (download) return { ...file, ...download, expiresInSeconds: seconds };
    return {
      ...file,
      note: `The action ran, but its file is larger than ${call.config.fileLimitBytes} bytes and was not stored.`,
    };
  } catch (error) {
    if (!isAppError(error, 'TOO_MANY_FILES')) throw error;
    return { ...file, note: `The action ran, but its file was not stored: ${error.message}` };
  } finally {
    stream.destroy();
  }
}

/** `changed` lists only collections that the caller can see. */
function formatSuccess({ message, html, invalidated }: SuccessResult, access: Access): object {
  const changed = invalidated.filter((name) => access.can('browse', name));
  return {
    result: 'success',
    message: message.slice(0, MAX_MESSAGE_CHARACTERS),
    ...(html !== undefined && { text: htmlToText(html) }),
    ...(changed.length > 0 && { changed }),
  };
}

function joinTexts(message: string, html: string | undefined): string {
  return [message, html === undefined ? '' : htmlToText(html)].filter(Boolean).join('\n');
}

/** Resolves a path of the application against the public URL. */
function resolveUrl(path: string, publicUrl: string | null): string {
  return publicUrl === null ? path : new URL(path, publicUrl).href;
}
