/** Which requests are answered: hosts, origins and tokens, tried with generated names too. */
import fc from 'fast-check';
import { findRefusal, isLoopback } from '../../../src/web/access/check-request.js';
import { portsOf } from '../../../src/web/access/stable-port.js';

const token = { current: () => 'good', admits: (given: string | undefined) => given === 'good' };
const headers = { host: '127.0.0.1:4000', authorization: 'Bearer good' };
const ask = (change: Readonly<Record<string, string | undefined>>, method = 'GET', path = '/api/pipeline') =>
  findRefusal({ method, path, headers: { ...headers, ...change } }, token)?.code;

describe('a request', () => {
  it('of the page itself is answered', () => {
    expect(ask({})).toBeUndefined();
    expect(ask({ 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:4000' })).toBeUndefined();
    expect(ask({ 'content-type': 'application/json; charset=utf-8' }, 'POST')).toBeUndefined();
  });

  it('for the page needs no token, since the page holds nothing of the project', () => {
    expect(ask({ authorization: undefined }, 'GET', '/runs')).toBeUndefined();
    expect(ask({ authorization: undefined })).toBe('ui-token');
  });

  it.each([
    [{ host: undefined }, 'ui-host'],
    [{ host: 'evil.example' }, 'ui-host'],
    [{ origin: 'http://127.0.0.1:4001' }, 'ui-origin'],
    [{ origin: 'http://localhost:4000' }, 'ui-origin'],
    [{ 'sec-fetch-site': 'cross-site' }, 'ui-origin'],
    [{ authorization: 'bearer good' }, 'ui-token'],
    [{ authorization: 'Bearer good x' }, 'ui-token'],
  ])('with %j is refused as %s', (change, code) => {
    expect(ask(change)).toBe(code);
  });

  it('that changes something is of a type that no form can send', () => {
    for (const type of [undefined, '', 'text/plain', 'text/plain; application/json'])
      expect(ask({ 'content-type': type }, 'POST')).toBe('ui-origin');
  });

  it('by another method is refused', () => {
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PATCH', '']) expect(ask({}, method)).toBe('ui-method');
  });
});

describe('a loopback name', () => {
  it('is none that a name server can bind', () => {
    fc.assert(
      fc.property(fc.domain(), name => {
        expect(isLoopback(name)).toBe(name.endsWith('.localhost'));
      }),
    );
  });

  it('is an address of 127.0.0.0/8 and no other', () => {
    fc.assert(fc.property(fc.ipV4(), address => expect(isLoopback(`${address}:80`)).toBe(address.startsWith('127.'))));
  });

  it.each([
    '127.0.0.1.',
    '127.1',
    '0x7f.0.0.1',
    '127.0.0.256',
    '127.0.0.1@evil.example',
    'localhost.',
    'localhost:',
    '[::1',
    '::1',
    'localhost:123456',
    ' localhost',
  ])('is not %j', name => expect(isLoopback(name)).toBe(false));
});

describe('the ports of a project', () => {
  it('are the same in every start, differ between pipelines, and are below those that systems give out', () => {
    expect(portsOf('/projects/a', 'pipeline')).toEqual(portsOf('/projects/a', 'pipeline'));
    expect(portsOf('/projects/a', 'yolact')[0]).not.toBe(portsOf('/projects/a', 'pipeline')[0]);
    fc.assert(
      fc.property(fc.string(), fc.string(), (folder, pipeline) => {
        const ports = portsOf(folder, pipeline);
        expect(new Set(ports).size).toBe(ports.length);
        for (const port of ports) expect(port >= 20_000 && port < 32_000).toBe(true);
      }),
    );
  });
});
