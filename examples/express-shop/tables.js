// What the bookshop has, in memory: a changed stock is gone with the process.
export const tables = [
  {
    name: 'authors',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'name', type: 'String' },
    ],
    primaryKey: ['id'],
    rows: [
      [1, 'Ines Calder'],
      [2, 'Tomas Brandt'],
    ],
  },
  {
    name: 'books',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'title', type: 'String' },
      { name: 'author_id', type: 'Number' },
      { name: 'stock', type: 'Number' },
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['author_id'], table: 'authors', targetColumns: ['id'] }],
    rows: [
      [1, 'The Salt Almanac', 1, 4],
      [2, 'Harbour Lights', 1, 0],
      [3, 'A Short History of Fog', 2, 11],
    ],
  },
];
