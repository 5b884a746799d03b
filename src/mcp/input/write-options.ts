import type { WriteOptions } from '../../agent/requests.ts';
import type { ToolCall } from '../tool.ts';

/** The engine options that all writing tools share. */
export const writeOptions = (
  { signal, progress, checkEffects: approved, written }: ToolCall,
  dryRun: boolean,
): WriteOptions => ({
  ...{ signal, preview: dryRun, onlyAllowedRelations: true },
  ...(progress && { progress }),
  ...(approved && { approved }),
  ...(written && { written }),
});
