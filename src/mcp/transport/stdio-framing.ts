// Messages as lines: one JSON message and a line feed (MCP 2026-07-28 and before, transports, stdio). A line has the
// same limits of bytes and depth as a request body. A refused line gets an error, because its client would otherwise
// wait forever. Reading continues with the next line.
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { AppError, isAppError } from '../../core/errors.ts';
import { type BodyLimits, parseJson } from '../../http/body.ts';
import { isRecord, messagesOf } from './json-rpc.ts';

const LINE_FEED = 0x0a;
/** JSON-RPC 2.0 section 5.1. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

export interface LineTransport extends Transport {
  /** Called once, when the input ends. */
  onend?: () => void;
}

export function createLineTransport(input: Readable, output: Writable, limits: BodyLimits): LineTransport {
  /** The chunks of the incomplete line. */
  let parts: Buffer[] = [];
  let size = 0;
  let isClosed = false;
  let isEnded = false;

  const write = (message: object): Promise<void> =>
    new Promise((resolve, reject) => {
      if (isClosed) reject(new Error('the client disconnected'));
      else output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });

  const refuse = (code: number, message: string) => {
    write({ jsonrpc: '2.0', id: null, error: { code, message } }).catch(() => undefined);
  };

  const handleLine = (bytes: Buffer) => {
    // Some hosts end lines with CR LF, and some send empty lines as a heartbeat.
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
      if (isMessage(message)) transport.onmessage?.(message);
      else refuse(INVALID_REQUEST, 'Each line must be a JSON-RPC 2.0 message.');
    }
  };

  const append = (bytes: Buffer) => {
    size += bytes.length;
    if (size <= limits.bytes) parts.push(bytes);
    else parts = [];
  };

  const endLine = () => {
    const line = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const isTooLong = size > limits.bytes;
    parts = [];
    size = 0;
    if (!isTooLong) handleLine(line);
    else refuse(PARSE_ERROR, new AppError('BODY_TOO_LARGE', { limitBytes: limits.bytes }).message);
  };

  const onData = (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      append(chunk.subarray(from, at));
      from = at + 1;
      endLine();
    }
    if (from < chunk.length) append(chunk.subarray(from));
  };

  const onEnd = () => {
    if (isEnded) return;
    isEnded = true;
    // The last line may have no line feed.
    if (size > 0) endLine();
    transport.onend?.();
  };

  /** The client has closed the output. */
  const onOutputError = () => {
    void transport.close();
    if (isEnded) return;
    isEnded = true;
    transport.onend?.();
  };

  const transport: LineTransport = {
    async start() {
      input.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd);
      output.on('error', onOutputError);
    },
    send: (message) => write(message),
    async close() {
      if (isClosed) return;
      isClosed = true;
      input.off('data', onData).pause();
      transport.onclose?.();
    },
  };
  return transport;
}

/** A request, a notification or a response; the SDK validates its contents. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false;
  const { id, method, params } = value;
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return false;
  if (method === undefined) return id !== undefined && (isRecord(value.result) || isRecord(value.error));
  return typeof method === 'string' && (params === undefined || isRecord(params));
}
