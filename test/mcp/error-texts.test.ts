// An error that exceeds its budget loses the least useful part, never the name of a field to send.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { operators } from '../../src/core/filter.ts';
import { errorText, MAX_ERROR_TOKENS } from '../../src/mcp/results/result.ts';

test('an error names every field of a refused record, and the first problems in full', () => {
  const names = ['address', 'district', 'city_id', 'phone', 'MediaTypeId', 'Milliseconds', 'UnitPrice', 'language_id'];
  const problems = names.map((field) => ({ field, problem: 'is required: send a Number.' }));
  const text = errorText(new AppError('INVALID_RECORD', { collection: 'Track', problems }));
  expect(names.filter((name) => !text.includes(name))).toEqual([]);
  expect(text).toContain('address: is required: send a Number.');
  expect(text).not.toContain(' ... ');
  expect(countTokens(text)).toBeLessThanOrEqual(MAX_ERROR_TOKENS);
});

test('an error lists the most used operators first', () => {
  const details = { collection: 'Invoice', field: 'Total', operator: 'Like', allowed: [...operators].reverse() };
  const text = errorText(new AppError('OPERATOR_NOT_ALLOWED', details as never));
  for (const name of ['Equal', 'NotEqual', 'In', 'GreaterThan']) expect(text).toMatch(new RegExp(`\\b${name}\\b`));
});
