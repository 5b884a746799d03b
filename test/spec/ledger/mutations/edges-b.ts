import type { Points } from '../mutations.ts';

export const edgesB: Points = {};
