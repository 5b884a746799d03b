import { createBrowser } from '../flow.ts';
import { allow, asMetadata, open, refusal, refused, told } from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

export const rfc9207: Standard = {
  name: 'RFC 9207',
  title: 'Authorization Server Issuer Identification',
  url: 'https://www.rfc-editor.org/rfc/rfc9207',
  file: 'rfc9207.ts',
  cases: [
    {
      section: '2',
      level: 'MUST',
      requires: 'A successful response carries the issuer, once',
      send: async (at) => (await allow(at)).searchParams.getAll('iss'),
      back: (at: ConformanceServer) => [at.issuer],
    },
    {
      section: '2',
      level: 'MUST',
      requires: 'An error carries it too, by the server and by the user',
      async send(at) {
        const browser = createBrowser();
        const page = await open(at, {}, browser);
        return [await refusal(at, { resource: 'https://other.example' }), told(await browser.press(page, 'cancel'))];
      },
      back: (at: ConformanceServer) => [refused(at, 'invalid_target'), refused(at, 'access_denied')],
    },
    {
      section: '2',
      level: 'MUST',
      requires: 'It equals the issuer of the metadata exactly',
      send: async (at) => (await allow(at)).searchParams.get('iss') === (await asMetadata(at)).json.issuer,
      back: true,
    },
    {
      section: '3',
      level: 'MUST',
      requires: 'The metadata advertises it',
      send: async (at) => (await asMetadata(at)).json.authorization_response_iss_parameter_supported,
      back: true,
    },
  ],
};
