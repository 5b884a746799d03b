export { customizeDemo } from './customization.ts';
export { writeDemo } from './shop.ts';
