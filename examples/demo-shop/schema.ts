// The tables of the demo shop. They have features of a real shop: a tree, a composite key, optional values, checks and
// a view.

export const demoSchema = `
CREATE TABLE suppliers (
  id INTEGER PRIMARY KEY,
  name VARCHAR(80) NOT NULL UNIQUE,
  contact_email VARCHAR(120) NOT NULL,
  phone VARCHAR(30),
  city VARCHAR(60) NOT NULL,
  country CHAR(2) NOT NULL,
  lead_time_days INTEGER NOT NULL CHECK (lead_time_days > 0),
  under_contract BOOLEAN NOT NULL DEFAULT 1,
  contracted_on DATE NOT NULL
);

CREATE TABLE categories (
  id INTEGER PRIMARY KEY,
  parent_id INTEGER REFERENCES categories (id),
  name VARCHAR(60) NOT NULL,
  slug VARCHAR(80) NOT NULL UNIQUE,
  position INTEGER NOT NULL
);

CREATE TABLE products (
  id INTEGER PRIMARY KEY,
  sku CHAR(9) NOT NULL UNIQUE,
  name VARCHAR(120) NOT NULL,
  description TEXT,
  category_id INTEGER NOT NULL REFERENCES categories (id),
  supplier_id INTEGER REFERENCES suppliers (id),
  price DECIMAL(10,2) NOT NULL CHECK (price > 0),
  cost DECIMAL(10,2) NOT NULL CHECK (cost > 0),
  stock INTEGER NOT NULL DEFAULT 0 CHECK (stock >= 0),
  weight_grams INTEGER,
  created_at DATETIME NOT NULL,
  discontinued_at DATETIME
);

CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  first_name VARCHAR(60) NOT NULL,
  last_name VARCHAR(60) NOT NULL,
  email VARCHAR(120) NOT NULL COLLATE NOCASE UNIQUE,
  phone VARCHAR(30),
  company VARCHAR(80),
  city VARCHAR(60) NOT NULL,
  country CHAR(2) NOT NULL,
  birth_date DATE,
  newsletter BOOLEAN NOT NULL DEFAULT 0,
  loyalty_points INTEGER NOT NULL DEFAULT 0,
  referred_by_id INTEGER REFERENCES customers (id),
  created_at DATETIME NOT NULL
);

CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  number CHAR(9) NOT NULL UNIQUE,
  customer_id INTEGER NOT NULL REFERENCES customers (id),
  status VARCHAR(10) NOT NULL CHECK (status IN ('pending', 'paid', 'shipped', 'delivered', 'returned', 'cancelled')),
  placed_at DATETIME NOT NULL,
  shipped_at DATETIME,
  delivered_at DATETIME,
  shipping_fee DECIMAL(10,2) NOT NULL,
  total DECIMAL(10,2) NOT NULL,
  coupon VARCHAR(20),
  note TEXT
);

CREATE TABLE order_items (
  order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
  product_id INTEGER NOT NULL REFERENCES products (id),
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  unit_price DECIMAL(10,2) NOT NULL,
  PRIMARY KEY (order_id, product_id)
);

CREATE TABLE reviews (
  id INTEGER PRIMARY KEY,
  product_id INTEGER NOT NULL REFERENCES products (id),
  customer_id INTEGER NOT NULL REFERENCES customers (id),
  rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
  title VARCHAR(120),
  body TEXT,
  created_at DATETIME NOT NULL,
  answered_at DATETIME,
  UNIQUE (product_id, customer_id)
);

CREATE VIEW customer_totals AS
SELECT c.id AS customer_id,
       c.first_name || ' ' || c.last_name AS name,
       COUNT(o.id) AS orders,
       ROUND(COALESCE(SUM(o.total), 0), 2) AS spent,
       MAX(o.placed_at) AS last_order_at
FROM customers c
LEFT JOIN orders o ON o.customer_id = c.id AND o.status NOT IN ('cancelled', 'returned')
GROUP BY c.id;
`;

/** Created after the inserts, which is faster. */
export const demoIndexes = `
CREATE INDEX categories_parent ON categories (parent_id);
CREATE INDEX products_category ON products (category_id);
CREATE INDEX products_supplier ON products (supplier_id);
CREATE INDEX customers_name ON customers (last_name, first_name);
CREATE INDEX customers_referrer ON customers (referred_by_id);
CREATE INDEX customers_created ON customers (created_at);
CREATE INDEX orders_customer ON orders (customer_id);
CREATE INDEX orders_placed ON orders (placed_at);
CREATE INDEX orders_status ON orders (status, placed_at);
CREATE INDEX order_items_product ON order_items (product_id);
CREATE INDEX reviews_customer ON reviews (customer_id);
CREATE INDEX reviews_created ON reviews (created_at);
ANALYZE;
`;
