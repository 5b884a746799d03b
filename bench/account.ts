/** Who signs in to a server that is measured. */
export const account = { email: 'bench@example.com', password: 'ten times round the block' } as const;
