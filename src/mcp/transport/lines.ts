// Messages as lines: JSON and a line feed, one message a line (MCP 2026-07-28 and before, transports, stdio). A line is
// bounded in bytes and in depth as a request body is. One that cannot be taken is answered, since a client that waits for
// an answer would wait for ever, and the next line is read as if nothing had been.
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { AppError, isAppError } from '../../core/errors.ts';
import { type BodyLimits, parseJson } from '../../oauth/body.ts';
import { isRecord, messagesOf } from './wire.ts';

const LINE_FEED = 0x0a;
/** JSON-RPC 2.0 section 5.1. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

export interface Lines extends Transport {
  /** Called once: the other end will send no more. */
  onend?: () => void;
}

export function createLines(input: Readable, output: Writable, limits: BodyLimits): Lines {
  /** Of the line that is not complete yet. */
  let parts: Buffer[] = [];
  let size = 0;
  let closed = false;
  let ended = false;

  const write = (message: object): Promise<void> =>
    new Promise((resolve, reject) => {
      if (closed) reject(new Error('the client is gone'));
      else output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });

  const refuse = (code: number, message: string) => {
    write({ jsonrpc: '2.0', id: null, error: { code, message } }).catch(() => undefined);
  };

  const take = (bytes: Buffer) => {
    // Some hosts end lines with CR LF, and some send empty ones to see whether anybody is there.
    const text = bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes;
    if (text.length === 0) return;
    let body: unknown;
    try {
      body = parseJson(text, limits.depth);
    } catch (error) {
      if (!isAppError(error, 'MALFORMED_JSON')) throw error;
      refuse(PARSE_ERROR, error.message);
      return;
    }
    for (const message of messagesOf(body)) {
      if (isMessage(message)) lines.onmessage?.(message);
      else refuse(INVALID_REQUEST, 'A line must be a message of JSON-RPC 2.0.');
    }
  };

  const keep = (bytes: Buffer) => {
    size += bytes.length;
    if (size <= limits.bytes) parts.push(bytes);
    else parts = [];
  };

  const endLine = () => {
    const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const tooLong = size > limits.bytes;
    parts = [];
    size = 0;
    if (!tooLong) take(whole);
    else refuse(PARSE_ERROR, new AppError('BODY_TOO_LARGE', { limitBytes: limits.bytes }).message);
  };

  const onData = (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      keep(chunk.subarray(from, at));
      from = at + 1;
      endLine();
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  };

  const onEnd = () => {
    if (ended) return;
    ended = true;
    // The last line may lack its end.
    if (size > 0) endLine();
    lines.onend?.();
  };

  /** Nobody reads the answers any more. */
  const onOutputError = () => {
    void lines.close();
    if (ended) return;
    ended = true;
    lines.onend?.();
  };

  const lines: Lines = {
    async start() {
      input.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd);
      output.on('error', onOutputError);
    },
    send: (message) => write(message),
    async close() {
      if (closed) return;
      closed = true;
      input.off('data', onData).pause();
      lines.onclose?.();
    },
  };
  return lines;
}

/** A request, a notification or an answer; what is in it is the SDK's to judge. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false;
  const { id, method, params } = value;
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return false;
  if (method === undefined) return id !== undefined && (isRecord(value.result) || isRecord(value.error));
  return typeof method === 'string' && (params === undefined || isRecord(params));
}
