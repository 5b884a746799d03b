// Foreign keys with their rules, and triggers.
import type { WriteEvent } from '../../described.ts';
import { actionOf, type Catalogue, type Effects, type Facts, listAt } from '../introspection/introspect.ts';

/** One column of a foreign key. `own`: the name of the table without a prefix. */
interface KeyRow {
  readonly table: string;
  readonly schema: string;
  readonly own: string;
  readonly here: number;
  readonly name: string;
  readonly column: string;
  readonly target: string;
  readonly targetSchema: string;
  readonly targetOwn: string;
  readonly targetHere: number;
  readonly targetColumn: string;
}

interface RuleRow {
  readonly schema: string;
  readonly own: string;
  readonly name: string;
  readonly onDelete: string;
  readonly onUpdate: string;
}

interface ForeignKey {
  readonly parts: readonly [KeyRow, ...KeyRow[]];
  readonly rule: RuleRow | undefined;
}

/** Takes two statements. `keys`: the text of the statement that lists `KeyRow`. */
export async function readForeignKeys(
  catalogue: Catalogue,
  keys: string,
  idOf: (...names: readonly string[]) => string,
): Promise<readonly ForeignKey[]> {
  const found = new Map<string, KeyRow[]>();
  const rows = await catalogue<KeyRow>(keys);
  for (const row of rows) listAt(found, idOf(row.schema, row.own, row.name)).push(row);
  if (found.size === 0) return [];
  // A join of both reads the rules again for each key.
  const schemas = [...new Set(rows.map(({ schema }) => schema))].map(literal).join(', ');
  const rules = await catalogue<RuleRow>(
    `select constraint_schema as \`schema\`, table_name as own, constraint_name as name, delete_rule as onDelete,
    update_rule as onUpdate from information_schema.referential_constraints where constraint_schema in (${schemas})`,
  );
  const byId = new Map(rules.map((rule) => [idOf(rule.schema, rule.own, rule.name), rule]));
  return [...found].map(([id, parts]) => ({ parts: parts as [KeyRow, ...KeyRow[]], rule: byId.get(id) }));
}

/** None for a key of a table that is not in a served schema. */
export function describeForeignKey(
  { parts }: ForeignKey,
  schemas: readonly string[],
  exact: boolean,
): Facts['foreignKeys'] {
  const folded = schemas.map((name) => name.toLowerCase());
  const isServed = (name: string) => (exact ? schemas.includes(name) : folded.includes(name.toLowerCase()));
  const [{ table, schema, target, targetSchema }] = parts;
  if (!isServed(schema)) return [];
  const here = isServed(targetSchema);
  return [
    {
      table,
      columns: parts.map(({ column }) => column),
      target: here ? target : null,
      targetColumns: parts.map(({ targetColumn }) => targetColumn),
      ...(here ? {} : { why: `its target is in the database ${targetSchema}` }),
    },
  ];
}

/** Without a readable rule, the key is taken to refuse changes, as the default of the database does. */
export function toReference({ parts, rule }: ForeignKey): Effects['references'][number] {
  const [first] = parts;
  return {
    from: { schema: first.schema, name: first.own, isCurrent: Number(first.here) === 1 },
    to: { schema: first.targetSchema, name: first.targetOwn, isCurrent: Number(first.targetHere) === 1 },
    columns: parts.map(({ column }) => column),
    targetColumns: parts.map(({ targetColumn }) => targetColumn),
    onDelete: actionOf(rule?.onDelete ?? ''),
    onUpdate: actionOf(rule?.onUpdate ?? ''),
  };
}

export interface TriggerRow {
  readonly table: string;
  readonly schema: string;
  readonly own: string;
  readonly here: number;
  readonly event: string;
  readonly timing: string;
  readonly code: string;
}

export function toTrigger({ schema, own, here, event, timing, code }: TriggerRow): Effects['triggers'][number] {
  return {
    before: timing === 'BEFORE' && event === 'INSERT' ? code : undefined,
    schema,
    name: own,
    isCurrent: Number(here) === 1,
    events: [event.toLowerCase() as WriteEvent],
  };
}

export const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
