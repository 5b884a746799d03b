// What a provider of a language model is asked and answers: the chat-completions form, whichever provider it is. Types
// alone. Names within it are those of the form, so that it can go over the wire as it is.

export type AiProviderKind = 'openai' | 'anthropic';

/** What `createAiProvider` is given: whom to ask, with which key and model. */
export interface AiProviderOptions {
  /** What errors and logs call it. */
  readonly name: string;
  /** Whose form the address speaks; `openai` also for the many servers that are compatible with it. */
  readonly provider: AiProviderKind;
  /** Shown nowhere: not in errors, in logs, or in what is printed of the provider. */
  readonly apiKey: string;
  readonly model: string;
  /** In place of `https://api.openai.com/v1` or `https://api.anthropic.com`. */
  readonly baseUrl?: string;
}

/** Made by `createAiProvider`, for `addAi`. */
export interface AiProvider {
  readonly name: string;
  readonly provider: AiProviderKind;
  readonly model: string;
  /**
   * One question, one answer. INVALID_ARGUMENT for a request that cannot be sent, CANCELLED, AI_TIMED_OUT,
   * AI_RATE_LIMITED, AI_UNAVAILABLE, AI_KEY_REFUSED, and AI_REFUSED for what the provider does not take.
   */
  ask(request: AiRequest, options?: AiCallOptions): Promise<AiAnswer>;
  /**
   * The same, told while it is made: the last chunk but one says why it ended, the last one has the usage. Fails as `ask` does,
   * also in the middle, and with AI_UNAVAILABLE when the provider stops before the answer does. Whoever stops reading
   * stops the provider.
   */
  askInChunks(request: AiRequest, options?: AiCallOptions): AsyncIterable<AiChunk>;
}

/** How long a question may take, and what ends it. */
export interface AiCallOptions {
  readonly signal?: AbortSignal;
  /** For all attempts together, 1 to 600; 60 when absent. */
  readonly timeoutSeconds?: number;
}

/** A question in the chat-completions form; what is not listed here is refused. */
export interface AiRequest {
  readonly messages: readonly AiMessage[];
  readonly tools?: readonly AiTool[];
  readonly tool_choice?: AiToolChoice;
  /** Whether one answer may call several tools. */
  readonly parallel_tool_calls?: boolean;
  /** 0 to 2. A wish: `anthropic` has no such setting, and is asked without it. */
  readonly temperature?: number;
  /** 0 to 1. A wish, as `temperature` is. */
  readonly top_p?: number;
  /** Of the answer, in tokens. `anthropic` must be told: 4096 when absent. */
  readonly max_completion_tokens?: number;
  /** The older name of `max_completion_tokens`, which some servers still want. */
  readonly max_tokens?: number;
  /** One text, or at most 4, at which the answer ends. */
  readonly stop?: string | readonly string[];
  readonly response_format?: AiResponseFormat;
}

export interface AiTextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A text, or one in parts. */
export type AiContent = string | readonly AiTextPart[];

/** One turn of a conversation with a model. */
export type AiMessage =
  | { readonly role: 'system' | 'developer' | 'user'; readonly content: AiContent }
  | AiAssistantMessage
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: AiContent };

/** Has a content, tool calls, or both. The message of an answer can be sent back as it is. */
export interface AiAssistantMessage {
  readonly role: 'assistant';
  readonly content?: AiContent | null;
  readonly tool_calls?: readonly AiToolCall[];
  readonly refusal?: string | null;
}

/** The model asks for a function to be called. */
export interface AiToolCall {
  readonly id: string;
  readonly type: 'function';
  /** `arguments` is a JSON object as text. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A function that the model may ask to be called. */
export interface AiTool {
  readonly type: 'function';
  readonly function: {
    /** Letters, digits, `_` and `-`; at most 64. */
    readonly name: string;
    readonly description?: string;
    /** A JSON schema of an object; no parameters when absent. */
    readonly parameters?: Readonly<Record<string, unknown>>;
    readonly strict?: boolean;
  };
}

/** Whether the model may, must or must not call a tool, or which. */
export type AiToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'function'; readonly function: { readonly name: string } };

/** The form that an answer must have. */
export type AiResponseFormat =
  | { readonly type: 'text' }
  /** Not known to `anthropic`. */
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

/** The answer of a provider in the chat-completions form, with one choice. */
export interface AiAnswer {
  readonly id: string;
  readonly object: 'chat.completion';
  /** Seconds since the epoch. */
  readonly created: number;
  /** The one that answered. */
  readonly model: string;
  readonly choices: readonly [AiChoice];
  readonly usage: AiUsage;
}

export interface AiChoice {
  readonly index: 0;
  readonly message: {
    readonly role: 'assistant';
    /** Null where tools are called and nothing is said. */
    readonly content: string | null;
    /** What the model says in place of an answer that it will not give. */
    readonly refusal: string | null;
    readonly tool_calls?: readonly AiToolCall[];
  };
  readonly finish_reason: AiFinishReason;
}

/** A part of an answer. */
export interface AiChunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
  /** Empty in the chunk that has the usage. */
  readonly choices: readonly [] | readonly [AiChunkChoice];
  readonly usage?: AiUsage;
}

export interface AiChunkChoice {
  readonly index: 0;
  readonly delta: AiDelta;
  readonly finish_reason: AiFinishReason | null;
}

/** What is to be put behind what came before. */
export interface AiDelta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly AiCallDelta[];
}

/** The first of a call has its id and name; the texts of `arguments` together are a JSON object. */
export interface AiCallDelta {
  /** Of the call among those of the answer. */
  readonly index: number;
  readonly id?: string;
  readonly type?: 'function';
  readonly function: { readonly name?: string; readonly arguments?: string };
}

/** In tokens; zeros where the provider does not count. */
export interface AiUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}
