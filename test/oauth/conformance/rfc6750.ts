import { ask, call, challengeIn, connect, names } from './asks.ts';
import type { Standard } from './case.ts';

export const rfc6750: Standard = {
  name: 'RFC 6750',
  title: 'Bearer Token Usage',
  url: 'https://www.rfc-editor.org/rfc/rfc6750',
  file: 'rfc6750.ts',
  cases: [
    {
      section: '2.1',
      level: 'MUST',
      requires: 'A token in the Authorization header is accepted, with the scheme in any case',
      async send(at) {
        const { access } = await connect(at);
        const sent = ['Bearer', 'bearer', 'BEARER'].map((scheme) =>
          call(at, undefined, { headers: { authorization: `${scheme} ${access}` } }),
        );
        return (await Promise.all(sent)).map(({ status }) => status);
      },
      back: [200, 200, 200],
    },
    {
      section: '2.1',
      level: 'MUST',
      requires: 'A header that is not a bearer token is refused: none, another scheme, two tokens, invalid characters',
      async send(at) {
        const { access } = await connect(at);
        const wrong = [
          'Bearer',
          'Bearer ',
          `Basic ${access}`,
          access,
          `Bearer ${access} ${access}`,
          `Bearer ${access}"`,
        ];
        const sent = wrong.map((authorization) => call(at, undefined, { headers: { authorization } }));
        return (await Promise.all(sent)).map(({ status }) => status);
      },
      back: [401, 401, 401, 401, 401, 401],
    },
    {
      section: '3',
      level: 'MUST',
      requires: 'A request without credentials gets WWW-Authenticate, whatever its body is',
      async send(at) {
        const answer = await ask(at.resource, { method: 'POST', body: 'no JSON' });
        return [answer.status, challengeIn(answer.headers).scheme];
      },
      back: [401, 'Bearer'],
    },
    {
      section: '3',
      level: 'MUST NOT',
      requires: 'No parameter of the challenge occurs twice, and its values contain no quotes or control characters',
      async send(at) {
        const header = `${(await call(at, 'x'.repeat(43))).headers.get('www-authenticate')}`;
        const found = [...header.matchAll(/(\w+)="/g)].map(([, name]) => name);
        return [
          new Set(found).size === found.length,
          /^Bearer (?:\w+="[\x20-\x21\x23-\x5b\x5d-\x7e]*"(?:, |$))+$/.test(header),
        ];
      },
      back: [true, true],
    },
    {
      section: '3.1',
      level: 'SHOULD',
      requires: 'An expired, revoked or malformed token is invalid_token with 401',
      async send(at) {
        const { access } = await connect(at);
        at.wait(901);
        const answer = await call(at, access);
        return [answer.status, challengeIn(answer.headers).error, answer.json.error];
      },
      back: [401, 'invalid_token', 'invalid_token'],
    },
    {
      section: '5.3',
      level: 'MUST NOT',
      requires: 'A token in the query is refused, and the response does not repeat it',
      async send(at) {
        const { access } = await connect(at);
        const answer = await call(at, undefined, { query: `?access_token=${access}` });
        return [answer.status, answer.text.includes(access), names(answer.headers, 'cache-control')];
      },
      back: [401, false, ['no-store']],
    },
  ],
};
