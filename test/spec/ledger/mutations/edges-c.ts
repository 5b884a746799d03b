import type { Points } from '../mutations.ts';

export const edgesC: Points = {};
