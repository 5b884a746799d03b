// The reference of the query language for models: the resource portico://query, and the answer of describeCollection
// with detail "query". A test runs every JSON example. Those with `measures` or `operation` are arguments of aggregate.
// Filters are tested as `filters`, and all other examples are arguments of list.

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
- Two values of a record: {"field":"total","operator":"LessThan","other":"customer_id"}; {"expression":{"field":"placed_at","part":"Weekday"},"operator":"GreaterThan","value":5}, with Equal, NotEqual, LessThan, GreaterThan (...OrEqual), Before, After. An expression is a field, a number, a constant as value, a part of a date, or an operation: plus, minus, times, dividedBy, coalesce of two; abs, round of one; difference from a date to a date, unit minute, hour, day (fractions), month or year (whole). Null in, null out; division by zero is null.
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
    text: `## Records: sort, pages
- {"fields":["id","total","customer:name"],"sort":[{"field":"total","ascending":false},{"field":"customer:name"}],"pagination":{"size":15,"number":1},"enableCount":true}: to-one relations only; ascending by default; ties follow the key. enableCount gives totalCount.
- Different values in place of records: {"distinct":true,"fields":["customer:country","status"]}, with sort by these fields; nulls are equal.
- Computed columns, also for sort and filters: {"fields":["id",{"name":"net","expression":{"times":["total",0.8]}}],"sort":[{"field":"net"}]}. Of related records: {"name":"paid","count":"orders","where":{"field":"status","operator":"Equal","value":"paid"}}, {"name":"last","max":"orders:placed_at"} (min, sum, avg, countDistinct).
- hasMore true: repeat the call with cursor set to nextCursor, and without pagination.number.
- search finds text in the fields, with {"search":"late","shouldSearchInRelation":true} in those of to-one relations too. segment is a stored filter.
- A long text is cut: {"fields":["id","note"],"cells":{"note":{"from":2000}}} continues at character 2000.
- {"format":"records"} returns objects instead of columns and rows.`,
  },
  {
    tools: ['aggregate'],
    text: `## Totals: aggregate
- {"measures":{"orders":{"count":true},"paid":{"count":true,"where":{"field":"status","operator":"Equal","value":"paid"}},"rate":{"ratio":["paid","orders"]},"revenue":{"sum":"total"}},"groups":["customer:country",{"field":"placed_at","bucket":"Month"}],"having":{"measure":"orders","operator":"GreaterThan","value":0},"sort":[{"measure":"revenue","ascending":false},{"group":1}]}
- measures: count (true, or values that are not null), countDistinct, sum, avg, min, max, median of a field or expression; percentile of [it, 0.9]; ratio, minus, times, coalesce of measures; share (of the total) and running (total along the date, else sort) of a count or sum; movingAverage; both take last (groups); rank (1: largest); it and share take per, as top; metric, a name that describeCollection lists. filters select the records of all measures, where those of one.
- Measures of expressions: {"measures":{"net":{"sum":{"times":["total",0.8]}},"days":{"avg":{"difference":["placed_at",{"value":"2024-12-31"}],"unit":"day"}}}}.
- groups: bucket Year, Quarter, Month, Week, Day, Hour (shown by its start); part HourOfDay, Weekday (1 is Monday), MonthOfYear; ranges (start included): {"measures":{"n":{"count":true}},"groups":[{"field":"placed_at","part":"Weekday"},{"field":"total","ranges":[0,50,100]}],"includeEmpty":true}. includeEmpty adds groups without records. Through a to-many relation, a record counts once for each value of the group.
- sort takes measures and groups by index; default: the first measure, largest first. having takes measures. top, the first n, of each of some groups: {"measures":{"revenue":{"sum":"total"}},"groups":["customer:country","customer:name"],"sort":[{"measure":"revenue","ascending":false}],"top":{"n":1,"per":[0]}}
- compare adds the period before: {"measures":{"revenue":{"sum":"total"},"change":{"minus":["revenue","previous revenue"]},"mean":{"movingAverage":"revenue","last":3}},"groups":[{"field":"placed_at","bucket":"Month"}],"compare":{"previous":1}}
- Groups of groups name the columns of over: {"measures":{"average":{"avg":"orders"}},"over":{"groups":["customer_id"],"measures":{"orders":{"count":true}}}}
- One figure: {"operation":"sum","field":"total","groups":["customer:name"],"order":"groups"}.
- search, segment, timezone, format and cursor as for records. Measures go through to-one relations only: to total the orders of customers, aggregate orders by "customer:name".`,
  },
];

/** The reference without the sections of absent tools. */
export function queryLanguage(hiddenTools: ReadonlySet<string>): string {
  return sections
    .filter(({ tools }) => !tools || tools.some((tool) => !hiddenTools.has(tool)))
    .map(({ text }) => text)
    .join('\n');
}
