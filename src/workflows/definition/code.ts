// Parses workflows defined in code and checks them against the model. They are checked again for every build of the
// engine, which publishes changes made by a restart.

import type { WorkflowEntry } from '../../agent/customize/workflow-entry.ts';
import type { Engine } from '../../agent/engine.ts';
import { type Access, fullAccess } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { CodeWorkflow } from '../../store/workflows/types.ts';
import { checkAgainstModel } from './check-model.ts';
import { parseDefinition } from './definition.ts';

/** Throws CONFIGURATION for an invalid workflow, with the line that adds it. */
export function createCodeReader(engine: Engine): () => readonly CodeWorkflow[] {
  let build: object | undefined;
  let cached: readonly CodeWorkflow[] = [];
  return () => {
    if (build === engine.build) return cached;
    cached = engine.workflows.map((entry) => parseEntry(entry, engine));
    build = engine.build;
    return cached;
  };
}

function parseEntry({ definition: rawDefinition, teams, at: location }: WorkflowEntry, engine: Engine): CodeWorkflow {
  try {
    const definition = parseDefinition(rawDefinition);
    checkAgainstModel(definition, fullRights, engine);
    const { name, collection, concurrency = null } = definition;
    return { name, collection, concurrency, definition: JSON.stringify(definition), ...(teams && { teams }) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return fail(
      'CONFIGURATION',
      { problem: `The workflow '${rawDefinition.name}': ${error.message} (${location})` },
      error,
    );
  }
}

/** The operator owns the code, so the check has full access. */
const fullRights: Access = fullAccess({
  id: 0,
  email: '',
  firstName: '',
  lastName: '',
  team: '',
  role: '',
  tags: {},
  timezone: 'UTC',
  permissionLevel: 'developer',
  renderingId: 0,
});
