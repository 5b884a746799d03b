// What a provider of a language model is asked and answers: the chat-completions form, whichever provider it is. Types
// alone. Names within it are those of the form, so that it can go over the wire as it is.

export type AiProviderKind = 'openai' | 'anthropic';

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
}

export interface AiCallOptions {
  readonly signal?: AbortSignal;
  /** For all attempts together, 1 to 600; 60 when absent. */
  readonly timeoutSeconds?: number;
}

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

export type AiContent = string | readonly AiTextPart[];

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

export interface AiToolCall {
  readonly id: string;
  readonly type: 'function';
  /** `arguments` is a JSON object as text. */
  readonly function: { readonly name: string; readonly arguments: string };
}

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

export type AiToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'function'; readonly function: { readonly name: string } };

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

/** In tokens; zeros where the provider does not count. */
export interface AiUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}
