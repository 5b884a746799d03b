// The types of form fields.

export const fieldTypes = [
  'String',
  'Number',
  'Boolean',
  'Date',
  'Dateonly',
  'Time',
  'Enum',
  'EnumList',
  'File',
  'FileList',
  'Json',
  'Collection',
  'NumberList',
  'StringList',
] as const;

export type FieldType = (typeof fieldTypes)[number];
