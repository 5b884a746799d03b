import type { Points } from '../mutations.ts';

export const edgesA: Points = {};
