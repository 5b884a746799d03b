// What an action answered, as a model can use it: a webhook is sent, an address is made whole, HTML becomes text. What the
// action itself says went wrong is an error; that a webhook did not arrive is not, since the action has run.
import type { ActionResult, FileResult, SuccessResult } from '../../agent/actions/results.ts';
import type { Access } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { FILE_SECONDS } from '../files/files.ts';
import type { ToolCall } from '../tools.ts';
import { htmlToText } from './html-text.ts';

const MESSAGE_CHARACTERS = 4000;

/** `{result, ...}` as JSON. ACTION_REFUSED with the words of the action. */
export async function actionAnswer(result: ActionResult, call: ToolCall): Promise<string> {
  switch (result.type) {
    case 'success':
      return JSON.stringify(successOf(result, call.access));
    case 'error':
      return fail('ACTION_REFUSED', { message: wordsOf(result.message, result.html) });
    case 'redirect':
      return JSON.stringify({ result: 'redirect', url: whole(result.path, call.config.publicUrl) });
    case 'webhook': {
      const { host } = new URL(result.url);
      const status = await call.sendWebhook(result, call.signal);
      const note = 'The action ran, but its webhook got no answer. Tell the operator; do not repeat the call.';
      return JSON.stringify({ result: 'webhook', host, ...(status === undefined ? { note } : { status }) });
    }
    case 'file':
      return JSON.stringify(await fileOf(result, call));
  }
}

/** The file as an address to fetch it from. The action has run, so that a file which cannot be kept is no error. */
async function fileOf({ filename: name, mimeType, stream }: FileResult, call: ToolCall): Promise<object> {
  const file = { result: 'file', name, mimeType };
  try {
    const offered = await call.files.offer(call.access.caller.id, { name, mimeType }, stream);
    if (offered) return { ...file, ...offered, expiresInSeconds: FILE_SECONDS };
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

/** Collections that the caller does not see are nothing to read again. */
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

/** A path is one of the application, which is at the public address. */
function whole(path: string, publicUrl: string | null): string {
  return publicUrl === null ? path : new URL(path, publicUrl).href;
}
