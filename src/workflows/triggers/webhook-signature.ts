// Signs and verifies Standard Webhooks. https://www.standardwebhooks.com
import { createRequire } from 'node:module';
import type * as standardWebhooks from 'standardwebhooks';

/** Loaded on first use. */
const loadPackage = () => createRequire(import.meta.url)('standardwebhooks') as typeof standardWebhooks;

export const signatureHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/** `id` is the same for all attempts. `now` is in milliseconds since the epoch. */
export function signWebhook(secret: string, id: string, now: number, body: string): Readonly<Record<string, string>> {
  const { Webhook } = loadPackage();
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(now / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, new Date(now), body),
  };
}

/**
 * Whether the three headers are present, match the body, and have a time within five minutes of now. Compares in
 * constant time.
 */
export function hasValidSignature(secret: string, headers: Readonly<Record<string, string>>, body: Buffer): boolean {
  const { Webhook, WebhookVerificationError } = loadPackage();
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}
