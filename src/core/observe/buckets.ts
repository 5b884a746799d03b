/** Seconds, as the conventions advise for `mcp.server.operation.duration`. */
export const operationSeconds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;
/** Seconds, as the conventions advise for `db.client.operation.duration`. */
export const statementSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] as const;
