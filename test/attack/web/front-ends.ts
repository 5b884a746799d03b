// Front ends of the agent's HTTP API: a sign-in answer belongs to one front end and to the browser that started it, and
// works once.
import { hashToken, randomToken } from '../../../src/core/secret.ts';
import { answerSignIn, beginSignIn, finishSignIn, frontOrigin, whoAmI } from '../../rest/front-end.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import { on, web } from './web.ts';

const other = 'https://reports.example.com';
const place: Place = {
  ...web,
  name: 'web with two front ends',
  env: { ...web.env, SERVICE_AGENT_ORIGINS: `${frontOrigin},${other}` },
};

const signIn = 'src/rest/sign-in.ts';

export const frontEndAttacks: readonly Attack[] = [
  {
    id: 'web-held-answer-of-another-front-end',
    finding: 'web held',
    title: 'a front end redeems the answer that was given to another one (RFC 6749 section 4.1.3)',
    place,
    on,
    async attack(target) {
      const { url } = await beginSignIn(target.apiUrl);
      const callback = await answerSignIn(url, await target.person());
      const { status } = await finishSignIn(target.apiUrl, callback, {}, other);
      return verdict(status === 200, { status });
    },
    protection: [
      {
        file: signIn,
        text: 'originHeader !== undefined && originHeader !== answer.origin',
        into: 'originHeader === null',
      },
    ],
  },
  {
    id: 'web-held-answer-without-verifier',
    finding: 'web held',
    title: 'who sees the answer of a sign-in redeems it without the code_verifier (RFC 7636 section 4.6)',
    place,
    on,
    async attack(target) {
      const codeChallenge = hashToken(randomToken());
      const { url } = await beginSignIn(target.apiUrl, { body: { codeChallenge } });
      const callback = await answerSignIn(url, await target.person());
      const { status } = await finishSignIn(target.apiUrl, callback, { code_verifier: randomToken() });
      return verdict(status === 200, { status });
    },
    protection: [
      {
        file: signIn,
        text: 'if (answer.codeChallenge !== undefined && !timingSafeEqualText',
        into: 'if (false && !timingSafeEqualText',
      },
    ],
  },
  {
    id: 'web-held-answer-redeemed-twice',
    finding: 'web held',
    title: 'the answer of a sign-in is redeemed twice, and the session of the first goes on (RFC 6749 section 4.1.2)',
    place,
    on,
    async attack(target) {
      const { url } = await beginSignIn(target.apiUrl);
      const callback = await answerSignIn(url, await target.person());
      const { body } = await finishSignIn(target.apiUrl, callback);
      const before = await whoAmI(target.apiUrl, body.token);
      const again = await finishSignIn(target.apiUrl, callback);
      const after = await whoAmI(target.apiUrl, body.token);
      if (before.status !== 200) throw new Error(`nobody was signed in: ${before.status}`);
      return verdict(again.status === 200 || after.status === 200, { again: again.status, after: after.status });
    },
    protection: [
      {
        file: 'src/store/sessions/agent-sessions.ts',
        text: '      if (used?.session_hash) await endByHash(used.session_hash);\n',
        into: '',
      },
    ],
  },
];
