// The tables, in the order of `npm run conformance`.
import type { Standard } from './case.ts';
import { cimd } from './cimd.ts';
import { mcp, mcpModern } from './mcp.ts';
import { oauth21 } from './oauth-2.1.ts';
import { rfc6749 } from './rfc6749.ts';
import { rfc6750 } from './rfc6750.ts';
import { rfc7009 } from './rfc7009.ts';
import { rfc7523 } from './rfc7523.ts';
import { rfc7591 } from './rfc7591.ts';
import { rfc7636 } from './rfc7636.ts';
import { rfc7662 } from './rfc7662.ts';
import { rfc8252 } from './rfc8252.ts';
import { rfc8414 } from './rfc8414.ts';
import { rfc8707 } from './rfc8707.ts';
import { rfc9126 } from './rfc9126.ts';
import { rfc9207 } from './rfc9207.ts';
import { rfc9449 } from './rfc9449.ts';
import { rfc9700 } from './rfc9700.ts';
import { rfc9728 } from './rfc9728.ts';

export const standards: readonly Standard[] = [
  oauth21,
  rfc6749,
  rfc6750,
  rfc7009,
  rfc7523,
  rfc7591,
  rfc7636,
  rfc7662,
  rfc8252,
  rfc8414,
  rfc8707,
  rfc9126,
  rfc9207,
  rfc9449,
  rfc9700,
  rfc9728,
  cimd,
  mcp,
  mcpModern,
];
