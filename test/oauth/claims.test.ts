// Claim mapping of an OpenID provider: the setting as an operator writes it, and its result for ID tokens.
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { applyMapping, parseMapping } from '../../src/oauth/sso/claims.ts';

const apply = (mapping: unknown, claims: Record<string, unknown>) =>
  applyMapping(parseMapping(JSON.stringify(mapping)), claims);

describe('claims', () => {
  test('an empty mapping returns only empty tags', () => {
    expect(applyMapping(parseMapping(null), { groups: ['admins'] })).toEqual({ tags: {} });
  });

  test.each<[string, unknown, readonly string[]]>([
    ['a string', 'clerks', ['Clerk', 'Member']],
    ['a list, in the order of the mapping', ['clerks', 'x', 'chiefs'], ['Chief', 'Clerk', 'Member']],
    ['none', undefined, ['Member']],
    ['null', null, ['Member']],
    ['an object', { clerks: true }, ['Member']],
    ['a list of lists', [['clerks']], ['Member']],
    ['another case', 'Clerks', ['Member']],
    ['a name of every object', 'constructor', ['Member']],
  ])('values of %s', (_what, groups, roles) => {
    const role = { claim: 'groups', values: { chiefs: 'Chief', clerks: 'Clerk' } };
    expect(apply({ role }, { groups }).role).toEqual(roles);
  });

  test('nested claims, plain names, defaults, and null', () => {
    const mapping = {
      team: { claim: ['organization', 'unit'], default: null },
      role: 'job',
      level: { claim: 'groups', values: { admins: 'admin' }, default: null },
      tags: { region: 'office', site: { claim: 'site', default: 'Oslo' } },
    };
    expect(apply(mapping, { organization: { unit: 'Sales' }, job: 'Clerk', groups: ['admins'], office: 7 })).toEqual({
      team: ['Sales'],
      role: ['Clerk', 'Member'],
      level: 'admin',
      tags: { region: '7', site: 'Oslo' },
    });
    expect(apply(mapping, { organization: 'Sales' })).toEqual({
      team: [],
      role: ['Member'],
      level: null,
      tags: { region: null, site: 'Oslo' },
    });
    expect(apply({ team: { claim: ['constructor', 'name'], default: null } }, {}).team).toEqual([]);
  });

  test.each([
    ['{', 'expected JSON'],
    ['[]', 'it: expected an object'],
    ['{"group":"x"}', "unknown member 'group'; expected team, role, level, tags"],
    ['{"role":{"claims":"x"}}', "unknown member 'claims'"],
    ['{"role":{"claim":""}}', 'role.claim'],
    ['{"role":{"claim":[]}}', 'role.claim'],
    ['{"role":{"claim":"x","values":{"a":1}}}', 'role.values'],
    ['{"role":{"claim":"x","default":3}}', 'role.default'],
    ['{"level":"x"}', "level: 'values' must map"],
    [
      '{"level":{"claim":"x","values":{"a":"king"}}}',
      "level: expected one of admin, developer, editor, user, got 'king'",
    ],
    ['{"tags":{"region":{}}}', 'tags.region.claim'],
  ])('an invalid mapping is an error that names the problem: %s', (text, said) => {
    expect(() => parseMapping(text)).toThrow(said);
  });
});

describe('settings', () => {
  test.each<[Record<string, string>, string]>([
    [{ SERVICE_SSO_ISSUER: 'https://login.example.com' }, 'SERVICE_SSO_CLIENT_ID is missing'],
    [{ SERVICE_SSO_CLIENT_ID: 'portico' }, 'SERVICE_SSO_ISSUER is missing'],
    [{ SERVICE_SSO_ISSUER: 'http://login.example.com', SERVICE_SSO_CLIENT_ID: 'x' }, 'expected an https address'],
    [{ SERVICE_SSO_ISSUER: 'http://127.0.0.1.evil.example', SERVICE_SSO_CLIENT_ID: 'x' }, 'expected an https address'],
    [{ SERVICE_SSO_ISSUER: 'https://a:b@login.example.com', SERVICE_SSO_CLIENT_ID: 'x' }, 'expected an https address'],
    [{ SERVICE_SSO_ISSUER: 'https://login.example.com?x', SERVICE_SSO_CLIENT_ID: 'x' }, 'expected an https address'],
    [
      {
        SERVICE_SSO_ISSUER: 'https://login.example.com',
        SERVICE_SSO_CLIENT_ID: 'x',
        SERVICE_SSO_VERIFIED_EMAIL: 'false',
        SERVICE_LINK_USERS: 'true',
      },
      'users are linked only by verified addresses',
    ],
  ])('%j', (env, said) => {
    expect(() => loadConfig({ env })).toThrow(said);
  });

  test('a provider on this machine may use http, and the scope openid is always requested', () => {
    const env = {
      SERVICE_SSO_ISSUER: 'http://localhost:9/x',
      SERVICE_SSO_CLIENT_ID: 'x',
      SERVICE_SSO_SCOPES: 'email, groups',
    };
    expect(loadConfig({ env }).ssoScopes).toEqual(['openid', 'email', 'groups']);
  });
});
