#!/bin/bash
# Two databases, and for each a user who can reach no other.
set -euo pipefail
for name in shop portico; do
  password=$(cat "/run/secrets/$name-password")
  mariadb -uroot -p"$(cat /run/secrets/root-password)" <<SQL
    CREATE DATABASE $name CHARACTER SET utf8mb4;
    CREATE USER '$name'@'%' IDENTIFIED BY '$password';
    GRANT ALL ON $name.* TO '$name'@'%';
SQL
done
