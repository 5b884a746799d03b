// Commands that delete for good, and the list of workflows to choose from.
import type { Command } from 'commander';
import { fail } from '../../core/errors.ts';
import type { StartRule } from '../../store/workflows/start-rule-types.ts';
import { addCommand, flagsOf, withSettings } from '../command.ts';
import { readConfig } from '../environment.ts';
import { alignColumns } from '../terminal.ts';

export function addDeletions(program: Command, user: Command): void {
  withSettings(
    addCommand(user, 'delete <email>', 'Delete a user for good; logs keep a number instead of the name'),
    'dataDir',
  )
    .requiredOption('--yes', 'Confirm: there is no way back')
    .action(async (email: string, _options: object, command: Command) => {
      const { deleteUser } = await import('./user.ts');
      await deleteUser(await readConfig(flagsOf(command)), email);
    });

  const workflow = addCommand(program, 'workflow', 'List and delete workflows');
  withSettings(addCommand(workflow, 'list', 'List the workflows of the environment'), 'dataDir', 'environment').action(
    async (_options: object, command: Command) => {
      const { withStore } = await import('../storage.ts');
      await withStore(await readConfig(flagsOf(command)), async (store) => {
        const rules = await store.startRules.list();
        const rows = (await store.workflows.list({})).map(({ id, name, team, collection, source, isActive }) => [
          ...[id, name, team, collection],
          source === 'code' ? 'in code' : isActive ? 'active' : 'paused',
          describeStarts(rules.filter(({ workflowId }) => workflowId === id)),
        ]);
        const lines = alignColumns([['ID', 'NAME', 'TEAM', 'COLLECTION', 'STATE', 'AUTOMATIC STARTS'], ...rows]);
        for (const line of rows.length === 0 ? ['There are no workflows.'] : lines) process.stdout.write(`${line}\n`);
      });
    },
  );
  withSettings(
    addCommand(workflow, 'delete <id>', 'Delete a workflow with its versions and runs; the activity log stays'),
    'dataDir',
    'environment',
  )
    .requiredOption('--yes', 'Confirm: there is no way back')
    .action(async (id: string, _options: object, command: Command) => {
      const { withStore } = await import('../storage.ts');
      await withStore(await readConfig(flagsOf(command)), async (store) => {
        if (!(await store.workflows.delete(id)))
          fail('INVALID_ARGUMENT', {
            argument: 'id',
            problem: `there is no workflow '${id}'. See 'portico workflow list'.`,
          });
        process.stdout.write(`The workflow ${id} is deleted.\n`);
      });
    });
}

/** Such as `cron 0 8 * * * Europe/Paris, data change (paused)`. */
const describeStarts = (rules: readonly StartRule[]): string =>
  rules
    .map(({ settings, isActive }) => {
      const when = settings.kind === 'change' ? 'data change' : `cron ${settings.cron} ${settings.timezone}`;
      return isActive ? when : `${when} (paused)`;
    })
    .join(', ');
