// Converts the result of an action for a model: it sends a webhook, completes a relative URL and converts HTML to
// text. A failure that the action reports is an error. A failed webhook is not an error, because the action has run.
import type { ActionResult, FileResult, SuccessResult } from '../../agent/actions/results.ts';
import type { Access } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { ToolCall } from '../tool.ts';
import { FILE_SECONDS } from '../uploads/files.ts';
import { htmlToText } from './html-text.ts';

const MESSAGE_CHARACTERS = 4000;

/** `{result, ...}`. Throws ACTION_REFUSED with the action's message. */
export async function actionAnswer(result: ActionResult, call: ToolCall, collection: string): Promise<object> {
  switch (result.type) {
    case 'success':
      return successOf(result, call.access);
    case 'error':
      return fail('ACTION_REFUSED', { message: wordsOf(result.message, result.html) });
    case 'redirect':
      return { result: 'redirect', url: whole(result.path, call.config.publicUrl) };
    case 'webhook': {
      const { host } = new URL(result.url);
      const status = await call.sendWebhook(result, call.signal);
      const note = 'The action ran, but its webhook got no answer. Tell the operator; do not repeat the call.';
      return { result: 'webhook', host, ...(status === undefined ? { note } : { status }) };
    }
    case 'file':
      return fileOf(result, call, collection);
  }
}

/** Returns the file as a download URL. The action has run, so a file that cannot be stored is not an error. */
async function fileOf(
  { filename: name, mimeType, stream }: FileResult,
  call: ToolCall,
  collection: string,
): Promise<object> {
  const file = { result: 'file', name, mimeType };
  try {
    const seconds = call.fileSeconds ?? FILE_SECONDS;
    const offered = await call.files.offer(call.access.caller.id, { name, mimeType, collection }, stream, seconds);
    if (offered) return { ...file, ...offered, expiresInSeconds: seconds };
    return {
      ...file,
      note: `The action ran, but its file is over ${call.config.fileLimitBytes} bytes and is not kept.`,
    };
  } catch (error) {
    if (!isAppError(error, 'TOO_MANY_FILES')) throw error;
    return { ...file, note: `The action ran, but its file is not kept: ${error.message}` };
  } finally {
    stream.destroy();
  }
}

/** `changed` lists only collections that the caller can see. */
function successOf({ message, html, invalidated }: SuccessResult, access: Access): object {
  const changed = invalidated.filter((name) => access.can('browse', name));
  return {
    result: 'success',
    message: message.slice(0, MESSAGE_CHARACTERS),
    ...(html !== undefined && { text: htmlToText(html) }),
    ...(changed.length > 0 && { changed }),
  };
}

function wordsOf(message: string, html: string | undefined): string {
  return [message, html === undefined ? '' : htmlToText(html)].filter(Boolean).join('\n');
}

/** Resolves a path of the application against the public URL. */
function whole(path: string, publicUrl: string | null): string {
  return publicUrl === null ? path : new URL(path, publicUrl).href;
}
