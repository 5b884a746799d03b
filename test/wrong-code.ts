import { TOTP } from 'otpauth';

const STEP_MS = 30_000;

/** Six digits that are no valid TOTP code near this moment. A fixed code would be valid for one secret in a million. */
export function wrongCode(secret: string, timestamp = Date.now()): string {
  const app = new TOTP({ secret });
  const near = [-2, -1, 0, 1, 2].map((steps) => app.generate({ timestamp: timestamp + steps * STEP_MS }));
  let code = 0;
  while (near.includes(toText(code))) code++;
  return toText(code);
}

const toText = (code: number): string => `${code}`.padStart(6, '0');
