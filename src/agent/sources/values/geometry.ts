/** Whether a MySQL or MariaDB type is read and written as well-known text. */
export const isGeometry = (nativeType: string): boolean =>
  /^(?:geometry|geomcollection|geometrycollection|multi(?:point|linestring|polygon)|linestring|polygon)\b/i.test(
    nativeType,
  );
