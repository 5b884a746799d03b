-- A bicycle workshop, to have something to look at. Yours goes here, or nothing where there is a database already.
USE shop;

CREATE TABLE owners (
  id INT PRIMARY KEY AUTO_INCREMENT,
  name VARCHAR(80) NOT NULL,
  phone VARCHAR(30)
);

CREATE TABLE bicycles (
  id INT PRIMARY KEY AUTO_INCREMENT,
  owner_id INT NOT NULL REFERENCES owners (id),
  frame_number VARCHAR(20) NOT NULL UNIQUE,
  colour VARCHAR(20) NOT NULL
);

CREATE TABLE repairs (
  id INT PRIMARY KEY AUTO_INCREMENT,
  bicycle_id INT NOT NULL REFERENCES bicycles (id),
  what VARCHAR(120) NOT NULL,
  price DECIMAL(8, 2),
  brought_on DATE NOT NULL,
  collected_on DATE
);

INSERT INTO owners (name, phone) VALUES ('Signe Dahl', '555-0101'), ('Ravi Menon', NULL), ('Chloe Marsh', '555-0199');
INSERT INTO bicycles (owner_id, frame_number, colour) VALUES (1, 'FX-20418', 'green'), (2, 'TR-77013', 'black'), (2, 'TR-77020', 'red');
INSERT INTO repairs (bicycle_id, what, price, brought_on, collected_on) VALUES
  (1, 'new brake cables', 38.00, '2026-03-02', '2026-03-04'),
  (2, 'true the back wheel', 25.50, '2026-03-03', NULL),
  (3, 'look why it clicks', NULL, '2026-03-05', NULL);
