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
  // The system's resolver may ask other machines for its address.
  ['http://cache.localhost/', 'without encryption'],
  ['https://host/?key=1', 'a query or a fragment'],
  ['https://host/a/%2e%2e%2f%2e%2e/b', 'an encoded separator'],
])('%s is refused: %s', (text, what) => {
  expect(() => parseRemoteAddress(text)).toThrow(
    expect.objectContaining({ code: 'remote-address', message: expect.stringContaining(what) }),
  );
});

it.each([
  'https://me:secret@host/',
  'https://me:secret@host:99999/',
  'https://secret@host/',
  'ftp://me:secret@host/',
  'me:secret@host',
  'https://me:sec/secret@host:x/',
  'https://host/?token=secret',
  'https://host/#secret',
  'https://host:x/?token=secret',
])('the credential in %s is not in the message that refuses it', text => {
  expect(() => parseRemoteAddress(text)).toThrow(
    expect.objectContaining({ code: 'remote-address', message: expect.not.stringContaining('secret') }),
  );
});

it.each(['https://host/%', 'https://host/%ff'])('a path that cannot be decoded is refused: %s', text => {
  expect(() => parseRemoteAddress(text)).toThrow(expect.objectContaining({ code: 'remote-address' }));
});
