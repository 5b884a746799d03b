import { challenge, codeFor, newClient, redeem, refusal, refused, shown, verifier } from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

export const rfc7636: Standard = {
  name: 'RFC 7636',
  title: 'Proof Key for Code Exchange',
  url: 'https://www.rfc-editor.org/rfc/rfc7636',
  file: 'rfc7636.ts',
  cases: [
    {
      section: '4.2',
      level: 'MUST',
      requires: 'The challenge is the SHA-256 of the verifier: the pair of appendix B is accepted',
      async send(at) {
        const code = await codeFor(at, { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' });
        return (await redeem(at, code, { code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' })).status;
      },
      back: 200,
    },
    {
      section: '4.3',
      level: 'MUST',
      requires: 'A challenge without a method is plain, and is refused',
      send: (at) => refusal(at, { code_challenge_method: undefined }),
      back: (at: ConformanceServer) => refused(at, 'invalid_request'),
    },
    {
      section: '4.4.1',
      level: 'MUST',
      requires: 'An unsupported method is refused, also plain',
      send: async (at) => [
        await refusal(at, { code_challenge_method: 'plain', code_challenge: verifier }),
        await refusal(at, { code_challenge_method: 'S512' }),
        await refusal(at, { code_challenge_method: 's256' }),
      ],
      back: (at: ConformanceServer) => Array(3).fill(refused(at, 'invalid_request')),
    },
    {
      section: '4.4.1',
      level: 'MUST',
      requires: 'A request without a challenge is refused',
      send: (at) => refusal(at, { code_challenge: undefined, code_challenge_method: undefined }),
      back: (at: ConformanceServer) => refused(at, 'invalid_request'),
    },
    {
      section: '4.2',
      level: 'MUST',
      requires: 'A challenge that cannot be a SHA-256 is refused',
      send: async (at) => [
        await refusal(at, { code_challenge: 'short' }),
        await refusal(at, { code_challenge: `${challenge.slice(1)}!` }),
        await refusal(at, { code_challenge: 'x'.repeat(129) }),
      ],
      back: (at: ConformanceServer) => Array(3).fill(refused(at, 'invalid_request')),
    },
    {
      section: '4.5',
      level: 'MUST',
      requires: 'The token request contains the verifier',
      send: async (at) => shown(await redeem(at, await codeFor(at), { code_verifier: undefined })),
      back: [400, 'invalid_grant'],
    },
    {
      section: '4.6',
      level: 'MUST',
      requires: 'Another verifier is refused, and so is the challenge instead of the verifier',
      send: async (at) => [
        shown(await redeem(at, await codeFor(at), { code_verifier: `x${verifier.slice(1)}` })),
        shown(await redeem(at, await codeFor(at), { code_verifier: challenge })),
      ],
      back: [
        [400, 'invalid_grant'],
        [400, 'invalid_grant'],
      ],
    },
    {
      section: '4.1',
      level: 'MUST',
      requires: 'A verifier has 43 to 128 unreserved characters: others are refused',
      send: async (at) => [
        shown(await redeem(at, await codeFor(at), { code_verifier: 'short' })),
        shown(await redeem(at, await codeFor(at), { code_verifier: `${verifier}${'x'.repeat(100)}` })),
        shown(await redeem(at, await codeFor(at), { code_verifier: `${verifier}!` })),
      ],
      back: Array(3).fill([400, 'invalid_request']),
    },
    {
      section: '4.4',
      level: 'MUST',
      requires: 'The challenge belongs to its code: a verifier of another request is refused',
      async send(at) {
        const { id } = await newClient(at);
        const other = await codeFor(at, { client_id: id, code_challenge: 'x'.repeat(43) });
        return shown(await redeem(at, other, { client_id: id }));
      },
      back: [400, 'invalid_grant'],
    },
  ],
};
