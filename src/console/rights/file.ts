// Who may do what, as the file that `portico roles push` takes.
import type { Answer, MemberVisit, Parts } from '../visit.ts';

export async function downloadRoles(_visit: MemberVisit, { store }: Parts): Promise<Answer> {
  // It brings a writer of YAML, which nothing else of a server needs.
  const { writeRolesFile } = await import('../../store/rights-file.ts');
  return {
    page: {
      text: writeRolesFile(await store.rights.read()),
      headers: {
        'Content-Type': 'application/yaml; charset=utf-8',
        'Content-Disposition': 'attachment; filename="roles.yaml"',
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-store',
      },
    },
  };
}
