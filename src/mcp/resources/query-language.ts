// The reference of the query language for models: the resource portico://query, and the answer of describeCollection
// with detail "query". A test runs every JSON example. Examples in the section about totals are arguments of
// aggregate. Filters are tested as `filters`, and all other examples are arguments of list.

interface Section {
  /** The section is included if the caller is shown any of these tools. Absent: always. */
  readonly tools?: readonly string[];
  readonly text: string;
}

const sections: readonly Section[] = [
  {
    text: `# Query language
Examples: customers have many orders; an order has one customer, status, total, note, tags and placed_at.
## filters
- One field: {"field":"total","operator":"GreaterThan","value":100}. Through a to-one relation: {"field":"customer:country","operator":"In","value":["FR","DE"]}
- Combined: {"aggregator":"Or","conditions":[{"field":"status","operator":"Equal","value":"paid"},{"field":"total","operator":"LessThan","value":50}]}. Also "And", and "Not", which negates the And of its conditions.
- Related records, to-many or to-one. Without any: {"none":"orders"}. At least one that satisfies all of where: {"some":"orders","where":{"aggregator":"Not","conditions":[{"field":"status","operator":"Equal","value":"paid"}]}}. No record that fails it (true for no records): {"every":"orders","where":{"field":"total","operator":"GreaterThan","value":9}}
where starts at the related record and may nest; only every needs it. "a:b" goes through two relations.
- A field path through a to-many relation means some. Negations there, and two such conditions under one And, are refused.
- null satisfies only Missing, Blank, NotEqual, NotIn, NotContains, NotIContains, IncludesNone, Equal null and In with null.
## Operators
- All types: Present, Blank (null or ""), Missing (null). All but JSON: Equal, NotEqual, In, NotIn (value is a list).
- Number, String, Date, Dateonly, Time: LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual.
- String: Contains, NotContains, StartsWith, EndsWith; IContains, NotIContains, IStartsWith, IEndsWith ignore case; Like, ILike (% any text, _ one character); Match (regular expression); LongerThan, ShorterThan (characters).
- Lists: IncludesAll, IncludesNone (value is a list).
- Dates: Before, After. Relative ones need no value: Today, Yesterday, Past, Future; PreviousWeek, PreviousMonth, PreviousQuarter, PreviousYear (the last whole one; weeks begin on Monday); the same four with ToDate, as PreviousMonthToDate (the current one until now). With a number: PreviousXDays (without today), PreviousXDaysToDate (with today until now), BeforeXHoursAgo, AfterXHoursAgo: {"field":"placed_at","operator":"PreviousXDays","value":30}
A day given for a timestamp is its first moment: for a whole day, GreaterThanOrEqual it and LessThan the next. Days are those of {"timezone":"Europe/Paris"}.`,
  },
  {
    tools: ['list', 'listRelated'],
    text: `## Records: sort, pages, cells
- {"fields":["id","total","customer:name"],"sort":[{"field":"total","ascending":false},{"field":"customer:name"}],"pagination":{"size":15,"number":1},"enableCount":true}: to-one relations only; ascending by default; ties follow the key. enableCount gives totalCount of all pages.
- hasMore true: repeat the call with cursor set to nextCursor, and without pagination.number.
- search finds text in the fields, with {"search":"late","shouldSearchInRelation":true} in those of to-one relations too. segment is a stored filter.
- A long text is cut: {"fields":["id","note"],"cells":{"note":{"from":2000}}} continues at character 2000.
- {"format":"records"} returns objects instead of columns and rows.`,
  },
  {
    tools: ['aggregate'],
    text: `## Totals: aggregate
- operation: count, or sum, avg, min, max with a field.
- {"operation":"sum","field":"total","groups":["customer:country",{"field":"placed_at","bucket":"Month"}],"order":"groups","limit":50}. bucket: Year, Quarter, Month, Week, Day; a group shows its first day. order: "value" (largest first, the default) or "groups". Groups without records are not listed.
- filters, search, segment, timezone, format and cursor as for records. Groups and field go through to-one relations only: to total the orders of customers, aggregate orders by {"operation":"sum","field":"total","groups":["customer:name"]}`,
  },
];

/** The reference without the sections of absent tools. */
export function queryLanguage(hiddenTools: ReadonlySet<string>): string {
  return sections
    .filter(({ tools }) => !tools || tools.some((tool) => !hiddenTools.has(tool)))
    .map(({ text }) => text)
    .join('\n');
}
