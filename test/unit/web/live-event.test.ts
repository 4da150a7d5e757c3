/** Events of the server as a page reads them. */

import { parseLiveEvent } from '../../../src/web/project/live-event.js';
import { advanceBuild } from '../../../src/web/project/running-build.js';

const BUILD = { kind: 'build', atMs: 5, command: 'tanren build', pid: 42, pending: [{ stage: 'a', expectedMs: 10 }] } as const;

describe('an event of the server', () => {
  it.each([
    ['starts', []],
    ['runs a stage', [{ kind: 'running', stage: 'a', atMs: 6, reasons: ['never built'], attempt: 1 }]],
    ['makes progress', [{ kind: 'progress', stage: 'a', atMs: 7, done: 1, total: 2, what: 'images' }]],
    ['tries again', [{ kind: 'retrying', stage: 'a', atMs: 7, message: 'timed out' }]],
    ['misses a gate', [{ kind: 'gate', stage: 'a', atMs: 8, metric: 'AP', verdict: 'missed' }]],
    [
      'ends',
      [
        { kind: 'ended', stage: 'a', atMs: 9, outcome: 'failed', durationMs: 3, message: 'm' },
        { kind: 'end', atMs: 9, conclusion: 'failed' },
      ],
    ],
  ] as const)('of a build that %s is read as it was sent', (_what, entries) => {
    const data = advanceBuild(undefined, [BUILD, ...entries]);
    expect(parseLiveEvent('build', JSON.stringify(data))).toEqual({ event: 'build', data });
  });

  it.each([
    ['build', null],
    ['changed', {}],
    ['hello', { access: 'read-only' }],
    ['hello', { access: 'saved' }],
    ['started', [7, 8]],
    ['ended', { pid: 7, said: 'error', exitCode: 2 }],
    ['ended', { pid: 7, said: '' }],
  ])('%s with %j is read', (event, data) => {
    expect(parseLiveEvent(event, JSON.stringify(data))).toEqual({ event, data });
  });

  it.each([
    ['build', '{"state": "running"}'],
    ['started', '["7"]'],
    ['hello', '{"access": "all"}'],
    ['ended', 'null'],
    ['news', '{}'],
    ['started', '[7'],
  ])('%s with %s, as of another version, is ignored', (event, text) => {
    expect(parseLiveEvent(event, text)).toBeUndefined();
  });
});
