// Invalid plugins, in their own file: an error must also point to the place that uses them.
import type { CollectionCustomizer } from '../../src/index.ts';

export function plugin(collection: CollectionCustomizer): void {
  collection.renameField('nothing', 'something');
}

export async function laterPlugin(collection: CollectionCustomizer): Promise<void> {
  await Promise.resolve();
  collection.renameField('nothing', 'something');
}

export async function wrongPlugin(collection: CollectionCustomizer): Promise<void> {
  await Promise.resolve();
  collection.emulateFieldOperator('id', 'Equals' as 'Equal');
}
