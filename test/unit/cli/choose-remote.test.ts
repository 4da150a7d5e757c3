/** Which remote cache a command uses, and to whom a credential is sent. */
import { chooseRemote, type RemoteOptions } from '../../../src/cli/pipeline/remote/choose-remote.js';
import type { UserSettings } from '../../../src/cli/pipeline/remote/settings-file.js';

const NONE: RemoteOptions = { remote: true, remoteOnly: false, requireRemote: false };
const A = 'https://a.example.com';
const B = 'https://b.example.com';

function choose(settings: UserSettings, options: Partial<RemoteOptions> = {}, environment: NodeJS.ProcessEnv = {}, named?: string) {
  return chooseRemote({ ...NONE, ...options }, environment, { path: '/home/me/config.yaml', settings }, named);
}

it('nothing names a cache, and --no-remote overrides everything that does', () => {
  expect(choose({})).toEqual({ kind: 'none' });
  expect(choose({ remote: { cache: A } }, { remote: false }, { TANREN_REMOTE_CACHE: A }, A)).toEqual({ kind: 'none' });
});

it('the command line precedes the environment, the settings and the pipeline file', () => {
  const urlOf = (chosen: ReturnType<typeof choose>) => (chosen.kind === 'chosen' ? chosen.choice.address.origin : chosen.kind);
  const settings = { remote: { cache: 'https://settings.example.com' }, origins: { [A]: {} } };
  expect(urlOf(choose(settings, { remoteCache: 'https://option.example.com' }, { TANREN_REMOTE_CACHE: A }, A))).toBe(
    'https://option.example.com:443',
  );
  expect(urlOf(choose(settings, {}, { TANREN_REMOTE_CACHE: A }, B))).toBe(`${A}:443`);
  expect(urlOf(choose(settings, {}, {}, A))).toBe('https://settings.example.com:443');
  expect(urlOf(choose({ origins: { [A]: {} } }, {}, {}, `${A}/path`))).toBe(`${A}:443`);
});

it('a cache of the pipeline file is used only if its origin is trusted: same scheme, host and port', () => {
  expect(choose({}, {}, {}, A).kind).toBe('untrusted');
  expect(choose({ origins: { [A]: {} } }, {}, {}, 'https://a.example.com:8443').kind).toBe('untrusted');
  expect(choose({ origins: { 'grpcs://a.example.com': {} } }, {}, {}, A).kind).toBe('untrusted');
  expect(choose({}, {}, { TANREN_REMOTE_TRUST: `${B}, ${A}` }, `${A}/main`).kind).toBe('chosen');
  expect(() => choose({}, { requireRemote: true }, {}, A)).toThrow(expect.objectContaining({ code: 'remote-settings' }));
});

it('a token goes to its own origin alone', () => {
  const settings = { origins: { [A]: { token: 'TOKEN_A' } } };
  const environment = { TOKEN_A: 'secret-a', TANREN_REMOTE_TOKEN: 'secret-b', TANREN_REMOTE_CACHE: B };
  const headersFor = (remoteCache: string) => {
    const chosen = choose(settings, { remoteCache }, environment);
    return chosen.kind === 'chosen' ? chosen.choice.credential.headers : undefined;
  };
  expect(headersFor(`${A}/x`)).toEqual({ authorization: 'Bearer secret-a' });
  expect(headersFor(B)).toEqual({ authorization: 'Bearer secret-b' });
  expect(headersFor('https://c.example.com')).toEqual({});
  expect(headersFor('https://a.example.com:444')).toEqual({});
});

it.each([
  [{ token: 'T' }, { authorization: 'Bearer user:pass' }, ['user:pass']],
  [{ token: 'T', header: 'X-Api-Key' }, { 'x-api-key': 'user:pass' }, ['user:pass']],
  [{ token: 'T', scheme: 'Basic' }, { authorization: 'Basic dXNlcjpwYXNz' }, ['user:pass', 'dXNlcjpwYXNz', 'pass']],
])('the settings %j send %j, and mask every form of the secret', (own, headers, secrets) => {
  const chosen = choose({ remote: { cache: A }, origins: { [A]: own } }, {}, { T: 'user:pass' });
  expect(chosen).toMatchObject({ kind: 'chosen', choice: { credential: { headers } } });
  expect(chosen.kind === 'chosen' ? [...new Set(chosen.choice.credential.secrets)] : []).toEqual(secrets);
});

it.each(['two\nlines', 'tab\there', 'not ASCII: ü', 'nul\0'])('a token that no header can hold is refused without its value: %j', token => {
  const refused = expect.objectContaining({ code: 'remote-settings', message: expect.not.stringContaining(token) });
  expect(() => choose({ remote: { cache: A } }, {}, { TANREN_REMOTE_CACHE: A, TANREN_REMOTE_TOKEN: token })).toThrow(refused);
  expect(() => choose({ remote: { cache: A }, origins: { [A]: { token: 'T' } } }, {}, { T: token })).toThrow(refused);
});

it('the end of a line after a token is not part of it', () => {
  const chosen = choose({ remote: { cache: A } }, {}, { TANREN_REMOTE_CACHE: A, TANREN_REMOTE_TOKEN: 'token\n' });
  expect(chosen).toMatchObject({ choice: { credential: { headers: { authorization: 'Bearer token' }, secrets: ['token'] } } });
});

it('results go up only if that is asked for', () => {
  const writes = (...given: Parameters<typeof choose>) => {
    const chosen = choose(...given);
    return chosen.kind === 'chosen' && chosen.choice.write;
  };
  expect(writes({ remote: { cache: A } })).toBe(false);
  expect(writes({ remote: { cache: A, write: true } })).toBe(true);
  expect(writes({ remote: { cache: A, write: true } }, { remoteWrite: 'no' })).toBe(false);
  expect(writes({ remote: { cache: A } }, {}, { TANREN_REMOTE_WRITE: 'yes' })).toBe(true);
  expect(() => writes({ remote: { cache: A } }, {}, { TANREN_REMOTE_WRITE: 'perhaps' })).toThrow(
    expect.objectContaining({ code: 'remote-settings' }),
  );
});

it('a variable that is not set, and options that exclude each other, are errors', () => {
  expect(() => choose({ remote: { cache: A }, origins: { [A]: { token: 'UNSET' } } })).toThrow(
    expect.objectContaining({ code: 'remote-settings', message: expect.stringContaining('UNSET') }),
  );
  expect(() => choose({}, { requireRemote: true })).toThrow(expect.objectContaining({ code: 'remote-settings' }));
  expect(() => choose({ remote: { cache: A } }, { remote: false, remoteOnly: true })).toThrow(
    expect.objectContaining({ code: 'remote-settings' }),
  );
});
