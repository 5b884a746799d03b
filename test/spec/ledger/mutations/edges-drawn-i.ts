// Mutations of somebody who had not read the tests, at edges that no test of the row noticed at first.
import type { Points } from '../mutations.ts';

export const edgesDrawnI: Points = {
  'src/agent/model/flatten.ts': {
    '2.8 · flattenRelation · relationName': ["if (relation.kind !== 'one')\n", "if (relation.kind !== 'one' || relation.inverse)\n"],
  },
  'src/server/agent/create-agent.ts': {
    '4.1 · stop': ["await this.#engine.closePending();\n      this.#state = 'new';", "this.#state = 'new';"],
  },
  'src/api/notes/schemas.ts': {
    'api 2.3 · Collection · name': ["collection: { object: 'collection', name: note.collection }", "collection: { object: 'collection', name: note.collection.split('.').at(-1)! }"],
  },
  'src/agent/model/added.ts': {
    '4.2 · Fields · importField': ['via.length === 0 ||', 'via.length !== 1 ||'],
  },
  'src/agent/sources/sql/connection/address.ts': {
    'decisions · changes · left out: SSH tunnels, vector search, SCIM, SAML, passkeys, CSV import': ["  schemas: [\n    'a list of names, at least one',", "  ssh: ['the options of a tunnel', (value: unknown) => typeof value === 'object'],\n  schemas: [\n    'a list of names, at least one',"],
  },
  'src/agent/actions/records.ts': {
    '2.4 · collectionName': [" || !call.access.can('browse', collection)", ''],
  },
  'src/core/caller.ts': {
    'decisions · MCP · a second person': ['const secondPerson = policies.some((each) => each.secondPerson);', 'const secondPerson = policies[0]?.secondPerson === true;'],
  },
}; // biome-ignore format: a table
