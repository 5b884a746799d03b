// A bin for a collection that has a column for the time of deletion. An update that empties the column takes a record out of it.

/**
 * @param {import('portico').CollectionCustomizer} collection
 * @param {{ column: string, segment?: string }} options `column`: a Date that may be empty.
 */
export function bin(collection, { column, segment = 'In the bin' }) {
  const keepBinnedOut = (context) => {
    if (context.filter.segment !== segment) context.narrow({ field: column, operator: 'Blank' });
  };

  collection
    .addSegment(segment, { field: column, operator: 'Present' })
    .addHook('Before', 'List', keepBinnedOut)
    .addHook('Before', 'Aggregate', keepBinnedOut)
    .overrideDelete(async (context) => {
      await context.collection(collection.name).update(context.filter, { [column]: new Date().toISOString() });
    });
}
