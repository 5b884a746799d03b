// Password rules (NIST SP 800-63B section 5.1.1.2): a minimum length, and a list of common passwords. There are no
// rules about kinds of characters, because they lead to weaker passwords.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { logChange } from '../permissions/roles.ts';
import { endSessionsOf } from '../sessions/sessions.ts';

const MIN_PASSWORD_LENGTH = 10;
/** Key stretching costs time for every byte, which this limit bounds. */
export const MAX_PASSWORD_LENGTH = 1024;

/** Compared without the usual decoration: case, spaces, punctuation, and trailing digits. */
const tooCommon: ReadonlySet<string> = new Set(
  `password passwort passw0rd p4ssword motdepasse contrasena wachtwoord senha parola qwerty qwertz azerty qwertyuiop qwertzuiop
azertyuiop asdfghjkl zxcvbnm yxcvbnm 1qaz2wsx 1qaz2wsx3edc qazwsx qazwsxedc q1w2e3r4 q1w2e3r4t5 abcdefghij abcdefghijk abcdefgh
iloveyou letmein letmeinnow welcome welcomeback administrator admin adminadmin changeme changemenow changeit secret topsecret
supersecret mysecret trustno1 sunshine princess football baseball basketball superman batman starwars pokemon dragon monkey
michael jennifer jessica charlie master masterkey whatever computer internet samsung google facebook portico default test
testtest testing guest temporary temp login loginlogin user username root toor`
    .trim()
    .split(/\s+/),
);

/** INVALID_ARGUMENT when the password is not allowed for this address; the message suggests what to choose. */
export function checkPassword(password: string, email: string): void {
  const problem = findPasswordProblem(password, email);
  if (problem) fail('INVALID_ARGUMENT', { argument: 'password', problem });
}

function findPasswordProblem(password: string, email: string): string | undefined {
  if ([...password].length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    return `expected ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;
  }
  const plain = simplify(password);
  const word = plain.replace(/\d+$/, '');
  const [name = ''] = email.split('@');
  const own = [email, name].map(simplify);
  if (own.includes(plain) || own.includes(word)) return 'expected a password other than the e-mail address.';
  if (isRun(plain) || tooCommon.has(plain) || tooCommon.has(word)) {
    return 'this password is too common. Use a few unrelated words.';
  }
  return undefined;
}

function simplify(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** Whether the text repeats one step: `aaaaaaaaaa`, `1234567890`, `0987654321`, `abababababab`. */
function isRun(text: string): boolean {
  if (/^(.{1,4}?)\1+$/u.test(text)) return true;
  const steps = new Set<number>();
  for (let i = 1; i < text.length; i++) steps.add((text.charCodeAt(i) - text.charCodeAt(i - 1) + 10) % 10);
  return steps.size <= 1;
}

/** Runs within the transaction of the change. `by`: the id of the user who changed it, often the same user. */
export async function writePassword(
  trx: Knex.Transaction,
  clock: Clock,
  user: { readonly id: number; readonly email: string },
  change: { readonly password_hash: string; readonly by?: number },
): Promise<void> {
  const { password_hash, by } = change;
  await trx('users').where({ id: user.id }).update({ password_hash });
  // OWASP ASVS 3.3.3: a new password ends all sessions of the user.
  await endSessionsOf(trx, user.id, clock.now());
  await logChange(trx, { at: clock.now(), by, action: 'user.password', subject: user.email });
}
