import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  generateKeyPairSync,
  hash,
  randomBytes,
  randomUUID,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';

/** A random, URL-safe text of `bits` bits (256 by default). */
export function randomToken(bits = 256): string {
  return randomBytes(Math.ceil(bits / 8)).toString('base64url');
}

/** For the few specifications that require plain base64. */
export function randomBase64(bytes: number): string {
  return randomBytes(bytes).toString('base64');
}

export function randomId(): string {
  return randomUUID();
}

/** SHA-256 as base64url, to store bearer secrets. They have 256 random bits, so they need no salt or stretching. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}

/**
 * A 64-bit hash to distinguish texts when a collision gives an attacker no advantage. FNV-1a, twice with different
 * seeds; takes a tenth of the time of SHA-256. Never use it on a secret.
 */
export function fingerprintOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x01000193) ^ (b >>> 15);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36).padStart(7, '0');
}

/** Constant-time comparison of two texts. Their lengths are not secret. */
export function timingSafeEqualText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** HMAC-SHA-256 as base64url. */
export function sign(text: string, key: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** A new P-256 key pair as a private JWK (RFC 7518 section 6.2), in JSON. */
export function makeSigningKey(): string {
  return JSON.stringify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }));
}

const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

function deriveHash(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, 32, options, (error, key) => (error ? reject(error) : resolve(key))),
  );
}

/** `scrypt$N$r$p$salt$hash`. Each hash includes its parameters, which allows raising them later. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await deriveHash(password, salt, SCRYPT);
  return ['scrypt', SCRYPT.N, SCRYPT.r, SCRYPT.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** A missing or malformed hash takes as long as a wrong password. The time does not reveal which users exist. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [kind, N, r, p, salt, expected] = (stored ?? '').split('$');
  if (kind !== 'scrypt' || !salt || !expected) {
    await deriveHash(password, randomBytes(16), SCRYPT);
    return false;
  }
  const key = await deriveHash(password, Buffer.from(salt, 'base64url'), {
    N: Number(N),
    r: Number(r),
    p: Number(p),
    maxmem: SCRYPT.maxmem,
  });
  return timingSafeEqualText(key.toString('base64url'), expected);
}

/** AES-256-GCM with a key derived from `passphrase`; `iv.tag.data`, each base64url. */
export function encrypt(text: string, passphrase: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(passphrase), iv);
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return [iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url')).join('.');
}

/** Throws unless {@link encrypt} made the text with the same passphrase. */
export function decrypt(sealed: string, passphrase: string): string {
  const [iv, tag, data] = sealed.split('.').map((part) => Buffer.from(part, 'base64url'));
  if (!iv || !tag || !data) throw new Error('not an encrypted text');
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(passphrase), iv, { authTagLength: 16 });
  decipher.setAuthTag(tag);
  return Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8');
}

function deriveKey(passphrase: string): Buffer {
  return createHash('sha256').update('portico/key/').update(passphrase).digest();
}
