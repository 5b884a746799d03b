// `npm run screenshots [folder]`: takes screenshots of the pages that people see. docs/screenshots has those that the docs
// show. test/mcp/chart-view.test.ts tests the view of charts, which runs in the page of a client.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCamera } from './camera.ts';
import { takeConsole } from './console.ts';
import { takeSignIn } from './oauth.ts';
import { takeSso } from './sso.ts';

const folder = process.argv[2] ?? join(tmpdir(), 'portico-screenshots');
const camera = await openCamera(folder);
try {
  for (const take of [takeSignIn, takeSso, takeConsole]) await take(camera);
} finally {
  await camera.close();
}
console.log(`screenshots in ${folder}`);
process.exit(0);
