/** Follows builds by their journal: how often it looks. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { jest } from '@jest/globals';
import { type CacheFolder, cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { type BuildFollower, followBuilds } from '../../../src/web/project/follow-builds.js';
import type { RunningBuild } from '../../../src/web/project/running-build.js';

let folder: string;
let cache: CacheFolder;
let follower: BuildFollower;
const heard: RunningBuild[] = [];
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  folder = mkdtempSync(join(tmpdir(), 'tanren-follow-'));
  cache = cacheFolderAt(folder);
  mkdirSync(dirname(cache.journal('pipeline')), { recursive: true });
  heard.length = 0;
  follower = followBuilds(
    cache,
    'pipeline',
    build => void heard.push(build),
    error => {
      throw error;
    },
  );
});
afterEach(() => {
  follower.close();
  jest.useRealTimers();
  rmSync(folder, { recursive: true });
});

function write(...entries: readonly object[]): void {
  for (const entry of entries) appendFileSync(cache.journal('pipeline'), `${JSON.stringify({ atMs: 1, ...entry })}\n`);
}

/** Promises that are settled have called what waits for them. */
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

describe('a follower of builds', () => {
  it('has one timer after pages came and went in any order, and none without pages', async () => {
    write({ kind: 'build', command: 'tanren build', pid: 1, pending: [] }, { kind: 'running', stage: 'a' });
    for (let round = 0; round < 5; round++) {
      // Two pages within one turn, and a page that reloads: its new connection comes before the old one has ended.
      for (const how of ['often', 'often', 'never', 'often', 'often'] as const) follower.pace(how);
      await settle();
      // The journal is silent, so that a look waits for an answer about the lock, and pages come meanwhile.
      jest.advanceTimersByTime(2_500);
      for (const how of ['often', 'often'] as const) follower.pace(how);
      await settle();
    }
    await settle();
    expect(jest.getTimerCount()).toBe(1);
    follower.pace('never');
    await settle();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not call a build broken off whose conclusion comes while the lock is asked', async () => {
    write({ kind: 'build', command: 'tanren build', pid: 1, pending: [] });
    follower.pace('often');
    await settle();
    jest.advanceTimersByTime(2_500);
    // This look finds the journal silent and asks for the holder of the lock; the next one reads the conclusion before the answer.
    follower.pace('often');
    write({ kind: 'end', conclusion: 'built' });
    follower.pace('often');
    await settle();
    expect(heard.map(({ state }) => state)).toEqual(['running', 'ended']);
  });

  it('calls a build broken off that is silent and holds no lock', async () => {
    write({ kind: 'build', command: 'tanren build', pid: 1, pending: [] });
    follower.pace('often');
    await settle();
    jest.advanceTimersByTime(2_500);
    follower.pace('often');
    await settle();
    expect(heard.map(({ state }) => state)).toEqual(['running', 'broken-off']);
  });

  it('hears of a build by the event of its journal, long before its timer', async () => {
    follower.pace('often');
    await settle();
    jest.useRealTimers();
    write({ kind: 'build', command: 'tanren build', pid: 1, pending: [] });
    const until = Date.now() + 2_500;
    while (heard.length === 0 && Date.now() < until) await new Promise(resolve => setTimeout(resolve, 5));
    expect(heard.map(({ state }) => state)).toEqual(['running']);
  });

  it('tells each change once', async () => {
    follower.pace('often');
    await settle();
    write({ kind: 'build', command: 'tanren build', pid: 1, pending: [] });
    jest.advanceTimersByTime(4_000);
    await settle();
    write({ kind: 'running', stage: 'a', reasons: [], attempt: 1 });
    jest.advanceTimersByTime(4_000);
    await settle();
    expect(heard.map(({ stages }) => Object.keys(stages))).toEqual([[], ['a']]);
  });

  it('tells the end of a stage at once, and progress after a moment', async () => {
    write({ kind: 'build', command: 'tanren build', pid: 1, pending: [] }, { kind: 'running', stage: 'a', reasons: [], attempt: 1 });
    const look = async (): Promise<void> => {
      follower.pace('often');
      await settle();
    };
    await look();
    write({ kind: 'progress', stage: 'a', done: 1, total: 2, what: 'images' });
    await look();
    expect(heard).toHaveLength(1);
    write({ kind: 'ended', stage: 'a', outcome: 'executed' }, { kind: 'running', stage: 'b', reasons: [], attempt: 1 });
    await look();
    expect(heard.map(({ stages }) => stages.a?.state)).toEqual(['running', 'executed']);
    write({ kind: 'progress', stage: 'b', done: 1, total: 2, what: 'images' });
    await look();
    expect(heard).toHaveLength(2);
    jest.advanceTimersByTime(60);
    await settle();
    expect(heard.at(-1)?.stages.b?.progress).toEqual({ done: 1, total: 2, what: 'images' });
  });
});
