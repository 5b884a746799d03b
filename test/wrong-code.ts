import { TOTP } from 'otpauth';

const STEP_MS = 30_000;

/** Six digits that an app for codes shows at no second near this one: any that are fixed are right for one secret in a million. */
export function wrongCode(secret: string, timestamp = Date.now()): string {
  const app = new TOTP({ secret });
  const near = [-2, -1, 0, 1, 2].map((steps) => app.generate({ timestamp: timestamp + steps * STEP_MS }));
  let code = 0;
  while (near.includes(toText(code))) code++;
  return toText(code);
}

const toText = (code: number): string => `${code}`.padStart(6, '0');
