// Schemas shared by several resources of the public API (behaviour api 2.3). Objects are strict, as in the
// OpenAPI document.
import { z } from 'zod';

export const timeSchema = z.iso.datetime({ precision: 3 });

export const userSchema = z
  .strictObject({ object: z.literal('user'), id: z.int().min(0), username: z.string(), email: z.string() })
  .meta({ id: 'User' });

export const environmentSchema = z
  .strictObject({ object: z.literal('environment'), name: z.string() })
  .meta({ id: 'Environment' });

export const teamSchema = z.strictObject({ object: z.literal('team'), name: z.string() }).meta({ id: 'Team' });

export const collectionSchema = z
  .strictObject({ object: z.literal('collection'), name: z.string() })
  .meta({ id: 'Collection' });

export const errorSchema = z
  .object({
    error: z.string().describe('The meaning of the status'),
    message: z.string().describe('The problem, and what to send instead'),
    code: z.string().describe('The error code for programs, such as RATE_LIMITED'),
    retry_after: z.int().optional().describe('Seconds to wait, with 429'),
  })
  .meta({ id: 'Error' });

export const showTime = (ms: number): string => new Date(ms).toISOString();

/** `name`: first and last name, or the e-mail address if both are empty. */
export const showUser = (user: { readonly id: number; readonly name: string; readonly email: string }) =>
  ({ object: 'user', id: user.id, username: user.name, email: user.email }) as const;
