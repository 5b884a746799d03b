// The database of first-guesses.test.ts and 150 calls that a model may send before it reads a description. Plain SQL
// gives the meaning of each call: `rows` is the expected result, `after` the expected state of the database.
export const schema = `
CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT NOT NULL, Country TEXT);
CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title TEXT NOT NULL, ArtistId INTEGER NOT NULL REFERENCES Artist, ReleasedOn DATE);
CREATE TABLE Genre (GenreId INTEGER PRIMARY KEY, Name TEXT NOT NULL);
CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Name TEXT NOT NULL, AlbumId INTEGER REFERENCES Album, GenreId INTEGER REFERENCES Genre,
  Composer TEXT, Milliseconds INTEGER NOT NULL, UnitPrice DECIMAL(10,2) NOT NULL, IsLive BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE Employee (EmployeeId INTEGER PRIMARY KEY, LastName TEXT NOT NULL, ReportsTo INTEGER REFERENCES Employee);
CREATE TABLE Customer (CustomerId INTEGER PRIMARY KEY, FirstName TEXT NOT NULL, LastName TEXT NOT NULL, Email TEXT, Country TEXT NOT NULL,
  SupportRepId INTEGER REFERENCES Employee);
CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, CustomerId INTEGER NOT NULL REFERENCES Customer, InvoiceDate DATETIME NOT NULL,
  Status TEXT NOT NULL DEFAULT 'open', Total DECIMAL(10,2) NOT NULL);
CREATE TABLE InvoiceLine (InvoiceLineId INTEGER PRIMARY KEY, InvoiceId INTEGER NOT NULL REFERENCES Invoice, TrackId INTEGER NOT NULL REFERENCES Track,
  Quantity INTEGER NOT NULL);
CREATE TABLE Playlist (PlaylistId INTEGER PRIMARY KEY, Name TEXT NOT NULL);
CREATE TABLE PlaylistTrack (PlaylistId INTEGER NOT NULL REFERENCES Playlist, TrackId INTEGER NOT NULL REFERENCES Track, PRIMARY KEY (PlaylistId, TrackId));
CREATE TABLE store (store_id INTEGER PRIMARY KEY, city TEXT NOT NULL, manager_id INTEGER REFERENCES staff_member);
CREATE TABLE staff_member (staff_id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, store_id INTEGER REFERENCES store);
CREATE TABLE stock_item (store_id INTEGER NOT NULL REFERENCES store, slot_no INTEGER NOT NULL, label TEXT NOT NULL, units_left INTEGER NOT NULL,
  PRIMARY KEY (store_id, slot_no));
`;

export const seed = `
INSERT INTO Artist VALUES (1,'Nora Vale','France'),(2,'The Lanterns','Norway'),(3,'Old Harbor','France'),(4,'Quiet Engine',NULL);
INSERT INTO Album VALUES (1,'First Light',1,'2019-03-01'),(2,'Harbor Songs',3,'2021-07-15'),(3,'Paper Moons',2,'2021-11-30'),(4,'Night Bus',1,'2024-01-10');
INSERT INTO Genre VALUES (1,'Rock'),(2,'Jazz'),(3,'Folk');
INSERT INTO Track VALUES (1,'Wake',1,1,'N. Vale',210000,0.99,0),(2,'Glass',1,2,NULL,185000,0.99,0),(3,'Anchor',2,3,'H. Dale',305000,1.29,1),
 (4,'Tide',2,3,NULL,240000,1.29,0),(5,'Moonrise',3,1,'L. Berg',199000,0.99,0),(6,'Paper',3,2,'L. Berg',260000,1.99,1),(7,'Last Stop',4,1,'N. Vale',330000,1.99,0),
 (8,'Loose Tape',NULL,NULL,NULL,95000,0.49,0);
INSERT INTO Employee VALUES (1,'Adams',NULL),(2,'Brand',1),(3,'Cole',1),(4,'Dunn',2);
INSERT INTO Customer VALUES (1,'Ines','Moreau','ines@mail.test','France',3),(2,'Olav','Lund','olav@mail.test','Norway',3),(3,'Rosa','Petit',NULL,'France',4),
 (4,'Tom','Reed','tom@work.test','Canada',4),(5,'Uma','Stone',NULL,'Norway',NULL);
INSERT INTO Invoice VALUES (1,1,'2026-01-05 09:30:00','paid',3.27),(2,1,'2026-01-31 16:45:00','paid',1.98),(3,2,'2026-02-10 11:00:00','open',12.5),
 (4,3,'2026-02-28 23:10:00','cancelled',0.99),(5,4,'2026-03-15 08:00:00','paid',25),(6,4,'2026-03-16 08:00:00','open',7.4);
INSERT INTO InvoiceLine VALUES (1,1,1,1),(2,1,3,1),(3,2,2,2),(4,3,6,3),(5,3,7,2),(6,4,1,1),(7,5,3,5),(8,6,5,4);
INSERT INTO Playlist VALUES (1,'Morning'),(2,'Evening'),(3,'Empty');
INSERT INTO PlaylistTrack VALUES (1,1),(1,3),(2,3),(2,5),(2,7);
INSERT INTO store VALUES (1,'Lyon',NULL),(2,'Oslo',NULL);
INSERT INTO staff_member VALUES (1,'Mia',1),(2,'Jon',1),(3,'Kai',2);
UPDATE store SET manager_id = 2 WHERE store_id = 1;
UPDATE store SET manager_id = 3 WHERE store_id = 2;
INSERT INTO stock_item VALUES (1,1,'Cable',5),(1,2,'Lamp',0),(2,1,'Cable',12);
`;

export const tables = [
  ...['Artist', 'Album', 'Genre', 'Track', 'Employee', 'Customer', 'Invoice', 'InvoiceLine'],
  ...['Playlist', 'PlaylistTrack', 'store', 'staff_member', 'stock_item'],
];

export interface Guess {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** SQL for the expected rows; the result may have more columns. */
  readonly rows?: string;
  /** Compares the order of the rows too. */
  readonly ordered?: boolean;
  /** A query to run afterwards, and its expected rows. */
  readonly after?: readonly [sql: string, rows: readonly (readonly unknown[])[]];
  /** Expected part of a result that is not a table. */
  readonly says?: string;
}

type Args = Record<string, unknown>;
const list = (collectionName: string, args: Args, rows: string): Guess => ({
  tool: 'list',
  args: { collectionName, ...args },
  rows,
});
const sorted = (collectionName: string, args: Args, rows: string): Guess => ({
  ...list(collectionName, args, rows),
  ordered: true,
});
/** A filter of list. */
const where = (collectionName: string, filters: unknown, condition: string): Guess =>
  list(collectionName, { filters }, `SELECT * FROM ${collectionName} WHERE ${condition}`);
const figures = (collectionName: string, args: Args, rows: string): Guess => ({
  tool: 'aggregate',
  args: { collectionName, ...args },
  rows,
});
const write = (tool: string, args: Args, sql: string, ...rows: readonly (readonly unknown[])[]): Guess => ({
  tool,
  args,
  after: [sql, rows],
});

const paid = "Status = 'paid'";
const isPaid = { field: 'Status', operator: 'Equal', value: 'paid' };
const jan = "InvoiceDate >= '2026-01-01' AND InvoiceDate < '2026-02-01'";
const titles = 'SELECT t.Name AS Name, a.Title AS "Album:Title" FROM Track t LEFT JOIN Album a USING (AlbumId)';
const perStatus = 'SELECT Status, count(*) FROM Invoice GROUP BY Status';
const totalPerStatus = 'SELECT Status, sum(Total) FROM Invoice GROUP BY Status';
const none = 'NOT EXISTS (SELECT 1 FROM Invoice i WHERE i.CustomerId = Customer.CustomerId)';
const some = (condition: string) =>
  `EXISTS (SELECT 1 FROM Invoice i WHERE i.CustomerId = Customer.CustomerId AND i.${condition})`;
const artist5 = 'SELECT Name, Country FROM Artist WHERE ArtistId = 5';

export const guesses: Readonly<Record<string, readonly Guess[]>> = {
  'names of collections': [
    { tool: 'list', args: { collectionName: 'track' }, rows: 'SELECT * FROM Track' },
    { tool: 'list', args: { collectionName: 'TRACK' }, rows: 'SELECT * FROM Track' },
    { tool: 'list', args: { collectionName: 'tracks' }, rows: 'SELECT * FROM Track' },
    { tool: 'list', args: { collectionName: 'Customers' }, rows: 'SELECT * FROM Customer' },
    { tool: 'list', args: { collectionName: 'invoice_line' }, rows: 'SELECT * FROM InvoiceLine' },
    { tool: 'list', args: { collectionName: 'invoice_lines' }, rows: 'SELECT * FROM InvoiceLine' },
    { tool: 'list', args: { collectionName: 'StaffMember' }, rows: 'SELECT * FROM staff_member' },
    { tool: 'list', args: { collectionName: 'staffMembers' }, rows: 'SELECT * FROM staff_member' },
    { tool: 'list', args: { collectionName: 'stores' }, rows: 'SELECT * FROM store' },
    { tool: 'list', args: { collection: 'Genre' }, rows: 'SELECT * FROM Genre' },
    { tool: 'list', args: { collection_name: 'Genre' }, rows: 'SELECT * FROM Genre' },
    { tool: 'list', args: { table: 'Genre' }, rows: 'SELECT * FROM Genre' },
    { tool: 'describeCollection', args: { collectionName: 'album' }, says: '"name":"Album"' },
    { tool: 'describeCollection', args: { name: 'Album' }, says: '"name":"Album"' },
  ],
  'names of fields and paths': [
    list('Track', { fields: ['name', 'unitprice'] }, 'SELECT Name, UnitPrice FROM Track'),
    list('Track', { fields: ['unit_price'] }, 'SELECT UnitPrice FROM Track'),
    list('staff_member', { fields: ['firstName'] }, 'SELECT first_name FROM staff_member'),
    list('Track', { fields: ['Name', 'Album.Title'] }, titles),
    list('Track', { fields: ['Name', 'Album->Title'] }, titles),
    list('Track', { fields: ['Name', 'Album__Title'] }, titles),
    list('Track', { fields: ['Name', 'Album/Title'] }, titles),
    list('Track', { fields: ['Name', 'album:title'] }, titles),
    list('Track', { fields: ['Name', 'album.title'] }, titles),
    list('Track', { fields: 'Name, Album:Title' }, titles),
    list('Track', { columns: ['Name', 'UnitPrice'] }, 'SELECT Name, UnitPrice FROM Track'),
    list('Track', { select: 'Name,UnitPrice' }, 'SELECT Name, UnitPrice FROM Track'),
    list('Track', { fields: 'Track.Name' }, 'SELECT Name FROM Track'),
    list('Track', { fields: ['Name', 'Album'] }, 'SELECT t.Name AS Name FROM Track t'),
    list(
      'Track',
      { fields: ['Name', 'Album.Artist.Name'] },
      'SELECT t.Name AS Name, r.Name AS "Album:Artist:Name" FROM Track t LEFT JOIN Album USING (AlbumId) LEFT JOIN Artist r USING (ArtistId)',
    ),
    where('Track', { field: 'Albums:Title', operator: 'Equal', value: 'Night Bus' }, 'AlbumId = 4'),
  ],
  operators: [
    where('Invoice', { field: 'Total', operator: 'gt', value: 5 }, 'Total > 5'),
    where('Invoice', { field: 'Total', operator: '>', value: 5 }, 'Total > 5'),
    where('Invoice', { field: 'Total', operator: '>=', value: 7.4 }, 'Total >= 7.4'),
    where('Invoice', { field: 'Total', operator: 'gte', value: 7.4 }, 'Total >= 7.4'),
    where('Invoice', { field: 'Total', operator: 'lt', value: 3 }, 'Total < 3'),
    where('Invoice', { field: 'Total', operator: 'lte', value: 3.27 }, 'Total <= 3.27'),
    where('Invoice', { field: 'Total', operator: 'less than or equal to', value: 3.27 }, 'Total <= 3.27'),
    where('Invoice', { field: 'Total', operator: '$gt', value: 5 }, 'Total > 5'),
    where('Invoice', { field: 'Status', operator: 'eq', value: 'paid' }, paid),
    where('Invoice', { field: 'Status', operator: 'equals', value: 'paid' }, paid),
    where('Invoice', { field: 'Status', operator: 'is', value: 'paid' }, paid),
    where('Invoice', { field: 'Status', operator: 'ne', value: 'paid' }, "Status <> 'paid'"),
    where('Invoice', { field: 'Status', operator: '!=', value: 'paid' }, "Status <> 'paid'"),
    where('Invoice', { field: 'Status', operator: 'not_equals', value: 'paid' }, "Status <> 'paid'"),
    where('Invoice', { field: 'Status', operator: 'not in', value: ['paid', 'open'] }, "Status = 'cancelled'"),
    where('Invoice', { field: 'Status', operator: 'nin', value: ['paid', 'open'] }, "Status = 'cancelled'"),
    where('Invoice', { field: 'Status', operator: 'one of', value: ['paid', 'open'] }, "Status <> 'cancelled'"),
    where('Invoice', { field: 'Status', operator: 'In', value: 'paid' }, paid),
    where('Invoice', { field: 'Status', operator: 'In', value: 'paid,open' }, "Status IN ('paid','open')"),
    where('Invoice', { field: 'Status', operator: 'Equal', value: ['paid', 'open'] }, "Status IN ('paid','open')"),
    where('Track', { field: 'Composer', operator: 'is null' }, 'Composer IS NULL'),
    where('Track', { field: 'Composer', operator: 'IsNull', value: true }, 'Composer IS NULL'),
    where('Track', { field: 'Composer', operator: 'is not null' }, 'Composer IS NOT NULL'),
    where('Track', { field: 'Composer', operator: 'not null' }, 'Composer IS NOT NULL'),
    where('Track', { field: 'Composer', operator: 'exists', value: false }, 'Composer IS NULL'),
    where('Track', { field: 'Composer', operator: 'isEmpty' }, 'Composer IS NULL'),
    where('Track', { field: 'Name', operator: 'like', value: '%oo%' }, "Name LIKE '%oo%'"),
    where('Track', { field: 'Name', operator: 'ilike', value: 'P%' }, "Name = 'Paper'"),
    where('Track', { field: 'Name', operator: 'not like', value: '%a%' }, "Name NOT GLOB '*a*'"),
    where('Track', { field: 'Name', operator: 'startsWith', value: 'L' }, "Name GLOB 'L*'"),
    where('Track', { field: 'Name', operator: 'begins_with', value: 'L' }, "Name GLOB 'L*'"),
    where('Track', { field: 'Name', operator: 'includes', value: 'oo' }, "Name GLOB '*oo*'"),
    where('Track', { field: 'Name', operator: 'contains', value: 'oo' }, "Name GLOB '*oo*'"),
    where('Invoice', { field: 'Total', operator: 'between', value: [2, 10] }, 'Total BETWEEN 2 AND 10'),
    where('Invoice', { field: 'Total', operator: 'between', value: { from: 2, to: 10 } }, 'Total BETWEEN 2 AND 10'),
    where('Invoice', { field: 'Total', operator: 'not between', value: [2, 10] }, 'Total NOT BETWEEN 2 AND 10'),
    where('Invoice', { field: 'Total', op: 'gt', value: 5 }, 'Total > 5'),
    where('Invoice', { column: 'Total', operator: '>', value: 5 }, 'Total > 5'),
    where('Invoice', { field: 'Total', comparison: 'greater', value: 5 }, 'Total > 5'),
    where('Invoice', { field: 'Status', value: 'paid' }, paid),
  ],
  'filters as a whole': [
    where('Invoice', { Status: 'paid' }, paid),
    where('Invoice', { status: 'paid', CustomerId: 1 }, 'CustomerId = 1'),
    where('Invoice', { Total: { $gt: 5 } }, 'Total > 5'),
    where('Invoice', { Total: { gte: 2, lt: 10 } }, 'Total >= 2 AND Total < 10'),
    where('Invoice', { Status: ['paid', 'open'] }, "Status IN ('paid','open')"),
    where('Invoice', { Status: { $in: ['paid', 'open'] } }, "Status IN ('paid','open')"),
    where('Invoice', { $or: [{ Status: 'open' }, { Total: { $lt: 1 } }] }, "Status = 'open' OR Total < 1"),
    where('Invoice', { or: [isPaid, { field: 'Total', operator: '<', value: 1 }] }, "Status = 'paid' OR Total < 1"),
    where('Invoice', { and: [isPaid, { field: 'Total', operator: '<', value: 3 }] }, 'InvoiceId = 2'),
    where('Invoice', { operator: 'and', conditions: [isPaid, { ...isPaid }] }, paid),
    where(
      'Invoice',
      { logic: 'or', filters: [isPaid, { field: 'Total', operator: '<', value: 1 }] },
      "Status = 'paid' OR Total < 1",
    ),
    where('Invoice', [isPaid, { field: 'Total', operator: '>', value: 10 }], 'InvoiceId = 5'),
    where('Invoice', ['Status', '=', 'paid'], paid),
    where(
      'Invoice',
      [
        ['Status', '=', 'paid'],
        ['Total', '>', 10],
      ],
      'InvoiceId = 5',
    ),
    where('Invoice', JSON.stringify(isPaid), paid),
    where('Invoice', JSON.stringify([isPaid]), paid),
    where('Invoice', "Status = 'paid'", paid),
    where('Track', { Composer: null }, 'Composer IS NULL'),
    where('Track', { not: { field: 'Name', operator: 'Contains', value: 'a' } }, "Name NOT GLOB '*a*'"),
    list('Invoice', { where: isPaid }, `SELECT * FROM Invoice WHERE ${paid}`),
    list('Invoice', { filter: isPaid }, `SELECT * FROM Invoice WHERE ${paid}`),
    list('Invoice', { conditions: [isPaid] }, `SELECT * FROM Invoice WHERE ${paid}`),
    list('Invoice', { where: { Status: 'paid' } }, `SELECT * FROM Invoice WHERE ${paid}`),
    list('Invoice', { conditionTree: isPaid }, `SELECT * FROM Invoice WHERE ${paid}`),
    where('Track', { 'Album.Title': 'Night Bus' }, 'AlbumId = 4'),
    where('Track', { Album: { Title: 'Night Bus' } }, 'AlbumId = 4'),
  ],
  values: [
    where('Invoice', { field: 'Total', operator: 'GreaterThan', value: '5' }, 'Total > 5'),
    where('Invoice', { field: 'CustomerId', operator: 'Equal', value: '1' }, 'CustomerId = 1'),
    where('Track', { field: 'IsLive', operator: 'Equal', value: 'true' }, 'IsLive = 1'),
    where('Track', { field: 'IsLive', operator: 'Equal', value: 1 }, 'IsLive = 1'),
    where('Invoice', { field: 'InvoiceDate', operator: '>=', value: '2026-03-01' }, "InvoiceDate >= '2026-03-01'"),
    where(
      'Invoice',
      { field: 'InvoiceDate', operator: '>=', value: '2026-03-01 00:00:00' },
      "InvoiceDate >= '2026-03-01'",
    ),
    where('Invoice', { field: 'InvoiceDate', operator: 'between', value: ['2026-01-01', '2026-01-31'] }, jan),
    where('Invoice', { field: 'InvoiceDate', operator: 'Equal', value: '2026-01-31' }, 'InvoiceId = 2'),
    where('Invoice', { field: 'InvoiceDate', operator: 'on', value: '2026-01-31' }, 'InvoiceId = 2'),
    where('Album', { field: 'ReleasedOn', operator: 'Equal', value: '2021-07-15T00:00:00Z' }, 'AlbumId = 2'),
    where('Album', { field: 'ReleasedOn', operator: 'after', value: '2021-08-01' }, "ReleasedOn > '2021-08-01'"),
    where(
      'Album',
      { field: 'ReleasedOn', operator: 'between', value: '2021-01-01,2021-12-31' },
      "ReleasedOn LIKE '2021%'",
    ),
  ],
  'order and pages': [
    sorted('Track', { sort: '-UnitPrice,Name' }, 'SELECT TrackId FROM Track ORDER BY UnitPrice DESC, Name'),
    sorted('Track', { sort: 'Name desc' }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { sort: 'name' }, 'SELECT TrackId FROM Track ORDER BY Name'),
    sorted('Track', { sort: { field: 'Name', direction: 'desc' } }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { sort: [{ field: 'Name', order: 'DESC' }] }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { sort: { Name: 'desc' } }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { sort: { Name: -1 } }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { sort: [['Name', 'desc']] }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { orderBy: 'Name' }, 'SELECT TrackId FROM Track ORDER BY Name'),
    sorted('Track', { order_by: 'Name DESC' }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { order: '-Name' }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { sort: 'Name', ascending: false }, 'SELECT TrackId FROM Track ORDER BY Name DESC'),
    sorted('Track', { sort: 'Name', limit: 3 }, 'SELECT TrackId FROM Track ORDER BY Name LIMIT 3'),
    sorted('Track', { sort: 'Name', pageSize: '3' }, 'SELECT TrackId FROM Track ORDER BY Name LIMIT 3'),
    sorted('Track', { sort: 'Name', limit: 3, offset: 3 }, 'SELECT TrackId FROM Track ORDER BY Name LIMIT 3 OFFSET 3'),
    sorted('Track', { sort: 'Name', page: 2, pageSize: 3 }, 'SELECT TrackId FROM Track ORDER BY Name LIMIT 3 OFFSET 3'),
    sorted(
      'Track',
      { sort: 'Name', pagination: { page: 2, limit: 3 } },
      'SELECT TrackId FROM Track ORDER BY Name LIMIT 3 OFFSET 3',
    ),
    sorted(
      'Track',
      { sort: 'Name', pagination: '{"size":3,"number":2}' },
      'SELECT TrackId FROM Track ORDER BY Name LIMIT 3 OFFSET 3',
    ),
    sorted(
      'Track',
      { sort: 'Album.Title' },
      'SELECT TrackId FROM Track LEFT JOIN Album USING (AlbumId) ORDER BY Title, TrackId',
    ),
  ],
  relations: [
    where('Employee', { field: 'manager:LastName', operator: 'Equal', value: 'Adams' }, 'ReportsTo = 1'),
    where('Employee', { field: 'ReportsTo:LastName', operator: 'Equal', value: 'Adams' }, 'ReportsTo = 1'),
    list('Customer', { fields: ['FirstName', 'SupportRep.LastName'] }, 'SELECT FirstName FROM Customer'),
    where('staff_member', { field: 'store.city', operator: 'eq', value: 'Lyon' }, 'store_id = 1'),
    where('store', { field: 'manager.first_name', operator: 'eq', value: 'Kai' }, 'store_id = 2'),
    {
      tool: 'listRelated',
      args: { collectionName: 'Artist', relationName: 'albums', parentRecordId: 1 },
      rows: 'SELECT * FROM Album WHERE ArtistId = 1',
    },
    {
      tool: 'listRelated',
      args: { collectionName: 'Artist', relation: 'Album', recordId: 1 },
      rows: 'SELECT * FROM Album WHERE ArtistId = 1',
    },
    {
      tool: 'listRelated',
      args: { collectionName: 'Customer', relationName: 'Invoices', id: '4' },
      rows: 'SELECT * FROM Invoice WHERE CustomerId = 4',
    },
    {
      tool: 'listRelated',
      args: { collectionName: 'Employee', relationName: 'reports', parentRecordId: 1 },
      rows: 'SELECT * FROM Employee WHERE ReportsTo = 1',
    },
    {
      tool: 'listRelated',
      args: { collectionName: 'Playlist', relationName: 'tracks', parentRecordId: 2 },
      rows: 'SELECT * FROM Track WHERE TrackId IN (3,5,7)',
    },
    {
      tool: 'listRelated',
      args: { collectionName: 'store', relationName: 'stock_items', parentRecordId: { store_id: 1 } },
      rows: 'SELECT * FROM stock_item WHERE store_id = 1',
    },
  ],
  'records that have some or no related ones': [
    where('Customer', { some: 'invoices', where: { Total: { $gt: 10 } } }, some('Total > 10')),
    where('Customer', { field: 'Invoice:Total', operator: 'gt', value: 10 }, some('Total > 10')),
    where('Customer', { field: 'Invoice', operator: 'is null' }, none),
    where('Customer', { field: 'Invoice:InvoiceId', operator: 'Missing' }, none),
    where('Customer', { field: 'Invoice', operator: 'not exists' }, none),
    where('Customer', { notExists: 'Invoice' }, none),
    where('Customer', { none: 'Invoices' }, none),
  ],
  figures: [
    figures('Invoice', { operation: 'SUM', field: 'Total' }, 'SELECT sum(Total) FROM Invoice'),
    figures('Invoice', { operation: 'average', field: 'Total' }, 'SELECT round(avg(Total),10) FROM Invoice'),
    figures('Invoice', { operation: 'mean', field: 'total' }, 'SELECT round(avg(Total),10) FROM Invoice'),
    figures('Invoice', { operation: 'maximum', field: 'Total' }, 'SELECT max(Total) FROM Invoice'),
    figures('Invoice', { operation: 'count', groupBy: 'Status' }, perStatus),
    figures('Invoice', { operation: 'count', group_by: ['Status'] }, perStatus),
    figures('Invoice', { operation: 'count', groups: 'status' }, perStatus),
    figures('Invoice', { operation: 'sum', measure: 'Total', groups: ['Status'] }, totalPerStatus),
    figures('Invoice', { aggregation: 'sum', field: 'Total', groups: ['Status'] }, totalPerStatus),
    figures('Invoice', { function: 'sum', column: 'Total', groupBy: ['Status'] }, totalPerStatus),
    figures('Invoice', { operation: 'count', field: '*' }, 'SELECT count(*) FROM Invoice'),
    figures('Invoice', { groups: ['Status'] }, perStatus),
    figures('Invoice', { operation: 'count', where: { Status: 'paid' } }, `SELECT count(*) FROM Invoice WHERE ${paid}`),
    figures(
      'Invoice',
      { operation: 'sum', field: 'Total', groups: ['Customer.Country'] },
      'SELECT Country, sum(Total) FROM Invoice JOIN Customer USING (CustomerId) GROUP BY 1',
    ),
    figures(
      'Invoice',
      { operation: 'sum', field: 'Total', groups: [{ field: 'InvoiceDate', interval: 'month' }] },
      "SELECT strftime('%Y-%m-01', InvoiceDate), sum(Total) FROM Invoice GROUP BY 1",
    ),
    figures(
      'Invoice',
      { operation: 'sum', field: 'Total', groups: ['InvoiceDate:month'] },
      "SELECT strftime('%Y-%m-01', InvoiceDate), sum(Total) FROM Invoice GROUP BY 1",
    ),
    figures('Invoice', { operation: 'sum(Total)' }, 'SELECT sum(Total) FROM Invoice'),
    figures(
      'Customer',
      { operation: 'sum', field: 'Invoice:Total', groups: ['Country'] },
      'SELECT Country, sum(Total) FROM Invoice JOIN Customer USING (CustomerId) GROUP BY 1',
    ),
  ],
  writes: [
    write('create', { collectionName: 'Artist', data: { Name: 'New', Country: 'Chile' } }, artist5, ['New', 'Chile']),
    write('create', { collectionName: 'Artist', values: { Name: 'New', Country: 'Chile' } }, artist5, ['New', 'Chile']),
    write('create', { collectionName: 'Artist', record: { Name: 'New' } }, artist5, ['New', null]),
    write('create', { collectionName: 'artist', attributes: { name: 'New', country: 'Chile' } }, artist5, [
      'New',
      'Chile',
    ]),
    write('create', { collectionName: 'Artist', attributes: '{"Name":"New"}' }, artist5, ['New', null]),
    write(
      'create',
      { collectionName: 'Album', attributes: { title: 'X', artist_id: '2', released_on: '2026-01-01T00:00:00Z' } },
      'SELECT Title, ArtistId, ReleasedOn FROM Album WHERE AlbumId = 5',
      ['X', 2, '2026-01-01'],
    ),
    write(
      'update',
      { collectionName: 'Artist', id: 1, attributes: { Country: 'Peru' } },
      'SELECT Country FROM Artist WHERE ArtistId = 1',
      ['Peru'],
    ),
    write(
      'update',
      { collectionName: 'Artist', recordId: { ArtistId: 1 }, data: { Country: 'Peru' } },
      'SELECT Country FROM Artist WHERE ArtistId = 1',
      ['Peru'],
    ),
    write(
      'update',
      { collectionName: 'stock_item', recordId: { store_id: 1, slot_no: 2 }, attributes: { unitsLeft: 9 } },
      'SELECT units_left FROM stock_item WHERE store_id = 1 AND slot_no = 2',
      [9],
    ),
    write(
      'update',
      { collectionName: 'stock_item', recordId: '1,2', attributes: { units_left: 9 } },
      'SELECT units_left FROM stock_item WHERE store_id = 1 AND slot_no = 2',
      [9],
    ),
    write(
      'update',
      { collectionName: 'stock_item', recordId: '1-2', attributes: { units_left: 9 } },
      'SELECT units_left FROM stock_item WHERE store_id = 1 AND slot_no = 2',
      [9],
    ),
    write('delete', { collectionName: 'InvoiceLine', ids: [1, 2] }, 'SELECT count(*) FROM InvoiceLine', [6]),
    write('delete', { collectionName: 'InvoiceLine', id: 8 }, 'SELECT count(*) FROM InvoiceLine', [7]),
    write('delete', { collectionName: 'InvoiceLine', recordIds: '7,8' }, 'SELECT count(*) FROM InvoiceLine', [6]),
    write(
      'associate',
      { collectionName: 'Playlist', relationName: 'tracks', recordId: 3, targetRecordId: 8 },
      'SELECT TrackId FROM PlaylistTrack WHERE PlaylistId = 3',
      [8],
    ),
    write(
      'dissociate',
      { collectionName: 'Playlist', relationName: 'Track', parentId: 2, ids: [5] },
      'SELECT TrackId FROM PlaylistTrack WHERE PlaylistId = 2',
      [3],
      [7],
    ),
  ],
};
