// Export of all rights as the file that `portico roles push` reads.
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';

export async function downloadRoles(_request: SignedInRequest, { store }: Parts): Promise<Answer> {
  // Loaded on demand: it pulls in a YAML writer that only this export needs.
  const { writeRolesFile } = await import('../../../store/permissions/rights-file.ts');
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
