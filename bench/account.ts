/** The account that signs in to a measured server. */
export const account = { email: 'bench@example.com', password: 'ten times round the block' } as const;
