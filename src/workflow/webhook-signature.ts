// Standard Webhooks: what a call was signed with, both ways. https://www.standardwebhooks.com
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

export const signatureHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/** `id`: the same for every attempt. `now`: milliseconds since the epoch. */
export function signWebhook(secret: string, id: string, now: number, body: string): Readonly<Record<string, string>> {
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(now / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, new Date(now), body),
  };
}

/** Whether the three headers are there, of the last five minutes, and of these very bytes. Compared in constant time. */
export function isSigned(secret: string, headers: Readonly<Record<string, string>>, body: Buffer): boolean {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}
