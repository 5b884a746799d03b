import type { Points } from '../mutations.ts';

export const edgesD: Points = {};
