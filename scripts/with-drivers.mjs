// Makes the named packages production dependencies of ./package.json, in the version that the lockfile has: they are
// optional peers, which `npm ci --omit=dev` leaves out. Usage: node scripts/with-drivers.mjs pg ioredis
import { readFileSync, writeFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
for (const name of process.argv.slice(2)) {
  const version = manifest.dependencies[name] ?? manifest.devDependencies[name];
  if (version === undefined) throw new Error(`package.json has no version of ${name} among its dependencies`);
  manifest.dependencies[name] = version;
  delete manifest.devDependencies[name];
  delete manifest.peerDependencies?.[name];
  delete manifest.peerDependenciesMeta?.[name];
}
writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
