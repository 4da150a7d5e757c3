/** Addresses of remote caches: their parts, and what is refused. */
import { parseRemoteAddress } from '../../../src/remote/address/remote-address.js';

it.each([
  ['grpcs://cache.example.com/main', 'grpcs://cache.example.com:443', 'main'],
  ['grpcs://cache.example.com:9092/a/b/', 'grpcs://cache.example.com:9092', 'a/b'],
  ['https://Cache.Example.com', 'https://cache.example.com:443', ''],
  ['grpc://localhost:9092', 'grpc://localhost:9092', ''],
  ['http://127.0.0.1:8080/x', 'http://127.0.0.1:8080', 'x'],
  ['http://[::1]:8080/x', 'http://[::1]:8080', 'x'],
])('%s has the origin %s and the path "%s"', (text, origin, path) => {
  expect(parseRemoteAddress(text)).toMatchObject({ origin, path, url: path === '' ? origin : `${origin}/${path}` });
});

it.each([
  ['cache.example.com', 'expected grpcs'],
  ['ftp://cache.example.com', 'expected grpcs'],
  ['grpc://cache.example.com', 'without encryption to cache.example.com'],
  ['http://127.0.0.1.example.com/', 'without encryption'],
  ['http://0.0.0.0/', 'without encryption'],
  ['http://localhost.example.com/', 'without encryption'],
  ['https://host/?key=1', 'a query or a fragment'],
  ['https://host/a/%2e%2e%2f%2e%2e/b', 'an encoded separator'],
])('%s is refused: %s', (text, what) => {
  expect(() => parseRemoteAddress(text)).toThrow(
    expect.objectContaining({ code: 'remote-address', message: expect.stringContaining(what) }),
  );
});

it('the password of an address is not in the message that refuses it', () => {
  expect(() => parseRemoteAddress('https://me:secret@host/')).toThrow(
    expect.objectContaining({ code: 'remote-address', message: expect.not.stringContaining('secret') }),
  );
});
