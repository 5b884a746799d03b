// One step of an interaction, and the type of its log function.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { DisplayedClient } from '../clients/display-name.ts';

export type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

export interface Step {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly details: Details;
  readonly client: DisplayedClient;
  readonly clientId: string;
  readonly csrf: string;
  readonly action: string;
}

/** Logs a security event for the operator. */
export type LogEvent = (step: Step, event: string, userId?: number, detail?: string) => void;
