// The shop's own accounts: a password and a session each, as any application has them.
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

const people = [
  { id: 'staff-1', name: 'mara', email: 'mara@tidewater.example', isManager: true },
  { id: 'staff-2', name: 'theo', email: 'theo@tidewater.example', isManager: false },
];

export function createAccounts() {
  const salt = randomBytes(16);
  const stretch = (password) => scryptSync(password, salt, 32);
  // A shop keeps one for each person; these two are for trying it out.
  const expected = stretch('lighthouse');
  const sessions = new Map();

  return {
    /** The secret of a new session, or null. */
    signIn(name, password) {
      const isRight = timingSafeEqual(stretch(`${password}`), expected);
      const person = people.find((one) => one.name === name);
      if (!person || !isRight) return null;
      const session = randomBytes(32).toString('base64url');
      sessions.set(session, person);
      return session;
    },

    /** Who is signed in, by the Cookie header of a request; null for nobody. */
    whoIs(cookies = '') {
      const [, session] = /(?:^|; )bookshop=([\w-]+)/.exec(cookies) ?? [];
      return sessions.get(session) ?? null;
    },
  };
}
