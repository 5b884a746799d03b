// Made by Portico of the data sources and the customizations: written anew by every start, not to be edited.

export interface Schema {
  customers: {
    depth: 2;
    columns: {
      id: "Number";
      name: "String";
      city: "String" | null;
      level: { Enum: "gold" | "it's" } | null;
      born: "Dateonly";
      tags: ["String"];
      photo: "Binary" | null;
      "extra data": "Json";
    };
    readOnly: never;
    one: Record<never, never>;
    many: { orders: "orders" };
  };
  "order-lines": {
    depth: 2;
    columns: {
      order_id: "Number";
      line: "Number";
    };
    readOnly: never;
    one: { order: "orders" };
    many: Record<never, never>;
  };
  orders: {
    depth: 2;
    columns: {
      id: "Number";
      customer_id: "Number" | null;
      total: "Number";
      placed_at: "Date";
      isPaid: "Boolean";
      summary: "String" | null;
      city: "String" | null;
      parcel: { Json: { readonly size: readonly (number | null)[] | null; readonly to: { readonly street: string | null; readonly "post code": string | null } | null; readonly isSent: boolean | null } } | null;
    };
    readOnly: "summary" | "parcel";
    one: { customer: "customers" };
    many: { "order-lines": "order-lines" };
  };
}
