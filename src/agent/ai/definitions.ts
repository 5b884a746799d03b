// The types of requests to language models and of their answers: the chat-completions format, for all providers.
// Property names are those of the format, so values can be sent unchanged.

export type AiProviderKind = 'openai' | 'anthropic';

/** Options of `createAiProvider`: endpoint, key and model. */
export interface AiProviderOptions {
  /** The name in errors and logs. */
  readonly name: string;
  /** The API format of the endpoint; use `openai` for any compatible server. */
  readonly provider: AiProviderKind;
  /** Never shown in errors or logs, or when the provider is printed. */
  readonly apiKey: string;
  /** The name of the model at the provider. */
  readonly model: string;
  /** The URL of the endpoint. Default `https://api.openai.com/v1` or `https://api.anthropic.com`. */
  readonly baseUrl?: string;
}

/** Created by `createAiProvider`, for `addAi`. */
export interface AiProvider {
  /** The name in errors and logs. */
  readonly name: string;
  /** The API format of the endpoint. */
  readonly provider: AiProviderKind;
  /** The name of the model. */
  readonly model: string;
  /**
   * Sends one request. INVALID_ARGUMENT for an invalid request; AI_REFUSED for one that the provider rejects. Also
   * CANCELLED, AI_TIMED_OUT, AI_RATE_LIMITED, AI_UNAVAILABLE and AI_KEY_REFUSED.
   */
  ask(request: AiRequest, options?: AiCallOptions): Promise<AiAnswer>;
  /**
   * Like `ask`, as a stream. The second-to-last chunk has the finish reason, the last one the usage. Errors are those
   * of `ask`, also during the stream; AI_UNAVAILABLE if the provider ends the stream early. Ending the iteration
   * cancels the request.
   */
  askInChunks(request: AiRequest, options?: AiCallOptions): AsyncIterable<AiChunk>;
}

/** The timeout and the cancellation of a request. */
export interface AiCallOptions {
  /** Cancels the request. Default: no signal. Requests of `context.ai` are also cancelled with their call. */
  readonly signal?: AbortSignal;
  /** In seconds, for all attempts together: 1 to 600. Default 60. */
  readonly timeoutSeconds?: number;
}

/** A request in the chat-completions format. Properties that are not listed are refused. */
export interface AiRequest {
  /** The conversation so far, the oldest message first. */
  readonly messages: readonly AiMessage[];
  /** Functions that the model may call. Default: no function. */
  readonly tools?: readonly AiTool[];
  /** Whether the model must call a function. Default `auto` if there are tools. */
  readonly tool_choice?: AiToolChoice;
  /** Allows several tool calls in one answer. */
  readonly parallel_tool_calls?: boolean;
  /** 0 to 2. Ignored by `anthropic`, which has no such setting. */
  readonly temperature?: number;
  /** 0 to 1. Ignored by `anthropic`, like `temperature`. */
  readonly top_p?: number;
  /** The maximum number of tokens in the answer. `anthropic` requires one; default 4096. */
  readonly max_completion_tokens?: number;
  /** The older name of `max_completion_tokens`, which some servers still require. */
  readonly max_tokens?: number;
  /** One text, or at most 4, that end the answer. */
  readonly stop?: string | readonly string[];
  /** The format of the answer. Default: text. */
  readonly response_format?: AiResponseFormat;
}

interface AiTextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A text, or a list of text parts. */
export type AiContent = string | readonly AiTextPart[];

/** One message of a conversation with a model. */
export type AiMessage =
  | { readonly role: 'system' | 'developer' | 'user'; readonly content: AiContent }
  | AiAssistantMessage
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: AiContent };

/** Has content, tool calls, or both. The message of an answer can be sent back unchanged. */
interface AiAssistantMessage {
  readonly role: 'assistant';
  readonly content?: AiContent | null;
  readonly tool_calls?: readonly AiToolCall[];
  readonly refusal?: string | null;
}

/** The model requests a function call. */
export interface AiToolCall {
  /** The id that the answer of the tool refers to. */
  readonly id: string;
  /** The only kind of tool. */
  readonly type: 'function';
  /** `arguments` is a JSON object as text. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A function that the model may call. */
export interface AiTool {
  /** The only kind of tool. */
  readonly type: 'function';
  /** The function that the model may call. */
  readonly function: {
    /** Letters, digits, `_` and `-`; at most 64. */
    readonly name: string;
    readonly description?: string;
    /** A JSON schema of an object; default: no parameters. */
    readonly parameters?: Readonly<Record<string, unknown>>;
    readonly strict?: boolean;
  };
}

/** Allows, requires or forbids tool calls, or requires a specific one. */
export type AiToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'function'; readonly function: { readonly name: string } };

/** The required format of the answer. */
export type AiResponseFormat =
  | { readonly type: 'text' }
  /** Not supported by `anthropic`. */
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly json_schema: {
        readonly name: string;
        readonly description?: string;
        readonly schema: Readonly<Record<string, unknown>>;
        readonly strict?: boolean;
      };
    };

export type AiFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** The answer of a provider in the chat-completions format, with one choice. */
export interface AiAnswer {
  /** The id that the provider gave the answer. */
  readonly id: string;
  /** The name of the format. */
  readonly object: 'chat.completion';
  /** Seconds since the epoch. */
  readonly created: number;
  /** The model that answered. */
  readonly model: string;
  /** The message of the model, always one. */
  readonly choices: readonly [AiChoice];
  /** The tokens of the request and of the answer. */
  readonly usage: AiUsage;
}

interface AiChoice {
  readonly index: 0;
  readonly message: {
    readonly role: 'assistant';
    /** Null for an answer that only calls tools. */
    readonly content: string | null;
    /** The text of the model's refusal. */
    readonly refusal: string | null;
    readonly tool_calls?: readonly AiToolCall[];
  };
  readonly finish_reason: AiFinishReason;
}

/** A part of an answer. */
export interface AiChunk {
  /** The id that the provider gave the answer, the same in every chunk. */
  readonly id: string;
  /** The name of the format. */
  readonly object: 'chat.completion.chunk';
  /** Seconds since the epoch. */
  readonly created: number;
  /** The model that answers. */
  readonly model: string;
  /** Empty in the chunk with the usage. */
  readonly choices: readonly [] | readonly [AiChunkChoice];
  /** The tokens of the request and of the answer, only in the last chunk. */
  readonly usage?: AiUsage;
}

interface AiChunkChoice {
  readonly index: 0;
  readonly delta: AiDelta;
  readonly finish_reason: AiFinishReason | null;
}

/** The text to append to the previous chunks. */
export interface AiDelta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly AiCallDelta[];
}

/** The first delta of a call has its id and name. The `arguments` of all deltas form a JSON object. */
export interface AiCallDelta {
  /** The index of the call in the answer. */
  readonly index: number;
  readonly id?: string;
  readonly type?: 'function';
  readonly function: { readonly name?: string; readonly arguments?: string };
}

/** In tokens; zero if the provider does not report usage. */
interface AiUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}
