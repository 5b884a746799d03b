/** False for the warning that SQLite runs as WebAssembly, which only some machines that run the tests log. */
export const isNotDriverWarning = (message: string): boolean => !message.startsWith('SQLite runs as WebAssembly');
